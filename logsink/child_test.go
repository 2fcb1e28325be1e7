package logsink_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// Some faults need another process. It is this test binary, told by its
// environment what to be.
const childEnv = "LOGSINK_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(childMain(role, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// childMain runs a role; it ends when standard input does.
func childMain(role string, args []string) int {
	roles := map[string]func(path string) error{
		"lock": childLock, "hog": childHog, "write": childWrite, "open": childOpen, "read": childRead,
	}
	if err := roles[role](args[0]); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// childLock holds the write lock.
func childLock(path string) error {
	return holdLock(path, "BEGIN EXCLUSIVE")
}

// childHog lets nobody in at all.
func childHog(path string) error {
	return holdLock(path, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE secret SET name = name")
}

func holdLock(path, script string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(script); err != nil {
		return err
	}
	fmt.Println("locked")
	io.Copy(io.Discard, os.Stdin)
	return db.Close()
}

// childWrite appends records until it is stopped, and says of each "ok ID" when
// it is acknowledged, or "failed ID". A failed one is offered once more.
func childWrite(path string) error {
	l, err := logsink.OpenSQLite(context.Background(), path, logsink.Config{})
	if err != nil {
		return err
	}
	fmt.Println("open")
	input := watchInput()
	for i := 0; ; i++ {
		select {
		case <-input:
			return l.Close()
		default:
		}
		id := fmt.Sprintf("p%d-%d", os.Getpid(), i)
		k := logsink.Key{Tenant: "child", Session: fmt.Sprintf("s%d", i%3)}
		offer := func() error {
			if i%5 == 0 { // anchors now and then
				k.Session = id
				_, err := l.Freeze(context.Background(), logtest.Anchor(k, 1, "opener "+id))
				return err
			}
			return l.Append(context.Background(), []logsink.Record{logtest.Request(k, "main", id, "", i), logtest.Response(k, "main", id)}, nil)
		}
		if err := offer(); err != nil {
			if !errors.Is(err, logsink.ErrUnavailable) {
				return err
			}
			fmt.Println("failed", id, err)
			if offer() != nil {
				continue
			}
		}
		fmt.Println("ok", id)
	}
}

func watchInput() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	return ended
}

// childOpen only opens the log to write.
func childOpen(path string) error {
	l, err := logsink.OpenSQLite(context.Background(), path, logsink.Config{BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	return l.Close()
}

// childRead verifies the log.
func childRead(path string) error {
	r, err := logsink.OpenSQLiteReader(context.Background(), path, logsink.Config{})
	if err != nil {
		return err
	}
	defer r.Close()
	sum, err := logsink.Verify(context.Background(), r, nil, func(f logsink.Finding) {
		if !f.Gap { // the child's sessions have no anchor
			fmt.Println("finding:", f)
		}
	})
	fmt.Printf("read %d anchors %d requests\n", sum.Anchors, sum.Requests)
	return err
}

func less(n int) int { return max(1, n/slower) }

// A child is a running process of a role.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

// childEnviron also keeps the race detector from sleeping for a second at exit.
func childEnviron(role string) []string {
	return append(os.Environ(), childEnv+"="+role, "GORACE=atexit_sleep_ms=0")
}

func startChild(t testing.TB, role, path string, wrapper ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(wrapper, self, path)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = childEnviron(role)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return &child{t, cmd, stdin, bufio.NewScanner(stdout)}
}

// line returns the next line of output, or "" at its end.
func (c *child) line() string {
	if c.out.Scan() {
		return c.out.Text()
	}
	return ""
}

func (c *child) expect(want string) {
	c.t.Helper()
	if got := c.line(); got != want {
		c.t.Fatalf("child says %q, want %q", got, want)
	}
}

// finish ends its input, and returns what else it says.
func (c *child) finish() []string {
	c.stdin.Close()
	var lines []string
	for c.out.Scan() {
		lines = append(lines, c.out.Text())
	}
	c.cmd.Wait()
	return lines
}

// kill ends it at once, and returns what else it had said.
func (c *child) kill() []string {
	c.cmd.Process.Kill()
	return c.finish()
}

// acknowledged returns the ids that lines say are stored, and all it tried.
func acknowledged(lines []string) (ok, failed []string) {
	for _, l := range lines {
		word, id, _ := strings.Cut(l, " ")
		id, _, _ = strings.Cut(id, " ")
		switch word {
		case "ok":
			ok = append(ok, id)
		case "failed":
			failed = append(failed, id)
		}
	}
	return ok, failed
}

// checkAcknowledged verifies a log and that all ids are in it, each once.
func checkAcknowledged(t testing.TB, path string, ids []string) {
	t.Helper()
	r, err := logsink.OpenSQLiteReader(t.Context(), path, logsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	there := map[string]int{}
	err = r.Records(t.Context(), logsink.Key{}, 0, func(_ int64, rec logsink.Record) bool {
		if rec.Response != nil {
			there[rec.ID()]++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Sessions(t.Context(), "", "", func(s logsink.SessionInfo) bool {
		if s.Epochs > 0 {
			there[s.Session]++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if there[id] != 1 {
			t.Errorf("acknowledged record %s is there %d times, want once", id, there[id])
		}
	}
	sum, err := logsink.Verify(t.Context(), r, nil, func(f logsink.Finding) {
		if !f.Gap {
			t.Errorf("log verify: %+v", f)
		}
	})
	if err != nil || !sum.OK() {
		t.Errorf("Verify = %+v, %v", sum, err)
	}
}

// checkIntegrity opens a log to write, which checks its structure.
func checkIntegrity(t testing.TB, path string) {
	t.Helper()
	l, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{})
	if err != nil {
		t.Fatalf("the log does not open after the fault: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
