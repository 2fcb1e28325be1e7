package netfault

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/internal/redistest"
)

func TestMain(m *testing.M) {
	code := redistest.Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// echo starts a server that answers every line with itself, so that a line
// "+a\r\n" is a command to itself and a reply to its sender. It remembers what
// arrived.
func echo(t *testing.T) *echoServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &echoServer{addr: l.Addr().String(), arrived: make(chan string, 10_000)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return s
}

type echoServer struct {
	addr    string
	arrived chan string // lines, and "EOF" or "reset" for the end of a connection
}

func (s *echoServer) serve(c net.Conn) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			s.arrived <- line + "EOF"
			return
		}
		if err != nil {
			s.arrived <- line + "reset"
			return
		}
		s.arrived <- line
		_, _ = io.WriteString(c, line)
	}
}

// dial opens a connection through p that is closed before the proxy is.
func dial(t *testing.T, p *Proxy) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second)) // a test that hangs fails
	return c.(*net.TCPConn)
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

// want reads as much as it wants.
func want(t *testing.T, c net.Conn, s string) {
	t.Helper()
	b := make([]byte, len(s))
	if n, err := io.ReadFull(c, b); err != nil || string(b) != s {
		t.Fatalf("read %q, %v; want %q", b[:n], err, s)
	}
}

// wantEnd reads until the end, an orderly one or a reset, before which s comes.
func wantEnd(t *testing.T, c net.Conn, s string) {
	t.Helper()
	b, err := io.ReadAll(c)
	if err != nil && !strings.Contains(err.Error(), "reset") || string(b) != s {
		t.Fatalf("read %q, %v before the end; want %q", b, err, s)
	}
}

// wantNothing reads for a moment. It may overlook what comes later, but does not
// see what is not there.
func wantNothing(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	defer c.SetReadDeadline(time.Now().Add(30 * time.Second))
	b := make([]byte, 100)
	if n, err := c.Read(b); n > 0 || !os.IsTimeout(err) {
		t.Fatalf("read %q, %v; want nothing", b[:n], err)
	}
}
