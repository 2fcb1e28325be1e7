package logsink_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// closedLog is the path of a log with all kinds of record that nobody has open.
func closedLog(t *testing.T) string {
	path, l := goodLog(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// refused wants a file to be refused for reading and for writing, and to be as
// it was.
func refused(t testing.TB, path string, sentinel error) {
	t.Helper()
	before := readFile(t, path)
	_, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{})
	plainError(t, err, sentinel)
	if r, err := logsink.OpenSQLiteReader(t.Context(), path, logsink.Config{}); err == nil {
		r.Close() // a reader does not look at every page
	} else {
		plainError(t, err, sentinel)
	}
	if !bytes.Equal(readFile(t, path), before) {
		t.Errorf("the refused file was changed")
	}
}

// Fault 16: what is not a log, or not all of it.
func TestFault16_FilesThatAreNotOurs(t *testing.T) {
	dir := t.TempDir()
	f := func(name string, content []byte, sentinel error) {
		t.Helper()
		path := filepath.Join(dir, name)
		writeFile(t, path, content)
		refused(t, path, sentinel)
	}
	f("empty.db", nil, logsink.ErrForeign)
	f("text.db", []byte("listen: 127.0.0.1:8787\n"), logsink.ErrForeign)
	f("long text.db", bytes.Repeat([]byte("a line\n"), 10_000), logsink.ErrForeign)
	f("zeros.db", make([]byte, 8192), logsink.ErrForeign)
	f("short.db", []byte("SQLite format 3\x00 and no more"), logsink.ErrCorrupt)
	f("magic.db", []byte("SQLite format 3\x00"), logsink.ErrCorrupt)

	theirs := filepath.Join(dir, "theirs.db")
	execFile(t, theirs, "PRAGMA journal_mode=WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
	refused(t, theirs, logsink.ErrForeign)
	for _, side := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(theirs + side); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("looking at somebody else's database left %s", theirs+side)
		}
	}

	newer := closedLog(t)
	execFile(t, newer, "PRAGMA user_version=2")
	refused(t, newer, logsink.ErrNewer)
}

func execFile(t testing.TB, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

// A newer program may be running: then only its -wal has the new version.
func TestFault16_NewerVersionInTheWAL(t *testing.T) {
	path := closedLog(t)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version=2"); err != nil {
		t.Fatal(err)
	}
	_, err = logsink.OpenSQLite(t.Context(), path, logsink.Config{})
	plainError(t, err, logsink.ErrNewer)
	_, err = logsink.OpenSQLiteReader(t.Context(), path, logsink.Config{})
	plainError(t, err, logsink.ErrNewer)
}

func TestFault16_TruncatedAtEverySector(t *testing.T) {
	t.Parallel()
	source := closedLog(t)
	whole, want := readFile(t, source), contents(t, source)
	path := filepath.Join(t.TempDir(), "cut.db")
	for n := 512; n < len(whole); n += 512 * slower {
		writeFile(t, path, whole[:n])
		l, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{})
		if err == nil {
			// The end of the last page may hold nothing.
			var told int
			got := contentsOf(t, l, &told)
			l.Close()
			if n < len(whole)-4096 || !cmp.Equal(got, want) {
				t.Fatalf("the first %d of %d bytes open and read as %v", n, len(whole), got)
			}
			continue
		}
		plainError(t, err, logsink.ErrCorrupt)
		if !bytes.Equal(readFile(t, path), whole[:n]) {
			t.Fatalf("opening the first %d of %d bytes changed them", n, len(whole))
		}
		os.Remove(path + "-wal")
		os.Remove(path + "-shm")
	}
}

// A damaged byte must never show as another truth: either it is refused, or an
// error, or everything reads as it was written.
func TestFault16_DamagedBytes(t *testing.T) {
	t.Parallel()
	source := closedLog(t)
	whole := readFile(t, source)
	want := contents(t, source)
	path := filepath.Join(t.TempDir(), "damaged.db")
	rng := rand.New(rand.NewPCG(5, 6))
	told := 0
	for try := range less(400) {
		b := bytes.Clone(whole)
		at := rng.IntN(len(b))
		if try%3 > 0 { // near a session's name, where its rows are
			at = nearby(rng, b, []byte("a11ce"))
		}
		b[at] ^= byte(1 << rng.IntN(8))
		writeFile(t, path, b)
		l, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{})
		if err != nil {
			told++
			if strings.Contains(err.Error(), "\n") || !bytes.Equal(readFile(t, path), b) {
				t.Fatalf("byte %d damaged: refused with %q, file changed: %v", at, err, !bytes.Equal(readFile(t, path), b))
			}
			continue
		}
		got := contentsOf(t, l, &told)
		l.Close()
		if got != nil && !cmp.Equal(got, want) {
			t.Fatalf("byte %d damaged: the log reads differently and says nothing:\n%s", at, cmp.Diff(want, got))
		}
	}
	if told == 0 {
		t.Errorf("no damage was told at all")
	}
}

// nearby returns a place around one of the places of name in b.
func nearby(rng *rand.Rand, b, name []byte) int {
	var places []int
	for i := 0; i+len(name) <= len(b); i++ {
		if bytes.HasPrefix(b[i:], name) {
			places = append(places, i)
		}
	}
	return min(len(b)-1, max(0, places[rng.IntN(len(places))]+rng.IntN(160)-80))
}

func contents(t testing.TB, path string) []string {
	t.Helper()
	var told int
	got := contentsOf(t, openReader(t, path), &told)
	if told > 0 {
		t.Fatal("the log cannot be read")
	}
	return got
}

// contentsOf reads all that a log has, or counts the error and returns nil.
func contentsOf(t testing.TB, r logsink.Reader, told *int) (all []string) {
	t.Helper()
	failed := errors.Join(
		r.Records(t.Context(), alice, 0, func(_ int64, rec logsink.Record) bool {
			all = append(all, string(rec.AppendJSON(nil)))
			return true
		}),
		r.Records(t.Context(), bob, 0, func(_ int64, rec logsink.Record) bool {
			all = append(all, string(rec.AppendJSON(nil)))
			return true
		}),
		r.Sessions(t.Context(), "", "", func(s logsink.SessionInfo) bool {
			all = append(all, s.Tenant, s.Session, s.Prefix, s.LastTime.String())
			return true
		}))
	for _, k := range []logsink.Key{alice, bob} {
		anchors, err := r.Anchors(t.Context(), k)
		failed = errors.Join(failed, err)
		for _, a := range anchors {
			all = append(all, string(logsink.Record{Anchor: a}.AppendJSON(nil)), string(a.Rendering("openai.chat")))
		}
	}
	b, err := r.ReadBlob(t.Context(), logsink.Sum([]byte("system")))
	failed = errors.Join(failed, err)
	sum, err := logsink.Verify(t.Context(), r, nil, func(logsink.Finding) {})
	if failed = errors.Join(failed, err); failed != nil || !sum.OK() {
		*told++
		return nil
	}
	return append(all, string(b))
}

func TestFault16_SideFiles(t *testing.T) {
	// A log that was not closed has its latest records in the -wal.
	path, l := goodLog(t)
	db, wal := readFile(t, path), readFile(t, path+"-wal")
	l.Close()
	want := contents(t, path)

	dir := t.TempDir()
	copyTo := func(name string, db, wal, shm []byte) string {
		p := filepath.Join(dir, name)
		writeFile(t, p, db)
		if wal != nil {
			writeFile(t, p+"-wal", wal)
		}
		if shm != nil {
			writeFile(t, p+"-shm", shm)
		}
		return p
	}
	if got := contents(t, copyTo("both.db", db, wal, nil)); !cmp.Equal(got, want) {
		t.Errorf("a log with its -wal reads differently:\n%s", cmp.Diff(want, got))
	}
	if got := contents(t, copyTo("noise.db", db, wal, bytes.Repeat([]byte{0xa5}, 32<<10))); !cmp.Equal(got, want) {
		t.Errorf("a log with a -shm of noise reads differently:\n%s", cmp.Diff(want, got))
	}
	// Exchanged: the -shm in place of the -wal and the other way round.
	checkIntegrity(t, copyTo("exchanged.db", readFile(t, path), bytes.Repeat([]byte{0}, 32<<10), wal))

	// A -wal without its file is not played into a new one.
	orphan := filepath.Join(dir, "orphan.db")
	writeFile(t, orphan+"-wal", wal)
	_, err := logsink.OpenSQLite(t.Context(), orphan, logsink.Config{})
	plainError(t, err, logsink.ErrCorrupt)
	if _, err := os.Stat(orphan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new log was made beside a -wal: %v", err)
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := logsink.OpenSQLite(t.Context(), filepath.Join(dir, "none", "log.db"), logsink.Config{})
	plainError(t, err, fs.ErrNotExist)
	_, err = logsink.OpenSQLiteReader(t.Context(), filepath.Join(dir, "log.db"), logsink.Config{})
	plainError(t, err, fs.ErrNotExist)
	if _, err := os.Stat(filepath.Join(dir, "log.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader made the log")
	}
	_, err = logsink.OpenSQLite(t.Context(), dir, logsink.Config{})
	plainError(t, err, logsink.ErrForeign)
	if _, err = logsink.OpenSQLite(t.Context(), filepath.Join(dir, "a\x00b"), logsink.Config{}); err == nil {
		t.Errorf("a path with a NUL byte was opened")
	}
}

func TestOpenMakesAPrivateFileAndNothingElse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd ?#%41 dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "log ?mode=memory#%.db")
	l := openLog(t, path)
	if _, err := l.Secret(t.Context(), "tenant key"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		st, err := os.Stat(name)
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want 0600, since it holds the tenant key", name, st.Mode(), err)
		}
	}
	l.Close()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("a closed log has left %v, %v; want the file alone", entries, err)
	}
	again, err := logsink.Open(t.Context(), logsink.Config{Path: "sqlite:" + path})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// Two first starts at the same moment make one log.
func TestI5_TwoProcessesMakeOneLog(t *testing.T) {
	t.Parallel()
	for range less(4) {
		path := filepath.Join(t.TempDir(), "log.db")
		a, b := startChild(t, "write", path), startChild(t, "write", path)
		a.expect("open")
		b.expect("open")
		lines := []string{a.line(), b.line()}
		ok, _ := acknowledged(append(lines, append(a.finish(), b.finish()...)...))
		checkAcknowledged(t, path, ok)
		left, err := filepath.Glob(path + ".new-*")
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func TestSchemes(t *testing.T) {
	want := []string{"redis", "redis+sentinel", "rediss", "rediss+sentinel", "sqlite"}
	if got := logsink.Schemes(); !cmp.Equal(got, want) {
		t.Errorf("Schemes() = %v, want %v; a backend that is added is added here", got, want)
	}
	_, err := logsink.Open(t.Context(), logsink.Config{Path: "etcd://user:canary@localhost"})
	if err != nil && strings.Contains(err.Error(), "canary") {
		t.Errorf("I12: Open(etcd://…) = %v, which tells the password", err)
	}
	if err == nil || !strings.Contains(err.Error(), "redis, redis+sentinel, rediss, rediss+sentinel, sqlite") {
		t.Errorf("Open(etcd://…) = %v, want an error that names the backends", err)
	}
}

func TestConfigCheck(t *testing.T) {
	good := func(c logsink.Config) {
		t.Helper()
		if err := c.Check(); err != nil {
			t.Errorf("Check(%+v) = %v, want nil", c, err)
		}
	}
	bad := func(c logsink.Config, setting string) {
		t.Helper()
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), setting) {
			t.Errorf("Check(%+v) = %v, want an error that names %s", c, err, setting)
		}
	}
	good(logsink.Config{})
	good(logsink.DefaultConfig())
	good(logsink.Config{Path: `C:\preface.db`, Requests: "sync", Sync: "normal"})
	bad(logsink.Config{Requests: "maybe"}, "log.requests")
	bad(logsink.Config{Sync: "off"}, "log.sync")
	bad(logsink.Config{Queue: -1}, "log.queue")
	bad(logsink.Config{BusyTimeout: -1}, "log.busy_timeout")
	bad(logsink.Config{Retention: logsink.Retention{Live: -1}}, "log.retention")
	bad(logsink.Config{Path: "mongo:x"}, "mongo")
}

func TestReaderDoesNotWrite(t *testing.T) {
	path := closedLog(t)
	before := readFile(t, path)
	r := openReader(t, path)
	if _, err := r.Freeze(t.Context(), logtest.Anchor(alice, 9, "text")); !errors.Is(err, logsink.ErrUnavailable) {
		t.Errorf("Freeze by a reader: %v, want ErrUnavailable", err)
	}
	if got := recordsOf(t, r, alice); len(got) != 6 {
		t.Errorf("a reader sees %d records, want 6", len(got))
	}
	r.Close()
	if !bytes.Equal(readFile(t, path), before) {
		t.Errorf("a reader changed the file")
	}
	checkIntegrity(t, path)
}

func recordsOf(t testing.TB, r logsink.Reader, k logsink.Key) (ids []string) {
	t.Helper()
	err := r.Records(t.Context(), k, 0, func(_ int64, rec logsink.Record) bool {
		ids = append(ids, string(rec.Kind())+" "+rec.ID())
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
