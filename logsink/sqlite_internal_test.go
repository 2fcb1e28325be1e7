package logsink

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersionAtLeast(t *testing.T) {
	f := func(version string, want bool) {
		t.Helper()
		if got := versionAtLeast(version, oldestSQLite); got != want {
			t.Errorf("versionAtLeast(%q, %q) = %v, want %v", version, oldestSQLite, got, want)
		}
	}
	f("3.51.3", true)
	f("3.51.10", true)
	f("3.54.1", true)
	f("4.0.0", true)
	f("3.51.2", false)
	f("3.40.1", false)
	f("3.9.9", false)
	f("2.99.99", false)
	f("3.51", false)
	f("", false)
	f("3.51.x", false)
}

// What a thread's place in a session's row says, against a plain map.
func TestHeads(t *testing.T) {
	h := newHeads()
	for i := range 3 * headsMost {
		thread := threadHash(i % headsMost)
		h = h.set(thread, int64(i+1), 0)
		if i%2 == 0 {
			h = h.set(thread, 0, int64(1000+i))
		}
	}
	for i := range headsMost {
		request, header, sure := h.find(threadHash(i))
		last := 2*headsMost + i
		wantHeader := int64(1000 + last)
		if i%2 == 1 {
			wantHeader = 0
		}
		if request != int64(last+1) || header != wantHeader || !sure {
			t.Errorf("find(%d) = %d, %d, %v; want %d, %d, true", i, request, header, sure, last+1, wantHeader)
		}
	}
	if _, _, sure := h.find(headsMost); !sure {
		t.Errorf("find of an unknown thread is not sure, though all threads are known")
	}
	h = h.set(headsMost, 7, 8) // one too many: the one unheard of for longest goes
	if _, _, sure := h.find(0); sure {
		t.Errorf("find of the thread that had to go is sure")
	}
	if request, _, sure := h.find(1); request == 0 || !sure {
		t.Errorf("find of the next thread = %d, %v; want it known", request, sure)
	}
}

func TestRecentKnowsTheNewest(t *testing.T) {
	r := recent{newer: map[recordID]struct{}{}, older: map[recordID]struct{}{}}
	id := func(i int) recordID { return recordID{byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := range 3*recentMost + 5 {
		oldest := max(0, i+1-recentMost) // that must be known
		if !r.add(id(i)) || r.add(id(i)) || i > 0 && r.add(id(oldest)) {
			t.Fatalf("add(%d): want it new, then known, and %d known", i, oldest)
		}
		if n := len(r.newer) + len(r.older); n > 2*recentMost {
			t.Fatalf("it holds %d ids, want at most %d", n, 2*recentMost)
		}
	}
	if !r.add(id(0)) {
		t.Errorf("add(0) says that it is known, after %d others", 3*recentMost)
	}
	r.remove([]recordID{id(2*recentMost + 1), id(3*recentMost + 4)})
	if !r.add(id(2*recentMost+1)) || !r.add(id(3*recentMost+4)) {
		t.Errorf("ids that were removed are known yet")
	}
}

// unseen is a context whose end the writer does not see, as if it came right
// after the writer looked.
type unseen struct{ context.Context }

func (unseen) Err() error { return nil }

// What a caller gave up may be stored yet, and its lines are its own until then,
// whatever others append meanwhile.
func TestAppendGivenUpKeepsItsLines(t *testing.T) {
	s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "log.db"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var want, got []string
	for i := range 10 {
		resume := holdWriter(s)
		ctx, cancel := context.WithCancel(t.Context())
		given := appendOne(unseen{ctx}, s, fmt.Sprintf("given-%d", i), 1)
		cancel()
		if err := <-given; !errors.Is(err, ErrUnavailable) {
			t.Errorf("Append whose context ended: %v, want ErrUnavailable", err)
		}
		other := appendOne(t.Context(), s, fmt.Sprintf("other-%d", i), 2)
		close(resume)
		if err := <-other; err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("given-%d", i), fmt.Sprintf("other-%d", i))
	}
	err = s.Records(t.Context(), Key{"t", "s"}, 0, func(_ int64, r Record) bool {
		got = append(got, r.ID())
		return true
	})
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("Records: %v, they differ (-appended +stored):\n%s", err, d)
	}
}

// holdWriter keeps the writer busy until the channel is closed.
func holdWriter(s *SQLite) (resume chan struct{}) {
	begun, resume := make(chan struct{}), make(chan struct{})
	go s.do(context.Background(), func(*tx) error {
		close(begun)
		<-resume
		return nil
	})
	<-begun
	return resume
}

// appendOne appends a record, and returns when so many jobs wait for the writer.
func appendOne(ctx context.Context, s *SQLite, id string, jobs int) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- s.Append(ctx, []Record{{Request: &Request{V: Version, ID: id, Key: Key{"t", "s"}, Epoch: 1}}}, nil)
	}()
	for len(s.write.jobs) < jobs {
		runtime.Gosched()
	}
	return done
}

// A fault of ours in one job is that caller's error, and undoes what it did.
func TestI10_PanicInTheWriter(t *testing.T) {
	s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "log.db"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	q := Record{Request: &Request{V: Version, ID: "r1", Key: Key{"t", "s"}, Epoch: 1, Thread: "main"}}
	err = s.do(t.Context(), func(tx *tx) error {
		pages, _, err := pack([]Record{q}, nil)
		if err := errors.Join(err, tx.append(pages, nil)); err != nil {
			return err
		}
		panic("a fault")
	})
	if err == nil || errors.Is(err, ErrUnavailable) || !strings.HasPrefix(err.Error(), "BUG: writing the log panicked with a string in ") || strings.Contains(err.Error(), "a fault") {
		t.Errorf("a job that panics gives %v, want where and with what type, and no more", err)
	}
	n := 0
	count := func(int64, Record) bool { n++; return true }
	if err := s.Records(t.Context(), Key{"t", "s"}, 0, count); err != nil || n != 0 {
		t.Errorf("after it there are %d records, %v; want none", n, err)
	}
	if err := errors.Join(s.Append(t.Context(), []Record{q}, nil), s.Records(t.Context(), Key{"t", "s"}, 0, count)); err != nil || n != 1 {
		t.Errorf("the record offered again: %d, %v; want it stored", n, err)
	}
}

// What is not there because a disk lost it must not pass for what never was.
func TestDamageIsNotAbsence(t *testing.T) {
	t.Parallel()
	k := Key{"t", "s"}
	f := func(name, damage string, ask func(s *SQLite) error) {
		t.Helper()
		s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "log.db"), Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for epoch := 1; epoch <= 3; epoch++ {
			a := &Anchor{V: Version, Key: k, Epoch: epoch, Decision: Bare, Why: "empty"}
			if _, err := s.Freeze(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"r1", "r2", "r3"} {
			if err := s.Append(t.Context(), []Record{{Request: &Request{V: Version, ID: id, Key: k, Epoch: 3, Thread: "main"}}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.ExecWrite(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		if err := ask(s); !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s after %q: %v, want ErrCorrupt", name, damage, err)
		}
	}
	current := func(s *SQLite) error {
		_, err := s.Current(t.Context(), k)
		return err
	}
	anchors := func(s *SQLite) error {
		_, err := s.Anchors(t.Context(), k)
		return err
	}
	freeze := func(s *SQLite) error {
		_, err := s.Freeze(t.Context(), &Anchor{V: Version, Key: k, Epoch: 3, Decision: Bare, Why: "other"})
		return err
	}
	records := func(s *SQLite) error {
		return s.Records(t.Context(), k, 0, func(int64, Record) bool { return true })
	}
	last := func(s *SQLite) error {
		_, _, err := s.Last(t.Context(), k, "main")
		return err
	}
	f("Current", `DELETE FROM anchor WHERE epoch = 3`, current)
	f("Freeze", `DELETE FROM anchor WHERE epoch = 3`, freeze)
	f("Current", `UPDATE session SET epoch = 2`, current)
	f("Current", `UPDATE anchor SET epoch = epoch - 1`, current)
	f("Current", `UPDATE anchor SET key = x'00'`, current)
	f("Current", `UPDATE session SET anchor = 2`, current)
	f("Anchors", `DELETE FROM anchor WHERE epoch = 1`, anchors)
	f("Anchors", `UPDATE anchor SET prev = 0`, anchors)
	f("Current", `UPDATE anchor SET doc = replace(doc, 'empty', 'other')`, current)
	f("Records", `DELETE FROM page WHERE id = 2`, records)
	f("Records", `DELETE FROM page WHERE id = 3`, records)
	f("Records", `UPDATE page SET prev = 0 WHERE id = 2`, records)
	f("Records", `UPDATE page SET key = x'00' WHERE id = 2`, records)
	f("Records", `UPDATE page SET lines = replace(lines, 'main', 'side') WHERE id = 2`, records)
	f("Last", `DELETE FROM page WHERE id = 3`, last)
	f("Last", `UPDATE session SET heads = x'00'`, last)
	f("Secret", `INSERT INTO secret VALUES ('name', x'00', 0)`, func(s *SQLite) error {
		_, err := s.Secret(t.Context(), "name")
		return err
	})
}
