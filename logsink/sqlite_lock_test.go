package logsink_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// Fault 13: another process holds the write lock.
func TestFault13_LockedLogRefusesAndRecovers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	l, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{BusyTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first := logtest.Anchor(alice, 1, "before")
	if _, err := l.Freeze(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "lock", path)
	c.expect("locked")
	_, err = l.Freeze(t.Context(), logtest.Anchor(bob, 1, "locked"))
	if !errors.Is(err, logsink.ErrUnavailable) || !errors.Is(err, logsink.ErrLocked) || !strings.Contains(err.Error(), "log.busy_timeout") {
		t.Errorf("Freeze while another process has the lock: %v, want ErrLocked with its setting", err)
	}
	if err := l.Append(t.Context(), []logsink.Record{record(1)}, nil); !errors.Is(err, logsink.ErrUnavailable) {
		t.Errorf("Append while another process has the lock: %v, want ErrUnavailable", err)
	}
	if a, err := l.Current(t.Context(), alice); err != nil || a.Prefix != first.Prefix {
		t.Errorf("Current while another process has the lock = %v, %v; want the anchor", a, err)
	}
	// The lock may come to an end while somebody waits for it.
	c.finish()
	if _, err := l.Freeze(t.Context(), logtest.Anchor(bob, 1, "after")); err != nil {
		t.Errorf("Freeze after the lock was given back: %v", err)
	}
	if err := l.Append(t.Context(), []logsink.Record{record(1)}, nil); err != nil {
		t.Errorf("Append after the lock was given back: %v", err)
	}
}

// I10: no caller waits longer than its context, even for a lock.
func TestI10_LockedLogKeepsDeadlines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	l, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "lock", path)
	c.expect("locked")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = l.Freeze(ctx, logtest.Anchor(alice, 1, "text"))
	if !errors.Is(err, logsink.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Freeze with a deadline: %v, want ErrUnavailable and DeadlineExceeded", err)
	}
	c.finish()
	l.Close()
}

func TestFault13_LockedLogDoesNotOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	openLog(t, path).Close()
	for _, role := range []string{"lock", "hog"} {
		c := startChild(t, role, path)
		c.expect("locked")
		_, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{BusyTimeout: 20 * time.Millisecond})
		plainError(t, err, logsink.ErrLocked)
		c.finish()
		checkIntegrity(t, path)
	}
}

// Two proxies may write one file, and a third process may read it.
func TestI4_ProcessesShareALog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	openLog(t, path).Close()
	writers := []*child{startChild(t, "write", path), startChild(t, "write", path)}
	var all []string
	for _, w := range writers {
		w.expect("open")
	}
	for range 10 + less(50) {
		for _, w := range writers {
			all = append(all, w.line())
		}
	}
	if out := startChild(t, "read", path).finish(); len(out) != 1 || !strings.HasPrefix(out[0], "read ") {
		t.Errorf("a reader of a log that two processes write says %q, want no finding", out)
	}
	for _, w := range writers {
		all = append(all, w.finish()...)
	}
	// One may find the lock taken at each try, for SQLite keeps no queue; such a
	// record was not acknowledged.
	ok, _ := acknowledged(all)
	if len(ok) < less(100) {
		t.Errorf("%d acknowledged, want %d or more", len(ok), less(100))
	}
	checkAcknowledged(t, path, ok)
	checkIntegrity(t, path)
}

// plainError wants one line that begins with what could not be done, names the
// path, wraps the sentinel, and says what to do.
func plainError(t testing.TB, err, sentinel error) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Errorf("error is %v, want %v", err, sentinel)
		return
	}
	text := err.Error()
	if strings.ContainsAny(text, "\n\r") || !strings.HasPrefix(text, "cannot ") || !strings.Contains(text, "header log /") || !strings.Contains(text, "log.") && !strings.Contains(text, "restore") {
		t.Errorf("error is %q, want one line with the path that says what to do", text)
	}
}
