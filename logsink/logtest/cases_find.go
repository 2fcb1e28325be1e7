package logtest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
)

// Yield lets other goroutines go on for a moment.
func Yield() {
	for range 50 {
		runtime.Gosched()
	}
}

func isErr(err, target error) bool { return errors.Is(err, target) }

func last(t testing.TB, b Backend) {
	l := b.Open(t)
	f := func(k logsink.Key, thread, wantRequest, wantHeader string) {
		t.Helper()
		q, h, err := l.Last(t.Context(), k, thread)
		if wantRequest == "" {
			if !isErr(err, logsink.ErrNoThread) {
				t.Errorf("Last(%s, %s) = %v, %v; want ErrNoThread", k.Session, thread, q, err)
			}
			return
		}
		if err != nil || q.ID != wantRequest || q.Thread != thread || q.Key != k {
			t.Errorf("Last(%s, %s) = %v, %v; want %s", k.Session, thread, q, err, wantRequest)
			return
		}
		got := ""
		if h != nil {
			got = h.ID
		}
		if got != wantHeader {
			t.Errorf("Last(%s, %s) has header %q, want %q", k.Session, thread, got, wantHeader)
		}
	}
	f(alice, "main", "", "")
	freeze(t, l, Anchor(alice, 1, "text"))
	f(alice, "main", "", "")
	h1, blob := Header(alice, "main", "h1", "system")
	appendBlobs(t, l, []logsink.Record{h1}, []logsink.Blob{blob})
	f(alice, "main", "", "")
	appendAll(t, l, Request(alice, "main", "r1", "h1", 1), Response(alice, "main", "r1"))
	f(alice, "main", "r1", "h1")
	f(alice, "other", "", "")
	f(bob, "main", "", "")
	appendAll(t, l, Request(alice, "other", "o1", "gone", 1), Request(alice, "main", "r2", "h1", 2), Request(alice, "main", "r3", "h1", 3))
	f(alice, "main", "r3", "h1")
	f(alice, "other", "o1", "")
	// A newer header that no request names yet does not hide the one in force.
	h2, _ := Header(alice, "main", "h2", "system")
	appendAll(t, l, h2)
	f(alice, "main", "r3", "h1")
	appendAll(t, l, Request(alice, "main", "r4", "h2", 4), Response(alice, "other", "o1"))
	f(alice, "main", "r4", "h2")
	closeLog(t, l)
	l = b.Open(t)
	f(alice, "main", "r4", "h2")
	f(alice, "other", "o1", "")
	f(alice, "none", "", "")
}

func lastOfManyThreads(t testing.TB, b Backend) {
	l := b.Open(t)
	const threads = 200
	for i := range threads {
		thread := fmt.Sprintf("agent-%d", i)
		h, blob := Header(alice, thread, "h-"+thread, "system "+thread)
		appendBlobs(t, l, []logsink.Record{h, Request(alice, thread, "r-"+thread, "h-"+thread, 1)}, []logsink.Blob{blob})
	}
	l = b.Open(t)
	for _, i := range []int{0, 1, 99, 150, threads - 1} {
		thread := fmt.Sprintf("agent-%d", i)
		q, h, err := l.Last(t.Context(), alice, thread)
		if err != nil || q.ID != "r-"+thread || h == nil || h.ID != "h-"+thread {
			t.Errorf("Last(%s) = %v, %v, %v; want its request and header", thread, q, h, err)
		}
	}
	if q, _, err := l.Last(t.Context(), alice, "agent-x"); !isErr(err, logsink.ErrNoThread) {
		t.Errorf("Last(agent-x) = %v, %v; want ErrNoThread", q, err)
	}
}

func find(t testing.TB, b Backend) {
	l := b.Open(t)
	derived := func(session, thread, id, lineage string) logsink.Record {
		q := Request(logsink.Key{Tenant: "t", Session: session}, thread, id, "", 1)
		q.Request.Derived, q.Request.Lineage = true, lineage
		return q
	}
	f := func(wantSession, wantThread string, lineages ...string) {
		t.Helper()
		k, thread, err := l.Find(t.Context(), "t", lineages)
		if wantSession == "" {
			if !isErr(err, logsink.ErrNoSession) {
				t.Errorf("Find(%d lineages) = %v, %v; want ErrNoSession", len(lineages), k, err)
			}
			return
		}
		if err != nil || k != (logsink.Key{Tenant: "t", Session: wantSession}) || thread != wantThread {
			t.Errorf("Find(%d lineages) = %v, %q, %v; want %s, %s", len(lineages), k, thread, err, wantSession, wantThread)
		}
	}
	f("", "")
	f("", "", "aa")
	appendAll(t, l, derived("s1", "main", "r1", "aa"), derived("s1", "main", "r2", "bb"), derived("s2", "sub", "r3", "cc"))
	plain := Request(logsink.Key{Tenant: "t", Session: "s3"}, "main", "r4", "", 1)
	plain.Request.Lineage = "dd" // its session was not derived
	appendAll(t, l, plain)
	f("s1", "main", "aa")
	f("s1", "main", "zz", "bb", "aa")
	f("s2", "sub", "zz", "cc", "bb")
	f("", "", "dd", "zz")
	var long []string
	for i := range 300 {
		long = append(long, fmt.Sprintf("%032x", i+1000))
	}
	f("", "", long...)
	f("s2", "sub", append(long, "cc")...)
	// The newest request of a lineage counts.
	appendAll(t, l, derived("s4", "main", "r5", "aa"))
	f("s4", "main", "aa")
	closeLog(t, l)
	l = b.Open(t)
	f("s4", "main", "zz", "aa", "bb")
}

func endEpoch(t testing.TB, b Backend) {
	l := b.Open(t)
	other := b.Open(t)
	ended := func(l logsink.Log, after int64, want ...logsink.EpochRef) int64 {
		t.Helper()
		got, cursor, err := l.Ended(t.Context(), after)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("Ended(%d) = %v, %v; want %v", after, got, err, want)
		}
		return cursor
	}
	end := func(l logsink.Log, k logsink.Key, epoch int) {
		t.Helper()
		if err := l.EndEpoch(t.Context(), k, epoch); err != nil {
			t.Fatalf("EndEpoch(%v, %d): %v", k, epoch, err)
		}
	}
	freeze(t, l, Anchor(alice, 1, "text"))
	freeze(t, l, Anchor(bob, 1, "text"))
	start := ended(l, 0)
	end(other, alice, 1)
	first := ended(l, start, logsink.EpochRef{Key: alice, Epoch: 1})
	end(l, alice, 1) // asking twice is asking once
	if again := ended(l, first); again != first {
		t.Errorf("Ended(%d) with nothing new gives cursor %d", first, again)
	}
	end(other, bob, 1)
	end(other, alice, 2)
	ended(l, first, logsink.EpochRef{Key: bob, Epoch: 1}, logsink.EpochRef{Key: alice, Epoch: 2})
	closeLog(t, l)
	ended(b.Open(t), start, logsink.EpochRef{Key: alice, Epoch: 1}, logsink.EpochRef{Key: bob, Epoch: 1}, logsink.EpochRef{Key: alice, Epoch: 2})
	// The session goes on as before until its next epoch is frozen.
	if got := current(t, other, alice); got.Epoch != 1 {
		t.Errorf("Current after EndEpoch is epoch %d, want 1", got.Epoch)
	}
	// Freezing the next one ends it, for all processes: once, if it had been ended.
	carol := logsink.Key{Tenant: alice.Tenant, Session: "carol"}
	freeze(t, other, Anchor(carol, 1, "text"))
	before := ended(other, start, logsink.EpochRef{Key: alice, Epoch: 1}, logsink.EpochRef{Key: bob, Epoch: 1}, logsink.EpochRef{Key: alice, Epoch: 2})
	freeze(t, other, Anchor(carol, 2, "other text"))
	freeze(t, other, Anchor(bob, 2, "other text"))
	ended(other, before, logsink.EpochRef{Key: carol, Epoch: 1})
}

func secret(t testing.TB, b Backend) {
	handles := []logsink.Log{b.Open(t), b.Open(t)}
	const askers = 20
	got := make([][]byte, askers)
	errs := make([]error, askers)
	var wg sync.WaitGroup
	for i := range askers {
		wg.Go(func() { got[i], errs[i] = handles[i%2].Secret(t.Context(), "tenant key") })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("Secret: %v", err)
	}
	for i := range got {
		if len(got[i]) != 32 || !bytes.Equal(got[i], got[0]) {
			t.Fatalf("Secret %d has %d bytes or differs from the first", i, len(got[i]))
		}
	}
	again, err := b.Open(t).Secret(t.Context(), "tenant key")
	if err != nil || !bytes.Equal(again, got[0]) {
		t.Errorf("Secret after reopening differs, %v", err)
	}
	other, err := handles[0].Secret(t.Context(), "another")
	if err != nil || bytes.Equal(other, got[0]) || len(other) != 32 {
		t.Errorf("Secret of another name has %d bytes, %v; want 32 of its own", len(other), err)
	}
}

func sessionsAreListed(t testing.TB, b Backend) {
	l := b.Open(t)
	key := func(i int) logsink.Key {
		return logsink.Key{Tenant: fmt.Sprintf("t%d", i%2), Session: fmt.Sprintf("s%03d", i)}
	}
	const n = 520 // more than any portion
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			a := BareAnchor(key(i), 1, "empty")
			a.Time = Start.Add(time.Duration(i) * time.Second)
			_, errs[i] = l.Freeze(t.Context(), a)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	later := Anchor(key(5), 2, "text")
	later.Time = Start.Add(time.Hour)
	freeze(t, l, later)
	q := Request(key(7), "main", "r1", "", 1)
	q.Request.Time = Start.Add(2 * time.Hour)
	appendAll(t, l, q)
	r := b.Reader(t)
	list := func(tenant, prefix string, most int) (got []logsink.SessionInfo) {
		t.Helper()
		err := r.Sessions(t.Context(), tenant, prefix, func(s logsink.SessionInfo) bool {
			got = append(got, s)
			return len(got) < most
		})
		if err != nil {
			t.Fatalf("Sessions(%q, %q): %v", tenant, prefix, err)
		}
		return got
	}
	all := list("", "", n+1)
	if len(all) != n {
		t.Fatalf("Sessions lists %d, want %d", len(all), n)
	}
	want := logsink.SessionInfo{Key: key(5), Epochs: 2, Decision: logsink.Inject, Prefix: later.Prefix, Route: "anthropic",
		Source: "header x-session-id", Since: Start.Add(5 * time.Second), LastTime: later.Time}
	if d := cmp.Diff(want, all[0]); d != "" {
		t.Errorf("first session differs (-want +got):\n%s", d)
	}
	for i := 2; i < len(all); i++ {
		if all[i].Since.After(all[i-1].Since) {
			t.Fatalf("session %d is newer than the one before it", i)
		}
	}
	if got := list("t1", "s00", n); len(got) != 5 || got[0].Session != "s005" || !got[1].LastTime.Equal(Start.Add(9*time.Second)) || !got[2].LastTime.Equal(q.Request.Time) {
		t.Errorf("Sessions(t1, s00) = %v, want s005, s009, s007 with its request's time, s003, s001", got)
	}
	if got := list("", "", 3); len(got) != 3 {
		t.Errorf("Sessions went on to %d, want it to stop at 3", len(got))
	}
}
