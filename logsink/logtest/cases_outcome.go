package logtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A caller whose time is over does not know what became of its record. It
// offers it again, and it is there once.
func unknownOutcome(t testing.TB, b Backend) {
	l := b.Open(t)
	var want []string
	for i := range 60 {
		id := fmt.Sprintf("r%d", i)
		recs := []logsink.Record{Request(alice, "main", id, "", i), Response(alice, "main", id)}
		want = append(want, "request "+id, "response "+id)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Append(ctx, recs, nil) }()
		for range i % 20 { // cancel at many points of its way
			Yield()
		}
		cancel()
		if err := <-done; err != nil && !errors.Is(err, logsink.ErrUnavailable) {
			t.Fatalf("Append with its time over: %v, want ErrUnavailable", err)
		}
		appendAll(t, l, recs...)
	}
	if got := recordIDs(t, b.Reader(t), alice); !cmp.Equal(got, want) {
		t.Errorf("Records differ (-want +got):\n%s", cmp.Diff(want, got))
	}
	for i := range 30 {
		k := logsink.Key{Tenant: "t", Session: fmt.Sprint(i)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan *logsink.Anchor, 1)
		go func() {
			a, _ := l.Freeze(ctx, Anchor(k, 1, "first"))
			done <- a
		}()
		for range i % 10 {
			Yield()
		}
		cancel()
		first := <-done
		second := freeze(t, l, Anchor(k, 1, "second"))
		if first != nil {
			sameAnchor(t, second, first)
		}
		sameAnchor(t, current(t, l, k), second)
	}
}

func cancelReturns(t testing.TB, b Backend) {
	l := b.Open(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	f := func(op string, err error) {
		t.Helper()
		if !errors.Is(err, logsink.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v, want ErrUnavailable and context.Canceled", op, err)
		}
	}
	_, err := l.Freeze(gone, Anchor(alice, 1, "text"))
	f("Freeze", err)
	f("Append", l.Append(gone, []logsink.Record{Request(alice, "main", "r1", "", 1)}, nil))
	f("EndEpoch", l.EndEpoch(gone, alice, 1))
	_, err = l.Current(gone, alice)
	f("Current", err)
	_, _, err = l.Last(gone, alice, "main")
	f("Last", err)
	_, _, err = l.Find(gone, alice.Tenant, []string{"00"})
	f("Find", err)
	_, _, err = l.Ended(gone, 0)
	f("Ended", err)
	_, err = l.Secret(gone, "name")
	f("Secret", err)
	freeze(t, l, Anchor(alice, 1, "text")) // and all is well after
}

// What a call is at when its time is over goes on without its caller: they must
// share nothing, which the race detector sees.
func cancelledCalls(t testing.TB, b Backend) {
	l := b.Open(t)
	for i := range 40 {
		k := logsink.Key{Tenant: "t", Session: fmt.Sprint(i)}
		aged(t, l, k, 40*day, fmt.Sprintf("system %d", i%3))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := l.Retain(ctx, logsink.Retention{MaxAge: 30 * day, MaxBytes: 1})
			_, again := l.Secret(ctx, fmt.Sprintf("secret %d", i))
			done <- errors.Join(err, again, l.EndEpoch(ctx, k, i))
		}()
		for range i % 12 {
			Yield()
		}
		cancel()
		if err := <-done; err != nil && !errors.Is(err, logsink.ErrUnavailable) {
			t.Fatalf("calls with their time over: %v, want ErrUnavailable", err)
		}
	}
	if d := retain(t, l, logsink.Retention{MaxAge: 30 * day}); d.Sessions > 40 {
		t.Errorf("Retain in the end dropped %+v, want 40 sessions at most", d)
	}
	if err := b.Reader(t).Sessions(t.Context(), "", "", func(s logsink.SessionInfo) bool {
		t.Errorf("session %q is left", s.Session)
		return true
	}); err != nil {
		t.Error(err)
	}
}
