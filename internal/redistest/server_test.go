package redistest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRestartKeepsPortAndData(t *testing.T) {
	t.Parallel()
	s := Start(t, "appendonly yes", "appendfsync always")
	do(t, s, "SET", "k", "v\r\n\x00")
	addr, pid := s.Addr, s.PID()
	for name, end := range map[string]func(){"Kill": s.Kill, "Stop": s.Stop, "nothing": func() {}} {
		end()
		if name != "nothing" {
			if s.Running() {
				t.Errorf("Running() after %s = true", name)
			}
			if _, err := s.Do("PING"); err == nil {
				t.Errorf("PING after %s is answered", name)
			}
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		if v := do(t, s, "GET", "k"); v != "v\r\n\x00" {
			t.Errorf("GET after %s and Restart = %q, want what was set", name, v)
		}
	}
	if s.Addr != addr || s.PID() == pid {
		t.Errorf("after Restart: address %s and process %d, want %s and another than %d", s.Addr, s.PID(), addr, pid)
	}
}

func TestPlainServerForgets(t *testing.T) {
	t.Parallel()
	s := Start(t)
	do(t, s, "SET", "k", "v")
	s.Kill()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if v := do(t, s, "GET", "k"); v != nil {
		t.Errorf("GET after a restart without persistence = %v, want nil", v)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Pause()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatalf("a paused server refuses connections: %v", err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "PING\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 7)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read from a paused server = %d, %v; want a timeout", n, err)
	}
	s.Resume()
	_ = conn.SetReadDeadline(time.Time{})
	b := make([]byte, 7)
	if _, err := conn.Read(b); err != nil || string(b) != "+PONG\r\n" {
		t.Errorf("Read after Resume = %q, %v; want +PONG", b, err)
	}
	s.Pause() // and Stop must end it all the same
	s.Stop()
}

func TestStartWithPassword(t *testing.T) {
	t.Parallel()
	s := Start(t, "requirepass secret")
	var refused Error
	if _, err := s.Do("GET", "k"); !errors.As(err, &refused) || !strings.HasPrefix(string(refused), "NOAUTH") {
		t.Errorf("GET without a password: error %v, want NOAUTH", err)
	}
}

func TestBadConfigurationIsTold(t *testing.T) {
	t.Parallel()
	_, err := open(t.TempDir(), []string{"appendfsync sometimes"})
	if err == nil || !strings.Contains(err.Error(), "appendfsync sometimes") {
		t.Errorf("open with a bad line: error %v, want the server's own words", err)
	}
}

func TestTakenPortIsLeft(t *testing.T) {
	t.Parallel()
	s := Start(t)
	_, err := open(t.TempDir(), []string{fmt.Sprintf("port %d", s.Port)})
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("open on the port of another: error %v, want Address already in use", err)
	}
}

func TestInvariant2_LoopbackAndOwnFolder(t *testing.T) {
	t.Parallel()
	s := Start(t, "appendonly yes", "save 1 1")
	do(t, s, "SET", "k", "v")
	do(t, s, "SAVE")
	v := do(t, s, "CONFIG", "GET", "bind")
	if d := cmp.Diff([]any{"bind", "127.0.0.1"}, v); d != "" {
		t.Errorf("CONFIG GET bind: %s", d)
	}
	s.Stop()
	files, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	if d := cmp.Diff([]string{"appendonlydir", "dump.rdb", "log", "server.conf"}, files); d != "" {
		t.Errorf("files: %s", d)
	}
	if log, err := os.ReadFile(filepath.Join(s.Dir, "log")); err != nil || !bytes.Contains(log, []byte("Ready to accept connections")) {
		t.Errorf("the log does not tell of the start: %v", err)
	}
}

func TestSharedIsOne(t *testing.T) {
	t.Parallel()
	if a, b := Single(t), Single(t); a != b {
		t.Errorf("Single is at %s, then at %s", a.Addr, b.Addr)
	}
	if a, b := Cluster(t), Cluster(t); a != b {
		t.Errorf("Cluster is at %v, then at %v", a.Addrs(), b.Addrs())
	}
}

func TestMissingServerFailsTheTest(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	t.Setenv("PREFACE_REDIS", "")
	if _, err := open(t.TempDir(), nil); !errors.Is(err, errMissing) {
		t.Errorf("open without redis-server: error %v, want %v", err, errMissing)
	}
	t.Setenv("PREFACE_REDIS", "/nowhere/redis-server")
	if _, err := open(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "PREFACE_REDIS=") {
		t.Errorf("open with a wrong PREFACE_REDIS: error %v, want one that names it", err)
	}
}
