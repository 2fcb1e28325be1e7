package faulttest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// TestI1_RedisDiskFull: the disk under the server's append-only file is full. One
// that syncs each write exits then; one that syncs every second tells so of
// writes, after it has taken one more. Either way new sessions are refused and
// known ones go on; when there is space again, nothing is missing of what was
// acknowledged.
func TestI1_RedisDiskFull(t *testing.T) {
	for _, c := range []struct {
		appendfsync, durability string
		exits                   bool
	}{
		{"always", "fsync", true},
		{"everysec", "memory", false},
	} {
		t.Run(c.appendfsync, func(t *testing.T) {
			t.Parallel()
			disk := smallDisk(t)
			s := redistest.Start(t, "appendonly yes", "appendfsync "+c.appendfsync, "dir "+disk)
			st := newStage(t, over(s.URL(), "durability: "+c.durability+", timeout: 1s"))
			p := st.start()
			k := &known{st: st, p: p}
			k.begin("known")
			fill(t, disk)
			refused := []*session{st.untilRefused(p)}
			eventually(t, fmt.Sprintf("the server exits: %v", c.exits), func() bool { return s.Running() == !c.exits })
			k.turn()
			for _, f := range forms {
				refused = append(refused, newSession(f, "late-"+f.name, false))
			}
			st.refuses(p, refused...)
			k.turn()
			empty(t, disk)
			if c.exits {
				restart(t, s)
			}
			for _, r := range refused {
				st.insist(p, r)
			}
			restart(t, s) // as an operator does it
			k.begin("new")
			k.turn()
			p.stop()
			st.trail.checkEnd(1)
		})
	}
}

// known are sessions that go on, one of each dialect for each beginning.
type known struct {
	st   *stage
	p    *child
	list []*session
}

// begin has sessions take their first turn.
func (k *known) begin(name string) {
	k.st.t.Helper()
	for _, f := range forms {
		s := newSession(f, name+"-"+f.name, false)
		k.list = append(k.list, s)
		k.st.insist(k.p, s)
	}
}

// turn has each take a turn, which must not fail.
func (k *known) turn() {
	k.st.t.Helper()
	for _, s := range k.list {
		s.hear(k.st.say(k.p, s).answer)
	}
}

// untilRefused begins a session after another until one is refused, and returns
// that: the last block of the file may take some, and so may a server's memory.
func (st *stage) untilRefused(p *child) *session {
	st.t.Helper()
	for i := range 100 {
		s := newSession(forms[i%len(forms)], fmt.Sprint("full", i), false)
		if got := st.attempt(p, s); got.status == 503 {
			return s
		} else if !got.looksWhole() {
			st.t.Errorf("%s, the disk full: status %d, %v: %s", s.id, got.status, got.err, got.answer)
		}
	}
	st.t.Fatal("I1: with a full disk a hundred sessions began")
	return nil
}

// refuses requires that sessions are refused and told to come again, and that the
// provider sees nothing of them.
func (st *stage) refuses(p *child, sessions ...*session) {
	st.t.Helper()
	before := len(st.up.Received())
	for _, s := range sessions {
		got := st.attempt(p, s)
		if got.status != 503 || got.retryAfter == "" || got.shouldRetry != "true" {
			st.t.Errorf("I1: %s: status %d, retry-after %q, x-should-retry %q, %v; want 503 and to retry: %s", s.id, got.status, got.retryAfter, got.shouldRetry, got.err, got.answer)
		}
	}
	if n := len(st.up.Received()) - before; n != 0 {
		st.t.Errorf("I1: the provider saw %d requests, want none", n)
	}
}

func restart(t *testing.T, s *redistest.Server) {
	t.Helper()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
}

// smallDisk is a disk of 3 MB as long as the test.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("cannot mount a small tmpfs (root can): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("cannot unmount the small tmpfs: %v", err)
		}
	})
	return dir
}

func ballast(disk string) string { return filepath.Join(disk, "ballast") }

// fill writes to a disk until it is full.
func fill(t *testing.T, disk string) {
	t.Helper()
	f, err := os.Create(ballast(disk))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
}

// empty frees what fill took.
func empty(t *testing.T, disk string) {
	t.Helper()
	if err := os.Remove(ballast(disk)); err != nil {
		t.Fatal(err)
	}
}
