package logsink_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// incompressible returns a blob that takes up its size.
func incompressible(rng *rand.Rand, n int) logsink.Blob {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return logsink.Blob{Digest: logsink.Sum(b), Bytes: b}
}

// fill appends until the log is full, and returns what was acknowledged and
// what was not.
func fill(t testing.TB, l logsink.Log) (ids []string, failed string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range 10_000 {
		id := fmt.Sprintf("r%d", i)
		recs := []logsink.Record{logtest.Request(alice, "main", id, "", i), logtest.Response(alice, "main", id)}
		err := l.Append(t.Context(), recs, []logsink.Blob{incompressible(rng, 16<<10)})
		if err == nil {
			ids = append(ids, id)
			continue
		}
		if !errors.Is(err, logsink.ErrUnavailable) || !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "disk") {
			t.Errorf("Append to a full log: %v, want ErrUnavailable and the reason", err)
		}
		if _, err := l.Freeze(t.Context(), logtest.Anchor(bob, 1, strings.Repeat("opener ", 10_000))); err != nil && !errors.Is(err, logsink.ErrUnavailable) {
			t.Errorf("Freeze in a full log: %v, want ErrUnavailable", err)
		}
		return ids, id
	}
	t.Fatal("the log does not get full")
	return nil, ""
}

// goesOn wants a log to work again, also for the record that failed.
func goesOn(t testing.TB, l logsink.Log, failed string) {
	t.Helper()
	recs := []logsink.Record{logtest.Request(alice, "main", failed, "", 1), logtest.Response(alice, "main", failed)}
	if err := l.Append(t.Context(), recs, nil); err != nil {
		t.Errorf("Append when there is room again: %v", err)
	}
	if _, err := l.Freeze(t.Context(), logtest.Anchor(bob, 1, "after")); err != nil {
		t.Errorf("Freeze when there is room again: %v", err)
	}
}

// Fault 14: the file may not grow.
func TestFault14_FullLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	l := openLog(t, path)
	if err := l.ExecWrite(t.Context(), "PRAGMA max_page_count = 200"); err != nil {
		t.Fatal(err)
	}
	ids, failed := fill(t, l)
	if err := l.ExecWrite(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	goesOn(t, l, failed)
	l.Close()
	checkIntegrity(t, path)
	checkAcknowledged(t, path, append(ids, failed))
}

// A full log is not a reason to forget what it holds.
func TestFault14_FullLogStillReads(t *testing.T) {
	l := openLog(t, filepath.Join(t.TempDir(), "log.db"))
	want := logtest.Anchor(alice, 1, "before")
	if _, err := l.Freeze(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := l.ExecWrite(t.Context(), "PRAGMA max_page_count = 1"); err != nil { // as many as there are
		t.Fatal(err)
	}
	fill(t, l)
	got, err := l.Freeze(t.Context(), logtest.Anchor(alice, 1, "again"))
	if err != nil || got.Prefix != want.Prefix {
		t.Errorf("Freeze of a known epoch in a full log = %v, %v; want its anchor", got, err)
	}
}
