package logtest

import (
	"bytes"

	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
)

var (
	alice = logsink.Key{Tenant: "a11ce", Session: "s-1"}
	bob   = logsink.Key{Tenant: "b0b", Session: "s-1"}
)

func freezeRace(t testing.TB, b Backend) {
	handles := []logsink.Log{b.Open(t), b.Open(t)}
	const racers = 200
	got := make([]*logsink.Anchor, racers)
	errs := make([]error, racers)
	var start, end sync.WaitGroup
	start.Add(1)
	for i := range racers {
		end.Go(func() {
			start.Wait()
			got[i], errs[i] = handles[i%2].Freeze(t.Context(), Anchor(alice, 1, fmt.Sprintf("opener of racer %d", i)))
		})
	}
	start.Done()
	end.Wait()
	for i := range got {
		if errs[i] != nil {
			t.Fatalf("Freeze by racer %d: %v", i, errs[i])
		}
		sameAnchor(t, got[i], got[0])
	}
	for i, l := range append(handles, b.Open(t)) {
		current, err := l.Current(t.Context(), alice)
		if err != nil {
			t.Fatalf("Current by handle %d: %v", i, err)
		}
		sameAnchor(t, current, got[0])
	}
	anchors, err := b.Reader(t).Anchors(t.Context(), alice)
	if err != nil || len(anchors) != 1 {
		t.Fatalf("Anchors after the race = %d, %v; want 1", len(anchors), err)
	}
}

func freezeDurable(t testing.TB, b Backend) {
	l := b.Open(t)
	want := freeze(t, l, Anchor(alice, 1, "the first"))
	closeLog(t, l)
	l = b.Open(t)
	sameAnchor(t, current(t, l, alice), want)
	sameAnchor(t, freeze(t, l, Anchor(alice, 1, "the second")), want)
	sameAnchor(t, freeze(t, b.Open(t), BareAnchor(alice, 1, "empty")), want)
}

func freezeBytes(t testing.TB, b Backend) {
	random := make([]byte, 256<<10)
	rand.NewChaCha8([32]byte{1}).Read(random)
	a := Anchor(alice, 1, "a \x00 \u2028 <&> \"\\\" 🙂 \r\n\t")
	a.Renderings = []logsink.Rendering{
		logsink.NewRendering("nul", []byte("\x00a\x00")),
		logsink.NewRendering("not utf-8", []byte("\xff\xfe\xc3\x28")),
		logsink.NewRendering("random", random),
		logsink.NewRendering("repeated", bytes.Repeat([]byte("opener "), 50_000)),
		logsink.NewRendering("empty", []byte{}),
	}
	l := b.Open(t)
	want := freeze(t, l, a)
	sameAnchor(t, want, a)
	// The caller's slices are its own again.
	given := a.Renderings[0].Bytes
	closeLog(t, l)
	got := current(t, b.Open(t), alice)
	sameAnchor(t, got, a)
	if !bytes.Equal(got.Rendering("nul"), given) {
		t.Errorf("Rendering(nul) = %q, want %q", got.Rendering("nul"), given)
	}
}

func freezeRefuses(t testing.TB, b Backend) {
	l := b.Open(t)
	f := func(what string, spoil func(*logsink.Anchor)) {
		t.Helper()
		a := Anchor(alice, 1, "text")
		spoil(a)
		if got, err := l.Freeze(t.Context(), a); err == nil {
			t.Errorf("Freeze of an anchor with %s = %v, want an error", what, got)
		}
	}
	f("epoch 0", func(a *logsink.Anchor) { a.Epoch = 0 })
	f("no decision", func(a *logsink.Anchor) { a.Decision = "" })
	f("another prefix", func(a *logsink.Anchor) {
		a.Prefix = logsink.PrefixHash([]logsink.Message{{Role: "user", Text: "other"}})
	})
	f("no messages", func(a *logsink.Anchor) { a.Messages, a.Prefix = nil, "" })
	f("a wrong size", func(a *logsink.Anchor) { a.Renderings[0].Size++ })
	f("a wrong SHA-256", func(a *logsink.Anchor) { a.Renderings[0].SHA256 = a.Renderings[1].SHA256 })
	f("a wrong digest", func(a *logsink.Anchor) { a.Renderings[0].Blob = a.Renderings[1].Blob })
	f("two renderings of one name", func(a *logsink.Anchor) { a.Renderings[1].Name = a.Renderings[0].Name })
	f("bare, with a prefix", func(a *logsink.Anchor) { a.Decision = logsink.Bare })
	f("a session that is not UTF-8", func(a *logsink.Anchor) { a.Session = "\xff" })
	if _, err := l.Current(t.Context(), alice); !isErr(err, logsink.ErrNoSession) {
		t.Errorf("Current after refused anchors: %v, want ErrNoSession", err)
	}
}

func freezeEpochs(t testing.TB, b Backend) {
	l := b.Open(t)
	if _, err := l.Current(t.Context(), alice); !isErr(err, logsink.ErrNoSession) {
		t.Errorf("Current of an unknown session: %v, want ErrNoSession", err)
	}
	if _, err := b.Reader(t).Anchors(t.Context(), alice); !isErr(err, logsink.ErrNoSession) {
		t.Errorf("Anchors of an unknown session: %v, want ErrNoSession", err)
	}
	first := freeze(t, l, Anchor(alice, 1, "one"))
	second := freeze(t, l, BareAnchor(alice, 2, "foreign_history"))
	third := freeze(t, l, Anchor(alice, 3, "one"))
	sameAnchor(t, freeze(t, l, Anchor(alice, 2, "late")), second)
	sameAnchor(t, current(t, l, alice), third)
	anchors, err := b.Reader(t).Anchors(t.Context(), alice)
	if err != nil || len(anchors) != 3 {
		t.Fatalf("Anchors = %d, %v; want 3", len(anchors), err)
	}
	for i, want := range []*logsink.Anchor{first, second, third} {
		sameAnchor(t, anchors[i], want)
	}
}

// OddKeys are pairs of sessions that a careless backend takes for one: by a
// separator, a pattern, a path, the case, the look of a letter, or a cut.
var OddKeys = []logsink.Key{
	{Tenant: "t", Session: "a\x00b"}, {Tenant: "t", Session: "a"}, {Tenant: "t", Session: "a\x00"},
	{Tenant: "t", Session: "*"}, {Tenant: "t", Session: "?"}, {Tenant: "t", Session: "%"}, {Tenant: "t", Session: "_"},
	{Tenant: "t", Session: "../t2/x"}, {Tenant: "t2", Session: "x"}, {Tenant: "t", Session: ".."}, {Tenant: "t", Session: "/"},
	{Tenant: "t", Session: strings.Repeat("k", 10<<10)}, {Tenant: "t", Session: strings.Repeat("k", 10<<10) + "l"},
	{Tenant: "t", Session: "admin"}, {Tenant: "t", Session: "Admin"}, {Tenant: "t", Session: "аdmin"}, {Tenant: "t", Session: "ａdmin"},
	{Tenant: "t", Session: "é"}, {Tenant: "t", Session: "e\u0301"},
	{Tenant: "t", Session: ""}, {Tenant: "", Session: "t"}, {Tenant: "t", Session: " "}, {Tenant: "t:", Session: "s"}, {Tenant: "t", Session: ":s"},
	{Tenant: "t", Session: "'; DROP TABLE anchor; --"}, {Tenant: "t", Session: "{s}"}, {Tenant: "t", Session: "\r\nSET x"}, {Tenant: "t", Session: "1"}, {Tenant: "t", Session: "01"},
}

func keysStayApart(t testing.TB, b Backend) {
	l := b.Open(t)
	for i, k := range OddKeys {
		freeze(t, l, Anchor(k, 1, fmt.Sprintf("opener %d", i)))
		appendAll(t, l, Request(k, "main", fmt.Sprintf("req-%d", i), "", 1))
	}
	closeLog(t, l)
	l = b.Open(t)
	r := b.Reader(t)
	listed := map[logsink.Key]int{}
	err := r.Sessions(t.Context(), "", "", func(s logsink.SessionInfo) bool { listed[s.Key]++; return true })
	if err != nil || len(listed) != len(OddKeys) {
		t.Errorf("Sessions lists %d keys, %v; want %d", len(listed), err, len(OddKeys))
	}
	for i, k := range OddKeys {
		if got := current(t, l, k); got.Messages[0].Text != fmt.Sprintf("opener %d", i) || got.Key != k {
			t.Errorf("Current(%.20q) is of %.20q with %q, want opener %d", k, got.Key, got.Messages[0].Text, i)
		}
		if listed[k] != 1 {
			t.Errorf("Sessions lists %.20q %d times, want once", k, listed[k])
		}
		if got := recordIDs(t, r, k); k != (logsink.Key{}) && !cmp.Equal(got, []string{fmt.Sprintf("request req-%d", i)}) {
			t.Errorf("Records(%.20q) = %v, want only req-%d", k, got, i)
		}
	}
}

// Fault 36: one session id, two tenants.
func tenantsStayApart(t testing.TB, b Backend) {
	l := b.Open(t)
	freeze(t, l, Anchor(alice, 1, "canary of alice"))
	if _, err := l.Current(t.Context(), bob); !isErr(err, logsink.ErrNoSession) {
		t.Errorf("Current of bob before his first: %v, want ErrNoSession", err)
	}
	freeze(t, l, Anchor(bob, 1, "canary of bob"))
	h, blob := Header(alice, "main", "h1", "system of alice")
	q := Request(alice, "main", "same-id", "h1", 1)
	q.Request.Derived = true
	appendBlobs(t, l, []logsink.Record{h, q}, []logsink.Blob{blob})
	if req, _, err := l.Last(t.Context(), bob, "main"); !isErr(err, logsink.ErrNoThread) {
		t.Errorf("Last of bob = %v, %v; want ErrNoThread", req, err)
	}
	if k, _, err := l.Find(t.Context(), bob.Tenant, []string{q.Request.Lineage}); !isErr(err, logsink.ErrNoSession) {
		t.Errorf("Find by bob = %v, %v; want ErrNoSession", k, err)
	}
	// The same record id in another session is another record.
	appendAll(t, l, Request(bob, "main", "same-id", "", 1))
	r := b.Reader(t)
	if got := recordIDs(t, r, bob); !cmp.Equal(got, []string{"request same-id"}) {
		t.Errorf("Records of bob = %v, want his one request", got)
	}
	var tenants []string
	err := r.Sessions(t.Context(), bob.Tenant, "", func(s logsink.SessionInfo) bool { tenants = append(tenants, s.Tenant); return true })
	if err != nil || !cmp.Equal(tenants, []string{bob.Tenant}) {
		t.Errorf("Sessions of bob are of %v, %v; want only his", tenants, err)
	}
	if got := current(t, l, bob); got.Messages[0].Text != "canary of bob" {
		t.Errorf("Current of bob has %q, want his own", got.Messages[0].Text)
	}
}

func freeze(t testing.TB, l logsink.Log, a *logsink.Anchor) *logsink.Anchor {
	t.Helper()
	got, err := l.Freeze(t.Context(), a)
	if err != nil {
		t.Fatalf("Freeze epoch %d: %v", a.Epoch, err)
	}
	return got
}

func current(t testing.TB, l logsink.Log, k logsink.Key) *logsink.Anchor {
	t.Helper()
	a, err := l.Current(t.Context(), k)
	if err != nil {
		t.Fatalf("Current(%.20q): %v", k, err)
	}
	return a
}

func closeLog(t testing.TB, l logsink.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func sameAnchor(t testing.TB, got, want *logsink.Anchor) {
	t.Helper()
	// cmp compares bytes one by one, which for a megabyte takes seconds.
	if d := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); d != "" {
		t.Fatalf("anchor differs (-want +got):\n%.2000s", d)
	}
}
