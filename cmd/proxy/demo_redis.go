package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A demoRedis is a server of the demo's own, Redis or Valkey: on a free port of
// this machine, with its data in a folder, syncing each write to disk.
type demoRedis struct {
	program string
	dir     string // absolute
	port    string
	cmd     *exec.Cmd
	said    *serverOutput
	ended   chan struct{} // closed when the process was waited for
}

// How long the server may take to begin and to end; it takes a moment.
const (
	redisStart = 20 * time.Second
	redisStop  = 5 * time.Second
)

// redisTries is how many ports are tried: another program may take one between
// the choice and the start.
const redisTries = 5

// startRedis starts a server with its data in dir, which it makes.
func startRedis(ctx context.Context, dir string) (*demoRedis, error) {
	program, err := findRedis()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		r := &demoRedis{program: program, dir: dir}
		if err = r.start(ctx); err == nil {
			return r, nil
		}
		if try == redisTries || !strings.Contains(err.Error(), "Address already in use") {
			return nil, fmt.Errorf("cannot start %s: %w", program, err)
		}
	}
}

func findRedis() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("cannot find redis-server or valkey-server, in which the replicas keep their log: install one (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis), or leave out -replicas")
}

// start runs the server and returns once it takes connections.
func (r *demoRedis) start(ctx context.Context) error {
	if err := r.writeConfig(ctx); err != nil {
		return err
	}
	r.said, r.ended = &serverOutput{begun: make(chan struct{})}, make(chan struct{})
	r.cmd = exec.Command(r.program, r.configPath())
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr, r.cmd.SysProcAttr = r.dir, r.said, r.said, childAttr()
	started := make(chan error)
	go r.run(started)
	if err := <-started; err != nil {
		<-r.ended
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, redisStart, fmt.Errorf("it takes no connections after %v", redisStart))
	defer cancel()
	select {
	case <-r.said.begun:
		return nil
	case <-r.ended:
		return fmt.Errorf("it ended at once:\n%s", r.said.tail())
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), r.stop())
	}
}

// run holds its thread for as long as the server lives: on Linux the kernel ends
// the server when the thread that started it ends, and Go may end any other.
func (r *demoRedis) run(started chan<- error) {
	defer close(r.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := r.cmd.Start()
	started <- err
	if err == nil {
		_ = r.cmd.Wait() // stop tells what it said
	}
}

// writeConfig chooses a port and writes what the server is started with.
func (r *demoRedis) writeConfig(ctx context.Context) (err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		return err
	}
	r.port = port
	text := fmt.Sprintf("bind 127.0.0.1\nport %s\ndir %s\nsave \"\"\nappendonly yes\nappendfsync always\n", port, strconv.Quote(r.dir))
	return os.WriteFile(r.configPath(), []byte(text), 0o600)
}

func (r *demoRedis) configPath() string { return filepath.Join(r.dir, "redis.conf") }

func (r *demoRedis) url() string { return "redis://127.0.0.1:" + r.port }

// stop ends the server. It is an error if it had ended by itself.
func (r *demoRedis) stop() error {
	if r == nil {
		return nil
	}
	select {
	case <-r.ended:
		return fmt.Errorf("%s ended by itself:\n%s", r.program, r.said.tail())
	default:
	}
	_ = r.cmd.Process.Signal(syscall.SIGTERM) // it may end this moment
	select {
	case <-r.ended:
	case <-time.After(redisStop):
		_ = r.cmd.Process.Kill()
		<-r.ended
	}
	return nil
}

// A serverOutput keeps what the server says. It is written by one goroutine,
// which ends with the server.
type serverOutput struct {
	text  bytes.Buffer
	begun chan struct{} // closed when it has said that it takes connections
	told  bool          // begun is closed
}

func (o *serverOutput) Write(p []byte) (int, error) {
	o.text.Write(p)
	if !o.told && bytes.Contains(o.text.Bytes(), []byte("Ready to accept connections")) {
		o.told = true
		close(o.begun)
	}
	return len(p), nil
}

// tail is the end of what the server said. It must have ended.
func (o *serverOutput) tail() string {
	lines := strings.Split(strings.TrimSpace(o.text.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
