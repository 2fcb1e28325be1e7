package faulttest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A raw upstream reads requests and writes whatever bytes it is told to, framing
// included: what no well-behaved server would say.
type raw struct {
	url    string
	answer func(c net.Conn, r *rawRequest) (keep bool)
	done   sync.WaitGroup

	mu    sync.Mutex // guards the following
	conns map[net.Conn]bool
	over  bool
}

// A rawRequest is one request as it arrived.
type rawRequest struct {
	line   string
	header http.Header
	body   []byte
}

// startRaw serves until the test ends. answer is called for each request, from
// one goroutine per connection; it reports whether the connection goes on.
func startRaw(t *testing.T, answer func(c net.Conn, r *rawRequest) (keep bool)) *raw {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &raw{url: "http://" + ln.Addr().String(), answer: answer, conns: map[net.Conn]bool{}}
	u.done.Go(func() { u.accept(ln) })
	t.Cleanup(func() {
		_ = ln.Close() // it was open
		u.close()
		u.done.Wait()
	})
	return u
}

func (u *raw) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		u.mu.Lock()
		u.conns[c] = true
		over := u.over
		u.mu.Unlock()
		if over {
			_ = c.Close()
			return
		}
		u.done.Go(func() { u.serve(c) })
	}
}

func (u *raw) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	for c := range u.conns {
		_ = c.Close() // whoever uses it sees that
	}
}

func (u *raw) serve(c net.Conn) {
	defer func() {
		_ = c.Close()
		u.mu.Lock()
		delete(u.conns, c)
		u.mu.Unlock()
	}()
	in := bufio.NewReader(c)
	for {
		r, err := readRaw(in)
		if err != nil || !u.answer(c, r) {
			return
		}
	}
}

func readRaw(in *bufio.Reader) (*rawRequest, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	r := &rawRequest{line: strings.TrimSpace(line), header: http.Header{}}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			break
		}
		r.header.Add(name, strings.TrimSpace(value))
	}
	n, _ := strconv.Atoi(r.header.Get("content-length")) // absent: none
	r.body = make([]byte, n)
	_, err = io.ReadFull(in, r.body)
	return r, err
}

// talk is a connection of a client that writes what no library would.
func talk(t *testing.T, base, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// text is a try as it would be written to a connection.
func (t *try) text(extra ...string) string {
	var b bytes.Buffer
	b.WriteString("POST " + t.of.path + " HTTP/1.1\r\nHost: x\r\nx-api-key: " + t.of.key + "\r\n" + tryHeader + ": " + t.id + "\r\n" +
		t.of.idHeader + ": " + t.of.id + "\r\nContent-Length: " + strconv.Itoa(len(t.body)) + "\r\n")
	for i := 0; i+1 < len(extra); i += 2 {
		b.WriteString(extra[i] + ": " + extra[i+1] + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(t.body)
	return b.String()
}
