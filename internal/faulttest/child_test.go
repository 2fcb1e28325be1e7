package faulttest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that another process or goroutine
// will do. It is far above what any of it takes, so it decides nothing but how
// long a broken test runs.
const patience = 60 * time.Second

// A child is one process of the program.
type child struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
	agents         string        // base URL for agents
	operators      string        // base URL for operators
	ended          chan struct{} // closed when it is over; cmd.ProcessState is then set
}

// children are those that run, by process id.
var children sync.Map

// running returns the process ids of those that are left.
func running() (pids []int) {
	children.Range(func(pid, _ any) bool { pids = append(pids, pid.(int)); return true })
	return pids
}

var startLine = regexp.MustCompile(`agents (\S+), operators (\S+),`)

// startChild starts the program and returns once it serves. It is killed, at the
// latest, when the test ends.
func startChild(t *testing.T, bin, dir string, env []string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(bin, args...), ended: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env = dir, append(os.Environ(), env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.stdout, &c.stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	children.Store(c.cmd.Process.Pid, true)
	go func() {
		_ = c.cmd.Wait() // its state tells more
		children.Delete(c.cmd.Process.Pid)
		close(c.ended)
	}()
	t.Cleanup(c.kill)
	places := c.await(&c.stdout, startLine)
	c.agents, c.operators = places[1], places[2]
	return c
}

// await returns what matches in an output as soon as it does.
func (c *child) await(o *output, want *regexp.Regexp) []string {
	c.t.Helper()
	over := time.After(patience)
	for {
		text, changed := o.read()
		if m := want.FindStringSubmatch(text); m != nil {
			return m
		}
		select {
		case <-changed:
		case <-c.ended:
			if m := want.FindStringSubmatch(o.String()); m != nil {
				return m
			}
			c.t.Fatalf("the program ended (%v) before it said %q; stderr:\n%s", c.cmd.ProcessState, want, c.stderr.String())
		case <-over:
			c.t.Fatalf("the program never said %q; stderr:\n%s", want, c.stderr.String())
		}
	}
}

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Fatal(err)
	}
}

// kill ends the program whatever it is doing, and waits for its end.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended
	<-c.ended
}

// over waits for the program's own end.
func (c *child) over() *os.ProcessState {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.t.Fatalf("the program still runs; stderr:\n%s", c.stderr.String())
	}
	return c.cmd.ProcessState
}

// stop asks the program to end and requires that it does so well.
func (c *child) stop() {
	c.t.Helper()
	c.signal(syscall.SIGTERM)
	if state := c.over(); !state.Success() {
		c.t.Errorf("after SIGTERM the program ended with %v; stderr:\n%s", state, c.stderr.String())
	}
}

// killed reports whether the program was ended by SIGKILL.
func (c *child) killed() bool {
	w, ok := c.over().Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}

// An output is what a process has written so far.
type output struct {
	mu      sync.Mutex // guards the following
	buf     bytes.Buffer
	changed chan struct{} // closed at the next write
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
	return o.buf.Write(p)
}

func (o *output) read() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.buf.String(), o.changed
}

func (o *output) String() string {
	s, _ := o.read()
	return s
}

// eventually waits for something that another process or goroutine will do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// pace has a load, a slow peer, or who looks again and again, take its time. No
// test's verdict depends on how long that is.
func pace(d time.Duration) { <-time.After(d) }

// within is eventually for what a checker judges: it reports whether it came
// true, soon enough for a run with a broken program to end.
func within(ok func() bool) bool {
	for deadline := time.Now().Add(patience / 4); !ok(); pace(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
