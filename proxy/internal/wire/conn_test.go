package wire

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is a watched connection and its peer.
func pair(t *testing.T, w *Watcher, writeIdle time.Duration) (*Conn, *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	peer, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	wc, err := NewConn(c.(*net.TCPConn), w, writeIdle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wc.Close() })
	return wc, peer.(*net.TCPConn)
}

func watcher(t *testing.T) *Watcher {
	t.Helper()
	w, err := NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// TestI7_WatcherNotices: whatever way the peer leaves, and whether or not it
// left unread bytes behind.
func TestI7_WatcherNotices(t *testing.T) {
	f := func(name string, leave func(peer *net.TCPConn)) {
		t.Run(name, func(t *testing.T) {
			c, peer := pair(t, watcher(t), 0)
			gone := make(chan struct{})
			c.OnGone(func() { close(gone) })
			leave(peer)
			<-gone
			if !c.Gone() {
				t.Error("Gone() = false after OnGone was called")
			}
		})
	}
	f("close", func(p *net.TCPConn) { p.Close() })
	f("reset", func(p *net.TCPConn) { _ = p.SetLinger(0); p.Close() })
	f("half-close", func(p *net.TCPConn) { _ = p.CloseWrite() })
	f("unread bytes before", func(p *net.TCPConn) { _, _ = p.Write([]byte("GET / HTTP/1.1\r\n")); p.Close() })
}

func TestOnGoneAfterThePeerLeft(t *testing.T) {
	c, peer := pair(t, watcher(t), 0)
	gone := make(chan struct{})
	c.OnGone(func() { close(gone) })
	peer.Close()
	<-gone
	called := 0
	c.OnGone(func() { called++ })
	if called != 1 {
		t.Errorf("OnGone on a connection whose peer had left called %d times, want 1", called)
	}
}

// TestWatcherTellsTheRightConn: descriptors are used again at once; news of a
// closed connection must not reach the next one.
func TestWatcherTellsTheRightConn(t *testing.T) {
	w := watcher(t)
	for range 200 {
		c, peer := pair(t, w, 0)
		peer.Close()
		c.Close()
		next, _ := pair(t, w, 0)
		if next.Gone() {
			t.Fatal("a fresh connection was told that its peer had left")
		}
		next.Close()
	}
}

func TestReadIdle(t *testing.T) {
	c, peer := pair(t, watcher(t), 0)
	if err := c.SetReadIdle(40 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	if n, err := c.Read(b[:]); n != 1 || err != nil {
		t.Fatalf("Read = %d, %v", n, err)
	}
	_, err := c.Read(b[:])
	if !os.IsTimeout(err) {
		t.Errorf("Read of a silent connection = %v, want a timeout", err)
	}
	if err := c.SetReadIdle(0); err != nil {
		t.Fatal(err)
	}
	peer.Close()
	if _, err := c.Read(b[:]); err != io.EOF {
		t.Errorf("Read after the deadline was lifted = %v, want EOF", err)
	}
}

// TestI10_WriteIdle: a peer that stops reading is given up.
func TestI10_WriteIdle(t *testing.T) {
	c, peer := pair(t, watcher(t), 50*time.Millisecond)
	_ = peer.SetReadBuffer(4 << 10)
	_, err := c.Write([]byte(strings.Repeat("x", 32<<20)))
	if !os.IsTimeout(err) {
		t.Errorf("Write to a peer that does not read = %v, want a timeout", err)
	}
}

func TestWriteBuffers(t *testing.T) {
	c, peer := pair(t, watcher(t), time.Minute)
	bufs := net.Buffers{[]byte("ab"), nil, []byte("cde")}
	if n, err := c.WriteBuffers(&bufs); n != 5 || err != nil {
		t.Fatalf("WriteBuffers = %d, %v", n, err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(peer, got); err != nil || string(got) != "abcde" {
		t.Errorf("peer read %q, %v; want %q", got, err, "abcde")
	}
}

// TestUnread: what has come and was not read, also where reads would time out.
func TestUnread(t *testing.T) {
	c, peer := pair(t, watcher(t), 0)
	f := func(when string, want bool) {
		if got := c.Unread(); got != want {
			t.Errorf("%s: Unread() = %v, want %v", when, got, want)
		}
	}
	f("at first", false)
	b := []byte("xy")
	if _, err := peer.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(b[:1]); err != nil { // of two bytes that came together
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	f("after one of two bytes", true)
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(b[:1]); err != nil {
		t.Fatal(err)
	}
	f("after both", false)
	c.Close()
	f("after Close", false)
}
