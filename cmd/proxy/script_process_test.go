package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A process is a program in the background whose output can be waited for.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr output
	told           bool // it was sent SIGTERM
	ended          chan struct{}
	err            error // set when ended is closed
}

func startProcess(ts *testscript.TestScript, vars []string, name string, args ...string) *process {
	path := name
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			path = filepath.Join(dir, name)
			break
		}
	}
	p := &process{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Env = append([]string{"HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR"), "PATH=" + ts.Getenv("PATH")}, vars...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	ts.Check(p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
	})
	return p
}

func (p *process) wait() error {
	select {
	case <-p.ended:
		return p.err
	case <-time.After(patience):
		return fmt.Errorf("it still runs after %v", patience)
	}
}

// await returns what matches in an output, as soon as it does.
func (p *process) await(ts *testscript.TestScript, o *output, want *regexp.Regexp) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		text, changed := o.read()
		if m := want.FindString(text); m != "" {
			return m
		}
		select {
		case <-changed:
		case <-p.ended:
			if text, _ := o.read(); want.MatchString(text) {
				return want.FindString(text)
			}
			ts.Fatalf("%s ended (%v) before %q; stderr:\n%s", p.cmd, p.err, want, p.stderr.String())
		case <-ctx.Done():
			ts.Fatalf("%s never printed %q; stdout:\n%s\nstderr:\n%s", p.cmd, want, p.stdout.String(), p.stderr.String())
		}
	}
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
