package faulttest

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestI9_SentOnce: however the provider breaks off before its answer, it gets
// the request once, and the client is told that it may have been charged.
func TestI9_SentOnce(t *testing.T) {
	st := newStage(t)
	p := st.start()
	for _, f := range forms {
		st.say(p, newSession(f, "first-"+f.name, false)) // leaves a connection in the pool
		for _, fault := range []string{"reset", "cut=rst@0", "cut=fin@0", "bad-chunk@0", "length=+5"} {
			for _, stream := range []bool{false, true} {
				s := newSession(f, fmt.Sprint(f.name, fault, stream), stream)
				s.header = []string{"x-provider-fault", fault}
				got := st.attempt(p, s)
				if fault == "reset" && (got.status != 502 || got.shouldRetry != "false") {
					t.Errorf("%s, %s: status %d, x-should-retry %q, %v", f.name, fault, got.status, got.shouldRetry, got.err)
				}
				if n := len(st.trail.arrivals()[got.id]); n != 1 {
					t.Errorf("I9: %s, %s: the request arrived %d times, want once", f.name, fault, n)
				}
			}
		}
	}
	p.stop()
	st.trail.checkEnd(1)
}

// breakings are how an upstream ends a connection that it has read so much of.
var breakings = map[string]func(c net.Conn){
	"close": func(c net.Conn) { _ = c.Close() },
	"reset": func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); _ = c.Close() },
}

// TestI9_BrokenWhileSent: an upstream that hangs up in the middle of a request
// has got it once.
func TestI9_BrokenWhileSent(t *testing.T) {
	for how, end := range breakings {
		for _, after := range []int{1, 100, 20_000, 900_000} {
			t.Run(fmt.Sprint(how, " after ", after), func(t *testing.T) {
				seen := startHangingUp(t, after, end)
				st := newStage(t, func(st *stage) { st.upstream = seen.url })
				p := st.start()
				for _, f := range forms {
					s := newSession(f, "s", false)
					s.history = []string{fmt.Sprintf(f.user, strings.Repeat("x", 4<<20))}
					got := st.attempt(p, s)
					if got.looksWhole() {
						t.Errorf("%s: answered %q", f.name, got.answer)
					}
				}
				p.stop()
				if n := seen.count(); n != len(forms) {
					t.Errorf("I9: %d requests were begun %d times", len(forms), n)
				}
			})
		}
	}
}

// A hangingUp upstream reads so many bytes of each connection and ends it.
type hangingUp struct {
	url string

	mu    sync.Mutex // guards begun
	begun []int      // bytes read on each connection that had any
}

func (h *hangingUp) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.begun)
}

func startHangingUp(t *testing.T, after int, end func(net.Conn)) *hangingUp {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hangingUp{url: "http://" + ln.Addr().String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			n, _ := io.ReadFull(c, make([]byte, after)) // less is less
			if n > 0 {
				h.mu.Lock()
				h.begun = slices.Concat(h.begun, []int{n})
				h.mu.Unlock()
			}
			end(c)
		}
	})
	t.Cleanup(func() { _ = ln.Close(); serving.Wait() })
	return h
}
