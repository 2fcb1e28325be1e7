package logsink_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// Retention runs beside everything else; nobody gets an error from it, and what
// is left is whole.
func TestI10_RetainBesideWritersAndReaders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	l := openLog(t, path)
	limits := logsink.Retention{MaxAge: time.Hour, MaxBytes: 200 << 10, Live: time.Nanosecond}
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for w := range 4 {
		wg.Go(func() {
			for i := range 10 + less(100) {
				k := logsink.Key{Tenant: "t", Session: fmt.Sprintf("s%d-%d", w, i/10)}
				a := logtest.Anchor(k, 1, fmt.Sprintf("opener of %d", i%7))
				a.Time = time.Now()
				h, blob := logtest.Header(k, "main", fmt.Sprintf("h%d", i), fmt.Sprintf("system of %d", i%5))
				h.Header.Time = time.Now()
				_, err := l.Freeze(t.Context(), a)
				errs[w] = errors.Join(errs[w], err, l.Append(t.Context(), []logsink.Record{h, logtest.Request(k, "main", fmt.Sprintf("r%d", i), "", i)}, []logsink.Blob{blob}))
			}
		})
	}
	stop := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_, err := l.Retain(t.Context(), limits)
			errs[4] = errors.Join(errs[4], err)
		}
	})
	r := openReader(t, path)
	beside.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			errs[5] = errors.Join(errs[5], r.Sessions(t.Context(), "", "", func(s logsink.SessionInfo) bool {
				_, err := r.Anchors(t.Context(), s.Key)
				if err != nil && !errors.Is(err, logsink.ErrNoSession) {
					errs[5] = errors.Join(errs[5], err)
				}
				errs[5] = errors.Join(errs[5], r.Records(t.Context(), s.Key, 0, func(int64, logsink.Record) bool { return true }))
				return true
			}))
		}
	})
	wg.Wait()
	close(stop)
	beside.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Errorf("with retention at work: %.1000v", err)
	}
	if sum, found := verify(t, r, nil); !sum.OK() {
		t.Errorf("Verify = %+v with %.1000q", sum, found)
	}
	l.Close()
	checkIntegrity(t, path)
}

// The file gives back what was dropped, and blobs that are gone leave nothing.
func TestRetainShrinksTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	l := openLog(t, path)
	empty := len(readFile(t, path))
	rng := rand.New(rand.NewPCG(13, 14))
	const n = 150
	for i := range n {
		at := time.Now().Add(-time.Hour)
		h, _ := logtest.Header(alice, "main", fmt.Sprintf("h%d", i), "")
		blob := incompressible(rng, 16<<10)
		h.Header.Time, h.Header.Parts[0].Digest = at, blob.Digest
		if err := l.Append(t.Context(), []logsink.Record{h}, []logsink.Blob{blob}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := l.Retain(t.Context(), logsink.Retention{MaxBytes: 1, Live: 1})
	if err != nil || d.Records != n || d.Sessions != 1 || d.Blobs != n || d.Bytes < n*16<<10 {
		t.Errorf("Retain = %+v, %v; want %d records, 1 session, %d blobs", d, err, n, n)
	}
	l.Close() // folds the -wal in
	if got := len(readFile(t, path)); got > empty+64<<10 {
		t.Errorf("the file has %d bytes after all was dropped, it had %d when it was empty", got, empty)
	}
}

// Ten thousand sessions with one opener hold its bytes once, on the disk and in
// memory.
func TestAnOpenerIsHeldOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	l := openLog(t, path)
	rng := rand.New(rand.NewPCG(15, 16))
	opener := fmt.Sprintf("%x", incompressible(rng, 16<<10).Bytes)
	const n = 40
	for i := range n {
		if _, err := l.Freeze(t.Context(), logtest.Anchor(logsink.Key{Tenant: "t", Session: fmt.Sprint(i)}, 1, opener)); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	if size := len(readFile(t, path)); size > 4*len(opener)+128<<10 { // messages, two renderings, and an empty log
		t.Errorf("%d sessions with an opener of %d bytes take %d bytes", n, len(opener), size)
	}
	l = openLog(t, path)
	var first *logsink.Anchor
	for i := range n {
		a, err := l.Current(t.Context(), logsink.Key{Tenant: "t", Session: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = a
		}
		if &a.Renderings[0].Bytes[0] != &first.Renderings[0].Bytes[0] || &a.Messages[0] != &first.Messages[0] {
			t.Fatalf("session %d has a copy of the opener of its own", i)
		}
	}
}
