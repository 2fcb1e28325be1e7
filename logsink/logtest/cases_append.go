package logtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-9236c7ca/preface/logsink"
)

func appendOrder(t testing.TB, b Backend) {
	l := b.Open(t)
	var want []logsink.Record
	h, blob := Header(alice, "main", "h1", "system")
	want = append(want, h)
	for i := range 40 {
		thread := fmt.Sprintf("thread-%d", i%3)
		id := fmt.Sprintf("r%d", i)
		want = append(want, Request(alice, thread, id, "h1", i), Response(alice, thread, id))
	}
	appendBlobs(t, l, want[:1], []logsink.Blob{blob})
	for portion := range slices.Chunk(want[1:], 7) {
		appendAll(t, l, append(portion, Request(bob, "main", portion[0].ID(), "", 1))...)
	}
	r := b.Reader(t)
	got, cursors := records(t, r, alice, 0)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("Records differ (-want +got):\n%.2000s", d)
	}
	if !slices.IsSorted(cursors) || cursors[0] <= 0 {
		t.Errorf("cursors do not grow from 0: %v", cursors)
	}
	// Each cursor resumes behind its record, of the session and of all.
	for i := 0; i < len(cursors); i += 9 {
		c := cursors[i]
		rest, _ := records(t, r, alice, c)
		if len(rest) != len(want)-i-1 {
			t.Fatalf("Records after cursor %d are %d, want %d", i, len(rest), len(want)-i-1)
		}
	}
	all, allCursors := records(t, r, logsink.Key{}, 0)
	tail, _ := records(t, r, logsink.Key{}, allCursors[10])
	if d := cmp.Diff(all[11:], tail); d != "" {
		t.Errorf("Records of all sessions after a cursor differ:\n%.2000s", d)
	}
	n := 0
	if err := r.Records(t.Context(), alice, 0, func(int64, logsink.Record) bool { n++; return n < 5 }); err != nil || n != 5 {
		t.Errorf("Records went on to %d, %v; want it to stop at 5", n, err)
	}
}

// Invariant 3: the acknowledgement was lost, and the writer offers the batch,
// a part of it, or it with others once more.
func appendAgain(t testing.TB, b Backend) {
	l := b.Open(t)
	recs := []logsink.Record{
		Request(alice, "main", "r1", "", 1), Request(bob, "main", "r1", "", 1), Response(alice, "main", "r1"), Request(alice, "main", "r2", "", 2),
	}
	again := Request(alice, "main", "r2", "", 2)
	again.Request.Attempt = 2 // the second try of one request is a record of its own
	recs = append(recs, again)
	appendAll(t, l, recs...)
	appendAll(t, l, recs...)
	appendAll(t, l, recs[2:4]...)
	appendAll(t, l, recs[1], Response(alice, "main", "r2"), recs[0], Response(alice, "main", "r2"))
	closeLog(t, l)
	l = b.Open(t)
	appendAll(t, l, recs...)
	appendAll(t, l, Response(alice, "main", "r2"))
	r := b.Reader(t)
	want := []string{"request r1", "response r1", "request r2", "request r2", "response r2"}
	if got := recordIDs(t, r, alice); !cmp.Equal(got, want) {
		t.Errorf("Records of alice = %v, want %v", got, want)
	}
	if got := recordIDs(t, r, bob); !cmp.Equal(got, []string{"request r1"}) {
		t.Errorf("Records of bob = %v, want r1 once", got)
	}
}

func appendConcurrently(t testing.TB, b Backend) {
	handles := []logsink.Log{b.Open(t), b.Open(t)}
	const writers, each = 16, 20
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			k := logsink.Key{Tenant: "t", Session: fmt.Sprintf("s%d", w/2%4)} // from both handles
			for i := range each {
				id := fmt.Sprintf("w%d-%d", w, i)
				if err := handles[w%2].Append(t.Context(), []logsink.Record{Request(k, "main", id, "", i), Response(k, "main", id)}, nil); err != nil {
					errs[w] = err
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("Append: %v", err)
	}
	r := b.Reader(t)
	for s := range 4 {
		k := logsink.Key{Tenant: "t", Session: fmt.Sprintf("s%d", s)}
		got := recordIDs(t, r, k)
		if len(got) != writers/4*each*2 {
			t.Errorf("session %d has %d records, want %d", s, len(got), writers/4*each*2)
		}
		// One writer's records keep its order.
		for _, w := range []int{2 * s, 2*s + 1, 8 + 2*s, 8 + 2*s + 1} {
			var mine []string
			for _, id := range got {
				if strings.Contains(id, fmt.Sprintf(" w%d-", w)) {
					mine = append(mine, id)
				}
			}
			for i := range each {
				id := fmt.Sprintf("w%d-%d", w, i)
				if mine[2*i] != "request "+id || mine[2*i+1] != "response "+id {
					t.Fatalf("records of writer %d at %d are %v, want those of %s", w, i, mine[2*i:2*i+2], id)
				}
			}
		}
	}
}

func appendRefuses(t testing.TB, b Backend) {
	l := b.Open(t)
	f := func(what string, recs ...logsink.Record) {
		t.Helper()
		if err := l.Append(t.Context(), recs, nil); err == nil || errors.Is(err, logsink.ErrUnavailable) {
			t.Errorf("Append of %s: %v, want an error that blames the record", what, err)
		}
	}
	good := Request(alice, "main", "good", "", 1)
	f("a record of no kind", good, logsink.Record{})
	f("an anchor", good, logsink.Record{Anchor: BareAnchor(alice, 1, "empty")})
	f("a record without an id", good, Request(alice, "main", "", "", 1))
	f("a session that is not UTF-8", good, Request(logsink.Key{Tenant: "t", Session: "\xc3("}, "main", "r", "", 1))
	if got := recordIDs(t, b.Reader(t), alice); len(got) != 0 {
		t.Errorf("Records after refused batches = %v, want none: a batch is stored whole or not at all", got)
	}
	if err := l.Append(t.Context(), nil, nil); err != nil {
		t.Errorf("Append of nothing: %v", err)
	}
}

func appendOddStrings(t testing.TB, b Backend) {
	l := b.Open(t)
	want := []logsink.Record{}
	for i, s := range []string{"a\x00b", "line\nfeed\r\n", `"quo\te"`, "\u2028\u2029", "<&>", strings.Repeat("x", 300<<10), "🙂", ""} {
		q := Request(alice, "thread "+s, fmt.Sprintf("r%d%.10q", i, s), s, i)
		q.Request.Path, q.Request.Why = "/"+s, s
		want = append(want, q)
	}
	appendAll(t, l, want...)
	got, _ := records(t, b.Reader(t), alice, 0)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Records differ (-want +got):\n%.2000s", d)
	}
	for _, w := range want {
		if q, _, err := l.Last(t.Context(), alice, w.Thread()); err != nil || q.ID != w.ID() {
			t.Errorf("Last(%.20q) = %v, %v; want %s", w.Thread(), q, err, w.ID())
		}
	}
}

func appendAll(t testing.TB, l logsink.Log, recs ...logsink.Record) {
	t.Helper()
	appendBlobs(t, l, recs, nil)
}

func appendBlobs(t testing.TB, l logsink.Log, recs []logsink.Record, blobs []logsink.Blob) {
	t.Helper()
	if err := l.Append(t.Context(), recs, blobs); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

func records(t testing.TB, r logsink.Reader, k logsink.Key, after int64) (list []logsink.Record, cursors []int64) {
	t.Helper()
	err := r.Records(t.Context(), k, after, func(cursor int64, r logsink.Record) bool {
		list = append(list, r)
		cursors = append(cursors, cursor)
		return true
	})
	if err != nil {
		t.Fatalf("Records(%.20q, %d): %v", k, after, err)
	}
	return list, cursors
}

func recordIDs(t testing.TB, r logsink.Reader, k logsink.Key) []string {
	t.Helper()
	list, _ := records(t, r, k, 0)
	var ids []string
	for _, r := range list {
		ids = append(ids, string(r.Kind())+" "+r.ID())
	}
	return ids
}
