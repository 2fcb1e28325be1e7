package redistest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Server is one server that can be killed and started again. Its methods may
// be called from any goroutine.
type Server struct {
	Addr string // 127.0.0.1:port
	Port int
	Dir  string // its data, its configuration, and "log"

	sentinel bool // immutable

	// life is the present or last process. Both are changed under mu.
	mu     sync.Mutex
	life   *process
	paused bool
}

// Start starts a server that lives as long as the test, without persistence and
// without a password. Lines of conf, such as "appendonly yes", come after those
// settings and override them.
func Start(t testing.TB, conf ...string) *Server {
	t.Helper()
	s, err := open(t.TempDir(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// plain is the configuration of every server but sentinels. A replica is linked
// at once, not after the five seconds in which others might come.
var plain = []string{
	`save ""`,
	"appendonly no",
	"repl-diskless-sync-delay 0",
	"repl-ping-replica-period 1",
}

func open(dir string, conf []string) (*Server, error) {
	return openAs(dir, false, append(plain[:len(plain):len(plain)], conf...))
}

// openAs starts a server in dir, on another port if somebody takes the first
// between the choice and the start.
func openAs(dir string, sentinel bool, conf []string) (*Server, error) {
	for try := 1; ; try++ {
		s, err := place(dir, sentinel, conf)
		if err != nil {
			return nil, err
		}
		if err = s.start(); err == nil {
			return s, nil
		}
		if try == 5 || !strings.Contains(err.Error(), "Address already in use") {
			return nil, err
		}
	}
}

// place chooses a port and writes the configuration, which is the server's from
// then on: sentinels and CONFIG REWRITE change it.
func place(dir string, sentinel bool, conf []string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	lines := append([]string{
		"port " + strconv.Itoa(port),
		"bind 127.0.0.1",
		"dir " + strconv.Quote(dir),
		"daemonize no",
	}, conf...)
	text := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "server.conf"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	return &Server{Addr: "127.0.0.1:" + strconv.Itoa(port), Port: port, Dir: dir, sentinel: sentinel}, nil
}

// start runs the server and waits until it answers.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life != nil && s.life.running() {
		return fmt.Errorf("cannot start the server at %s: it runs", s.Addr)
	}
	life, err := s.launch()
	if err != nil {
		return fmt.Errorf("cannot start a server at %s: %w", s.Addr, err)
	}
	s.life, s.paused = life, false
	err = await("an answer from "+s.Addr, func() error { return s.answers(life) })
	if !life.running() {
		return fmt.Errorf("the server at %s ended at once:\n%s", s.Addr, s.logTail())
	}
	if err != nil {
		life.signal(syscall.SIGKILL)
		<-life.ended
	}
	return err
}

func (s *Server) launch() (*process, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(path, filepath.Join(s.Dir, "server.conf"))
	if s.sentinel {
		cmd.Args = append(cmd.Args, "--sentinel")
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, out, out
	return launch(cmd)
}

// answers has no objection when the server is ready, or has ended and never will
// be. A refusal for want of a password or of a master is an answer too.
func (s *Server) answers(life *process) error {
	if !life.running() {
		return nil
	}
	_, err := s.Do("PING")
	var refused Error
	if errors.As(err, &refused) && !strings.HasPrefix(string(refused), "LOADING") {
		return nil
	}
	return err
}

// logTail is the end of what the server said.
func (s *Server) logTail() string {
	b, err := os.ReadFile(filepath.Join(s.Dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b[max(0, len(b)-2000):]))
}

// URL is the server's address as a client's setting.
func (s *Server) URL() string { return "redis://" + s.Addr }

// PID is the process id of the present or last life.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life.cmd.Process.Pid
}

// Kill ends the server with SIGKILL and returns when it is gone.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life.signal(syscall.SIGKILL)
	<-s.life.ended
}

// Stop ends the server as an operator would, with SIGTERM, and returns when it
// is gone. One that does not go within ten seconds is killed.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life.signal(syscall.SIGCONT)
	s.life.signal(syscall.SIGTERM)
	select {
	case <-s.life.ended:
	case <-time.After(10 * time.Second):
		s.life.signal(syscall.SIGKILL)
		<-s.life.ended
	}
}

// Restart starts the server again, on the same port and with the data that it
// has on disk, and returns when it answers. If it runs it is stopped first.
func (s *Server) Restart() error {
	s.Stop()
	return s.start()
}

// Pause stops the server in its tracks, with SIGSTOP: connections are accepted by
// the kernel and nothing is answered.
func (s *Server) Pause() { s.pause(syscall.SIGSTOP, true) }

// Resume ends a Pause.
func (s *Server) Resume() { s.pause(syscall.SIGCONT, false) }

func (s *Server) pause(sig os.Signal, paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life.signal(sig)
	s.paused = paused
}

// Running says whether the server could answer: it lives and is not paused.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life.running() && !s.paused
}

// Version says which program this is, such as "redis-server 7.0.15".
func (s *Server) Version() (string, error) {
	if v, err := s.field("valkey_version", "INFO", "server"); v != "" || err != nil {
		return "valkey-server " + v, err
	}
	v, err := s.field("redis_version", "INFO", "server")
	return "redis-server " + v, err
}
