package logtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
)

const day = 24 * time.Hour

// aged returns a session's records as they were made some time ago.
func aged(t testing.TB, l logsink.Log, k logsink.Key, age time.Duration, system string) (anchor *logsink.Anchor, part logsink.Digest) {
	t.Helper()
	at := time.Now().Add(-age)
	a := Anchor(k, 1, "opener of "+system[:min(len(system), 40)])
	a.Time = at
	freeze(t, l, a)
	h, blob := Header(k, "main", "h1", system)
	q := Request(k, "main", "r1", "h1", 1)
	p := Response(k, "main", "r1")
	h.Header.Time, q.Request.Time, p.Response.Time = at, at, at
	q.Request.Derived, q.Request.Lineage = true, "11"
	appendBlobs(t, l, []logsink.Record{h, q, p}, []logsink.Blob{blob})
	return a, blob.Digest
}

func retain(t testing.TB, l logsink.Log, r logsink.Retention) logsink.Dropped {
	t.Helper()
	d, err := l.Retain(t.Context(), r)
	if err != nil {
		t.Fatalf("Retain(%+v): %v", r, err)
	}
	return d
}

func retainByAge(t testing.TB, b Backend) {
	l := b.Open(t)
	old := logsink.Key{Tenant: "t", Session: "old"}
	young := logsink.Key{Tenant: "t", Session: "young"}
	oldAnchor, oldPart := aged(t, l, old, 40*day, "system of the old")
	youngAnchor, youngPart := aged(t, l, young, day, "system of the young")
	shared := oldAnchor.Renderings[0].Blob
	keeps := Anchor(young, 2, oldAnchor.Messages[0].Text) // holds the old one's blobs
	keeps.Time = time.Now().Add(-day)
	freeze(t, l, keeps)
	if err := l.EndEpoch(t.Context(), old, 1); err != nil {
		t.Fatal(err)
	}
	d := retain(t, l, logsink.Retention{MaxAge: 30 * day, Live: 7 * day})
	if d.Sessions != 1 || d.Records != 3 || d.Blobs != 1 {
		t.Errorf("Retain dropped %+v, want 1 session, 3 records, 1 blob", d)
	}
	r := b.Reader(t)
	if _, err := l.Current(t.Context(), old); !isErr(err, logsink.ErrNoSession) {
		t.Errorf("Current of the old session: %v, want ErrNoSession", err)
	}
	if _, _, err := l.Last(t.Context(), old, "main"); !isErr(err, logsink.ErrNoThread) {
		t.Errorf("Last of the old session: %v, want ErrNoThread", err)
	}
	if _, err := r.ReadBlob(t.Context(), oldPart); !isErr(err, logsink.ErrNoBlob) {
		t.Errorf("ReadBlob of the old session's part: %v, want ErrNoBlob", err)
	}
	for _, d := range []logsink.Digest{youngPart, shared, youngAnchor.Renderings[0].Blob} {
		if _, err := r.ReadBlob(t.Context(), d); err != nil {
			t.Errorf("ReadBlob of one in use: %v", err)
		}
	}
	if got := recordIDs(t, r, logsink.Key{}); !cmp.Equal(got, []string{"header h1", "request r1", "response r1"}) {
		t.Errorf("Records = %v, want those of the young session", got)
	}
	if q, h, err := l.Last(t.Context(), young, "main"); err != nil || q.ID != "r1" || h == nil {
		t.Errorf("Last of the young session = %v, %v, %v", q, h, err)
	}
	if k, _, err := l.Find(t.Context(), "t", []string{"11"}); err != nil || k != young {
		t.Errorf("Find = %v, %v; want the young session", k, err)
	}
	// The dropped session can begin anew.
	sameAnchor(t, freeze(t, l, Anchor(old, 1, "anew")), Anchor(old, 1, "anew"))
	appendAll(t, l, Request(old, "main", "r9", "", 1))
	if got := recordIDs(t, r, old); !cmp.Equal(got, []string{"request r9"}) {
		t.Errorf("Records of the session begun anew = %v, want r9", got)
	}
}

// A live epoch's anchor stays, whatever the other limits, also when all its
// records are gone.
func retainKeepsLive(t testing.TB, b Backend) {
	l := b.Open(t)
	live := logsink.Key{Tenant: "t", Session: "live"}
	dead := logsink.Key{Tenant: "t", Session: "dead"}
	want, _ := aged(t, l, live, 5*day, "system of the live")
	aged(t, l, dead, 8*day, "system of the dead")
	retain(t, l, logsink.Retention{MaxAge: time.Hour, MaxBytes: 1, Live: 7 * day})
	sameAnchor(t, current(t, l, live), readBack(want))
	if got := recordIDs(t, b.Reader(t), live); len(got) != 0 {
		t.Errorf("Records of the live session = %v, want none left", got)
	}
	if _, err := l.Current(t.Context(), dead); !isErr(err, logsink.ErrNoSession) {
		t.Errorf("Current of the dead session: %v, want ErrNoSession", err)
	}
	if _, _, err := l.Last(t.Context(), live, "main"); !isErr(err, logsink.ErrNoThread) {
		t.Errorf("Last of the live session: %v, want ErrNoThread", err)
	}
	// It goes on.
	appendAll(t, l, Request(live, "main", "r2", "h1", 2))
	if q, h, err := l.Last(t.Context(), live, "main"); err != nil || q.ID != "r2" || h != nil {
		t.Errorf("Last after going on = %v, %v, %v; want r2 without its header", q, h, err)
	}
	// The zero Live protects too.
	retain(t, l, logsink.Retention{MaxAge: 1, MaxBytes: 1})
	sameAnchor(t, current(t, l, live), readBack(want))
}

// readBack is an anchor as it comes out of a log: times without what JSON does
// not hold.
func readBack(a *logsink.Anchor) *logsink.Anchor {
	r, err := logsink.ParseRecord(logsink.Record{Anchor: a}.AppendJSON(nil))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for i := range a.Renderings {
		r.Anchor.Renderings[i].Bytes = a.Renderings[i].Bytes
	}
	return r.Anchor
}

func retainBySize(t testing.TB, b Backend) {
	l := b.Open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	var keys []logsink.Key
	for i := range 24 {
		k := logsink.Key{Tenant: "t", Session: fmt.Sprintf("s%02d", i)}
		keys = append(keys, k)
		noise := make([]byte, 32<<10) // compresses to half at best
		for j := range noise {
			noise[j] = "0123456789abcdef"[rng.IntN(16)]
		}
		aged(t, l, k, time.Duration(60-i)*day, string(noise))
	}
	const most = 300 << 10
	d := retain(t, l, logsink.Retention{MaxBytes: most, Live: 365 * day})
	if d.Records == 0 || d.Blobs == 0 || d.Bytes < 50<<10 || d.Sessions != 0 {
		t.Errorf("Retain dropped %+v, want records, blobs and bytes but no live session", d)
	}
	// The oldest went, the newest stayed.
	r := b.Reader(t)
	if got := recordIDs(t, r, keys[0]); len(got) != 0 {
		t.Errorf("the oldest session has %v, want nothing", got)
	}
	if got := recordIDs(t, r, keys[23]); len(got) != 3 {
		t.Errorf("the newest session has %v, want all", got)
	}
	if again := retain(t, l, logsink.Retention{MaxBytes: most, Live: 365 * day}); again.Records != 0 {
		t.Errorf("Retain a second time dropped %+v, want nothing", again)
	}
	for _, k := range keys {
		current(t, l, k)
	}
	if d := retain(t, l, logsink.Retention{MaxBytes: 1, Live: day}); d.Sessions != 24 {
		t.Errorf("Retain to one byte dropped %+v, want all 24 sessions", d)
	}
}

func retainNothing(t testing.TB, b Backend) {
	l := b.Open(t)
	if d := retain(t, l, logsink.Retention{MaxAge: day, MaxBytes: 1 << 30}); d != (logsink.Dropped{}) {
		t.Errorf("Retain of an empty log dropped %+v", d)
	}
	want, part := aged(t, l, alice, 400*day, "system")
	if d := retain(t, l, logsink.Retention{}); d.Sessions+d.Records+d.Blobs != 0 {
		t.Errorf("Retain without limits dropped %+v", d)
	}
	sameAnchor(t, current(t, l, alice), readBack(want))
	if got, err := b.Reader(t).ReadBlob(t.Context(), part); err != nil || !bytes.Equal(got, []byte("system")) {
		t.Errorf("ReadBlob = %q, %v", got, err)
	}
}

func closedIsUnavailable(t testing.TB, b Backend) {
	l := b.Open(t)
	freeze(t, l, Anchor(alice, 1, "text"))
	closeLog(t, l)
	closeLog(t, l) // twice is once
	_, err := l.Freeze(t.Context(), Anchor(alice, 2, "text"))
	_, err2 := l.Current(t.Context(), alice)
	err3 := l.Append(t.Context(), []logsink.Record{Request(alice, "main", "r1", "", 1)}, nil)
	for i, err := range []error{err, err2, err3} {
		if !errors.Is(err, logsink.ErrUnavailable) {
			t.Errorf("call %d on a closed log: %v, want ErrUnavailable", i, err)
		}
	}
}
