package proxy

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-9236c7ca/preface/prefixstore"
)

// stranger is what a provider sends that nobody asked for: an answer that looks
// like one.
const stranger = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n\"strange\""

// TestI6_SurplusIsNobodysAnswer: a provider sends more than the answer: in one
// piece with it, right after it, or while the connection waits for its next
// request. That request, another tenant's, is answered by what it asked for.
func TestI6_SurplusIsNobodysAnswer(t *testing.T) {
	f := func(name, method, answer string) {
		for _, secure := range []bool{false, true} {
			for _, when := range []string{"with", "after", "later"} {
				t.Run(name+" "+when+map[bool]string{true: " TLS"}[secure], func(t *testing.T) {
					b, sent := generous(t, answer, when, secure)
					if r := b.do(method, "/v1/models", "", "x-generous", "1"); r.err != nil {
						t.Fatalf("the first answer: %v", r.err)
					}
					close(sent.later)
					<-sent.all
					for range 3 {
						if r := b.post("/v1/messages", anthropicTurn, "x-api-key", "another"); string(r.body) != `"mine"` {
							t.Errorf("the next answer is %d %q, want %q", r.StatusCode, r.body, `"mine"`)
						}
					}
				})
			}
		}
	}
	f("length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	f("chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
	f("empty", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	f("204", "GET", "HTTP/1.1 204 No Content\r\n\r\n")
	f("head", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 49\r\n\r\n")
}

// surplus is how far a generous provider has come: later is closed to have it go
// on, all by itself once everything has arrived at its peer.
type surplus struct{ later, all chan struct{} }

// generous is a bench whose provider answers a request that says so with more
// than an answer, once, and all others with "mine".
func generous(t *testing.T, answer, when string, secure bool) (*bench, surplus) {
	s := surplus{make(chan struct{}), make(chan struct{})}
	cert, roots := selfSigned(t, "127.0.0.1")
	addr := accepting(t, func(raw net.Conn) {
		c := raw
		if secure {
			c = tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{cert}})
		}
		for br := bufio.NewReader(c); ; {
			req, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if req.Header.Get("x-generous") == "" {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\"mine\"")
				continue
			}
			s.give(c, answer, when)
			for !arrived(raw.(*net.TCPConn)) {
				runtime.Gosched()
			}
			close(s.all)
		}
	})
	scheme := map[bool]string{false: "http://", true: "https://"}[secure]
	b := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config = b.config(scheme + addr) })
	for _, u := range b.srv.current.Load().ups {
		if secure {
			u.tls.RootCAs = roots
		}
	}
	return b, s
}

func (s surplus) give(c net.Conn, answer, when string) {
	switch when {
	case "with":
		_, _ = io.WriteString(c, answer+stranger)
	case "after":
		_, _ = io.WriteString(c, answer)
		_, _ = io.WriteString(c, stranger)
	case "later":
		_, _ = io.WriteString(c, answer)
		<-s.later
		_, _ = io.WriteString(c, stranger)
	}
}

// arrived reports whether the peer's system has acknowledged all that was sent.
func arrived(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	waiting := 0
	if err := raw.Control(func(fd uintptr) { waiting, err = unix.IoctlGetInt(int(fd), unix.TIOCOUTQ) }); err != nil {
		return true // closed by now
	}
	return err != nil || waiting == 0
}
