package logsink_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

var bob = logsink.Key{Tenant: "b0b", Session: "s-1"}

// goodLog is a log with every kind of record, in which all is well.
func goodLog(t *testing.T) (path string, l *logsink.SQLite) {
	path = filepath.Join(t.TempDir(), "log.db")
	l = openLog(t, path)
	a := logtest.Anchor(alice, 1, "opener")
	for _, anchor := range []*logsink.Anchor{a, logtest.BareAnchor(alice, 2, "empty"), logtest.Anchor(alice, 3, "opener"), logtest.Anchor(bob, 1, "opener")} {
		if _, err := l.Freeze(t.Context(), anchor); err != nil {
			t.Fatal(err)
		}
	}
	h, blob := logtest.Header(alice, "main", "h1", "system")
	inject := injected(a, "r1", "h1")
	second := injected(a, "r1", "h1")
	second.Request.Attempt = 2
	side := logtest.Request(alice, "title", "r2", "", 1)
	side.Request.Why, side.Request.Class = "side_request", "side"
	late := logtest.Request(alice, "main", "r3", "h1", 2)
	late.Request.Epoch = 2
	recs := []logsink.Record{h, inject, second, logtest.Response(alice, "main", "r1"), side, late, logtest.Request(bob, "main", "r1", "", 1)}
	if err := l.Append(t.Context(), recs, []logsink.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	return path, l
}

func injected(a *logsink.Anchor, id, header string) logsink.Record {
	r := a.Renderings[0]
	q := logtest.Request(a.Key, "main", id, header, 1)
	q.Request.Decision, q.Request.Why, q.Request.Size = logsink.Inject, "", 5000
	q.Request.Splices = []logsink.Splice{
		{Offset: 100, Length: r.Size + 1, Kind: "prefix", Rendering: r.Name, From: 0},
		{Offset: 4000, Length: 40, Kind: "usage"},
	}
	return q
}

func verify(t *testing.T, r logsink.Reader, k *logsink.Key) (logsink.Summary, []string) {
	t.Helper()
	var found []string
	sum, err := logsink.Verify(t.Context(), r, k, func(f logsink.Finding) {
		what := f.What
		if f.Gap {
			what = "gap: " + what
		}
		found = append(found, strings.TrimSpace(f.Record+" "+what))
	})
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	return sum, found
}

func TestI4_VerifyAGoodLog(t *testing.T) {
	path, _ := goodLog(t)
	sum, found := verify(t, openReader(t, path), nil)
	want := logsink.Summary{Sessions: 2, Anchors: 4, Headers: 1, Requests: 5, Injected: 2, Responses: 1, Blobs: 3}
	if !sum.OK() || sum != want || found != nil {
		t.Errorf("Verify = %+v with %q, want %+v", sum, found, want)
	}
	sum, _ = verify(t, openReader(t, path), &bob)
	if sum != (logsink.Summary{Sessions: 1, Anchors: 1, Requests: 1, Blobs: 2}) {
		t.Errorf("Verify of bob = %+v, want his session alone", sum)
	}
}

// tampered reads a log in which something was changed.
type tampered struct {
	logsink.Reader
	anchor func(*logsink.Anchor)
	record func(*logsink.Record) bool // false leaves it out
	blob   func(d logsink.Digest, b []byte) ([]byte, error)
}

func (r *tampered) Anchors(ctx context.Context, k logsink.Key) ([]*logsink.Anchor, error) {
	list, err := r.Reader.Anchors(ctx, k)
	for i, a := range list {
		own := *a
		own.Messages = append([]logsink.Message(nil), a.Messages...)
		own.Renderings = append([]logsink.Rendering(nil), a.Renderings...)
		if r.anchor != nil {
			r.anchor(&own)
		}
		list[i] = &own
	}
	return list, err
}

func (r *tampered) Records(ctx context.Context, k logsink.Key, after int64, f func(int64, logsink.Record) bool) error {
	return r.Reader.Records(ctx, k, after, func(c int64, rec logsink.Record) bool {
		if r.record != nil && !r.record(&rec) {
			return true
		}
		return f(c, rec)
	})
}

func (r *tampered) ReadBlob(ctx context.Context, d logsink.Digest) ([]byte, error) {
	b, err := r.Reader.ReadBlob(ctx, d)
	if r.blob != nil && err == nil {
		return r.blob(d, b)
	}
	return b, err
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	path, _ := goodLog(t)
	r := openReader(t, path)
	opener := logtest.Anchor(alice, 1, "opener")
	check := func(name string, r *tampered, want ...string) {
		t.Helper()
		sum, found := verify(t, r, &alice)
		for _, w := range want {
			ok := false
			for _, f := range found {
				ok = ok || strings.Contains(f, w)
			}
			if !ok {
				t.Errorf("%s: findings are %q, want one with %q", name, found, w)
			}
		}
		if allGaps := !strings.Contains(strings.Join(want, ""), "gap: "); sum.OK() == allGaps {
			t.Errorf("%s: OK() = %v with %q", name, sum.OK(), found)
		}
	}
	anchor := func(name, want string, f func(*logsink.Anchor)) {
		t.Helper()
		check(name, &tampered{Reader: r, anchor: f}, want)
	}
	request := func(name, want string, f func(*logsink.Request)) {
		t.Helper()
		check(name, &tampered{Reader: r, record: func(rec *logsink.Record) bool {
			if q := rec.Request; q != nil && q.ID == "r1" {
				f(q)
			}
			return true
		}}, want)
	}
	drop := func(name, want string, gone func(*logsink.Record) bool) {
		t.Helper()
		check(name, &tampered{Reader: r, record: func(rec *logsink.Record) bool { return !gone(rec) }}, want)
	}

	anchor("another message", "anchor its prefix is", func(a *logsink.Anchor) {
		if a.Injects() {
			a.Messages[0].Text = "other"
		}
	})
	anchor("a prefix and no messages", `its messages give ""`, func(a *logsink.Anchor) { a.Messages = nil })
	anchor("another decision", "it carries a prefix, and its epoch is anchored bare", func(a *logsink.Anchor) {
		a.Decision, a.Prefix, a.Messages, a.Renderings = logsink.Bare, "", nil, nil
	})
	anchor("an unknown decision", `no decision is "maybe"`, func(a *logsink.Anchor) { a.Decision = "maybe" })
	anchor("a bare one with messages", "it is bare, yet has something to insert", func(a *logsink.Anchor) { a.Decision = logsink.Bare })
	anchor("a wrong SHA-256", "with SHA-256", func(a *logsink.Anchor) { spoil(a, func(r *logsink.Rendering) { r.SHA256 = strings.Repeat("0", 64) }) })
	anchor("a wrong size", "not 3 with", func(a *logsink.Anchor) { spoil(a, func(r *logsink.Rendering) { r.Size = 3 }) })
	anchor("other bytes", "handed out with other bytes", func(a *logsink.Anchor) { spoil(a, func(r *logsink.Rendering) { r.Bytes = []byte("x") }) })
	anchor("no rendering of the name", "which its anchor does not have", func(a *logsink.Anchor) { spoil(a, func(r *logsink.Rendering) { r.Name = "other" }) })
	anchor("a hole in the epochs", "epochs count from 1", func(a *logsink.Anchor) { a.Epoch++ })
	anchor("another tenant's", "anchor it belongs to another session or tenant", func(a *logsink.Anchor) { a.Tenant = "b0b" })

	request("no anchor", "its epoch has no anchor", func(q *logsink.Request) { q.Epoch = 9 })
	request("bare with a prefix", "it is bare, yet a prefix was inserted", func(q *logsink.Request) { q.Decision, q.Why = logsink.Bare, "side_request" })
	request("bare without a reason", "does not say why", func(q *logsink.Request) { q.Decision, q.Splices = logsink.Bare, nil })
	request("an unknown decision", `no decision is ""`, func(q *logsink.Request) { q.Decision = "" })
	request("no prefix", "and 0 were inserted", func(q *logsink.Request) { q.Splices = q.Splices[1:] })
	request("two prefixes", "and 2 were inserted", func(q *logsink.Request) { q.Splices[1] = q.Splices[0]; q.Splices[1].Offset = 3000 })
	request("a short splice", "not inside the splice", func(q *logsink.Request) { q.Splices[0].Length = 10 })
	request("a shifted rendering", "not inside the splice", func(q *logsink.Request) { q.Splices[0].From = 2 })
	request("a negative shift", "not inside the splice", func(q *logsink.Request) { q.Splices[0].From = -1 })
	request("a splice outside", "not inside the body", func(q *logsink.Request) { q.Splices[1].Offset = 4990 })
	request("a huge offset", "not inside the body", func(q *logsink.Request) { q.Splices[1].Offset = 1<<63 - 1 })
	request("overlapping splices", "not inside the body", func(q *logsink.Request) { q.Splices[1].Offset = 101 })
	request("an empty splice", "not inside the body", func(q *logsink.Request) { q.Splices[1].Length = 0 })
	request("another thread's header", "its header", func(q *logsink.Request) { q.Thread = "other" })
	request("another tenant's", "it belongs to another session or tenant", func(q *logsink.Request) { q.Tenant = "b0b" })
	request("twice the same try", "request r1 it is there twice", func(q *logsink.Request) { q.Attempt = 1 })

	drop("a lost header", "gap: its header", func(r *logsink.Record) bool { return r.Header != nil })
	drop("a lost request", "gap: its request", func(r *logsink.Record) bool { return r.Request != nil })

	part := logsink.Sum([]byte("system"))
	check("a lost rendering", &tampered{Reader: r, blob: func(d logsink.Digest, b []byte) ([]byte, error) {
		if d == opener.Renderings[0].Blob {
			return nil, logsink.ErrNoBlob
		}
		return b, nil
	}}, "the bytes of rendering")
	check("a changed part", &tampered{Reader: r, blob: func(d logsink.Digest, b []byte) ([]byte, error) {
		if d == part {
			return []byte("System"), nil
		}
		return b, nil
	}}, `header h1 its part "system" cannot be had`)
}

func spoil(a *logsink.Anchor, f func(*logsink.Rendering)) {
	for i := range a.Renderings {
		f(&a.Renderings[i])
	}
}

// An error of reading is not a finding.
func TestVerifySaysWhatItCannotRead(t *testing.T) {
	path, _ := goodLog(t)
	down := &tampered{Reader: openReader(t, path), blob: func(logsink.Digest, []byte) ([]byte, error) { return nil, logtest.Unavailable("down") }}
	_, err := logsink.Verify(t.Context(), down, nil, func(f logsink.Finding) { t.Errorf("finding %+v", f) })
	if !errors.Is(err, logsink.ErrUnavailable) {
		t.Errorf("Verify of a log that is down: %v, want ErrUnavailable", err)
	}
}

// lagging is a reader to which the last anchor shows only the second time.
type lagging struct {
	logsink.Reader
	asked bool
}

func (r *lagging) Anchors(ctx context.Context, k logsink.Key) ([]*logsink.Anchor, error) {
	list, err := r.Reader.Anchors(ctx, k)
	if !r.asked {
		r.asked = true
		list = list[:len(list)-1]
	}
	return list, err
}

// A session may start an epoch while it is verified.
func TestVerifyALogThatIsWritten(t *testing.T) {
	path, l := goodLog(t)
	a := logtest.Anchor(alice, 4, "new")
	if _, err := l.Freeze(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	q := injected(a, "r9", "h1")
	q.Request.Epoch = 4
	if err := l.Append(t.Context(), []logsink.Record{q}, nil); err != nil {
		t.Fatal(err)
	}
	sum, found := verify(t, &lagging{Reader: openReader(t, path)}, &alice)
	if !cmp.Equal(found, []string(nil)) || sum.Anchors != 4 {
		t.Errorf("Verify = %+v with %q, want no finding and 4 anchors", sum, found)
	}
}
