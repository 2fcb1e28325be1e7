package logsink_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// Fault 1 for the log: a writing process is killed at any moment.
func TestFault1_KilledWriterLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	rng := rand.New(rand.NewPCG(7, 8))
	var all []string
	for range less(20) {
		c := startChild(t, "write", path)
		c.expect("open")
		for range 1 + rng.IntN(40) {
			all = append(all, c.line())
		}
		all = append(all, c.kill()...)
	}
	ok, failed := acknowledged(all)
	if len(ok) == 0 || len(failed) > 0 {
		t.Fatalf("%d acknowledged, failed: %v", len(ok), failed)
	}
	// A reader comes first: nobody has repaired the log yet.
	checkAcknowledged(t, path, ok)
	checkIntegrity(t, path)
	checkAcknowledged(t, path, ok)
}

// A disk is what a file and its -wal hold.
type disk struct{ db, wal []byte }

func readDisk(t testing.TB, path string) disk {
	t.Helper()
	d := disk{db: readFile(t, path)}
	if _, err := os.Stat(path + "-wal"); err == nil {
		d.wal = readFile(t, path+"-wal")
	}
	return d
}

func (d disk) write(t testing.TB, path string) {
	t.Helper()
	for _, side := range []string{"-wal", "-shm"} {
		os.Remove(path + side)
	}
	writeFile(t, path, d.db)
	if len(d.wal) > 0 {
		writeFile(t, path+"-wal", d.wal)
	}
}

// torn is a file of which a write reached the disk up to some byte only.
func torn(before, after []byte, upTo int) []byte {
	if upTo >= len(after) {
		return after
	}
	b := bytes.Clone(after[:upTo])
	if upTo < len(before) {
		b = append(b, before[upTo:]...)
	}
	return b
}

// Fault 17: power is lost. What was synced is on the disk; of what was written
// after that, any part may be. SQLite syncs the -wal at each commit, and when it
// folds the -wal into the file it syncs that before the -wal is used anew. So
// the test takes the files after each acknowledged write, and between two of
// them tears the file that is being written at every sector.
func TestFault17_PowerLoss(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	l := openLog(t, path)
	copyPath := filepath.Join(t.TempDir(), "after.db")
	rng := rand.New(rand.NewPCG(9, 10))
	var ids []string
	before := readDisk(t, path)
	check := func(d disk) {
		t.Helper()
		d.write(t, copyPath)
		checkAcknowledged(t, copyPath, ids)
		checkIntegrity(t, copyPath)
	}
	for i := range max(4, less(12)) {
		id := fmt.Sprintf("r%d", i)
		var acked []string
		if i%3 == 0 {
			if _, err := l.Freeze(t.Context(), logtest.Anchor(logsink.Key{Tenant: "t", Session: id}, 1, "opener")); err != nil {
				t.Fatal(err)
			}
			acked = []string{id}
		} else {
			recs := []logsink.Record{logtest.Request(alice, "main", id, "", i), logtest.Response(alice, "main", id)}
			if err := l.Append(t.Context(), recs, nil); err != nil {
				t.Fatal(err)
			}
			acked = []string{id}
		}
		after := readDisk(t, path)
		if !bytes.Equal(after.db, before.db) {
			t.Fatalf("write %d changed the file before its -wal was folded in", i)
		}
		for n := commonPrefix(before.wal, after.wal) &^ 511; n < len(after.wal); n += 512 * (1 + rng.IntN(8*slower)) {
			check(disk{after.db, torn(before.wal, after.wal, n)})
		}
		ids = append(ids, acked...)
		check(after)
		before = after
	}
	tearCheckpoint(t, path, before, check)
}

// tearCheckpoint folds the -wal into the file, and tears that.
func tearCheckpoint(t testing.TB, path string, before disk, check func(disk)) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	after := readDisk(t, path)
	if bytes.Equal(after.db, before.db) {
		t.Fatal("the -wal was not folded in")
	}
	for n := 0; n < len(after.db); n += 1536 * slower {
		check(disk{torn(before.db, after.db, n), before.wal})
	}
	check(after)
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// The test of power loss must see a log that does not sync: with the writes
// since an earlier moment gone, an acknowledged record is missing.
func TestFault17_TheTestSeesALoss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	l := openLog(t, path)
	early := readDisk(t, path)
	if err := l.Append(t.Context(), []logsink.Record{logtest.Response(alice, "main", "r1")}, nil); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(t.TempDir(), "lost.db")
	early.write(t, lost)
	r := openReader(t, lost)
	if got := recordsOf(t, r, alice); len(got) != 0 {
		t.Errorf("a copy from before the write has %v", got)
	}
}
