package redistest

import (
	"os"
	"os/exec"
	"runtime"
)

// WaitFunction is where the goroutine is that waits for a running server: one
// for each. A test that looks for leaks while a shared server runs ignores it,
// with goleak.IgnoreAnyFunction(redistest.WaitFunction).
const WaitFunction = "github.com/seed-9236c7ca/preface/internal/redistest.(*process).run"

// A process is one life of a server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process was waited for
}

// launch starts cmd such that it dies with this process.
func launch(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		<-p.ended
		return nil, err
	}
	return p, nil
}

// run holds its thread for as long as the server lives: the kernel ends the
// server when the thread that started it ends, and Go may end any other.
func (p *process) run(started chan<- error) {
	defer close(p.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.cmd.SysProcAttr = dieWithParent()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // how it ended is in its log
	}
}

func (p *process) signal(sig os.Signal) { _ = p.cmd.Process.Signal(sig) }

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}
