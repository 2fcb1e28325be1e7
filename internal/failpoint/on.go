//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Enabled tells code that would write differently so that a point can lie
// between two writes.
const Enabled = true

// A plan is what FAILPOINT says.
type plan struct {
	name   string
	nth    int64
	action string
	hits   atomic.Int64
}

var active = parse(os.Getenv("FAILPOINT"))

func parse(s string) *plan {
	name, rest, ok := strings.Cut(s, ":")
	if !ok {
		return nil
	}
	nth, action, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("cannot read FAILPOINT=%q: want NAME:NTH:ACTION", s))
	}
	return &plan{name: name, nth: n, action: action}
}

// Hit does what FAILPOINT asks for at this point.
func Hit(name string) {
	if active == nil || active.name != name || active.hits.Add(1) != active.nth {
		return
	}
	sleep, isSleep := strings.CutPrefix(active.action, "sleep=")
	switch {
	case active.action == "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	case active.action == "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(20 * time.Millisecond) // the signal is on its way to all threads
	case active.action == "panic":
		panic("failpoint " + name)
	case isSleep:
		d, _ := time.ParseDuration(sleep) // a bad one does not sleep
		time.Sleep(d)
	}
}
