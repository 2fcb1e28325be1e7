package faulttest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestI10_Overload: five times the load that limits.in_flight allows is shed
// with 503 and Retry-After; what is taken on is served, never more at a time
// than allowed; and when the load is gone so is the trouble.
func TestI10_Overload(t *testing.T) {
	const allowed = 8
	gate := &turnstile{}
	up := startRaw(t, gate.answer)
	st := newStage(t, with(fmt.Sprintf("limits: {in_flight: %d}\n", allowed)), func(st *stage) { st.upstream = up.url })
	p := st.start()
	var served, shed atomic.Int64
	over := time.Now().Add(loadTime())
	var load sync.WaitGroup
	for i := range 5 * allowed {
		load.Go(func() {
			c := newClient()
			defer leave(c)
			for n := 0; time.Now().Before(over) && !t.Failed(); n++ {
				switch got := st.once(c, p, newSession(forms[i%len(forms)], fmt.Sprint("s", i, "-", n/10), false)); {
				case got.looksWhole():
					served.Add(1)
				case got.status == 503 && got.retryAfter != "" && strings.Contains(string(got.answer), "limits.in_flight"):
					shed.Add(1)
				default:
					t.Errorf("%s got status %d, %v: %s", got.id, got.status, got.err, got.answer)
				}
			}
		})
	}
	load.Wait()
	t.Logf("%d served, %d shed, at most %d at a time", served.Load(), shed.Load(), gate.most.Load())
	if served.Load() == 0 || shed.Load() == 0 || gate.most.Load() > allowed {
		t.Errorf("%d served, %d shed, %d at a time; want some, some, at most %d", served.Load(), shed.Load(), gate.most.Load(), allowed)
	}
	for i := range 20 {
		st.say(p, newSession(forms[i%len(forms)], fmt.Sprint("after", i), false))
	}
	p.stop()
	st.verify(false)
}

// A turnstile is an upstream that takes its time and counts who is inside: one
// leaves before it is answered, so it never counts too many.
type turnstile struct{ inside, most atomic.Int64 }

func (g *turnstile) answer(c net.Conn, _ *rawRequest) bool {
	now := g.inside.Add(1)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
	pace(20 * time.Millisecond)
	g.inside.Add(-1)
	_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	return err == nil
}

// loadTime is how long a test keeps up a load.
func loadTime() time.Duration {
	if testing.Short() {
		return 500 * time.Millisecond
	}
	return 3 * time.Second
}

// once sends a turn with a client that is there already.
func (st *stage) once(c *http.Client, p *child, s *session) *try {
	t := s.newTry(1)
	st.trail.add(t)
	t.send(c, p.agents)
	return t
}

// TestI10_LargeEvents: an event of 40 MiB, in a stream of any dialect, coded, and
// as a document, passes whole and leaves the memory bounded.
func TestI10_LargeEvents(t *testing.T) {
	const size = 40 << 20
	stream := func(w io.Writer) { large(w, "event: content_block_delta\ndata: {\"type\":\"", "\"}\n\n", size) }
	document := func(w io.Writer) { large(w, `{"x":"`, `"}`, size) }
	var plain, whole, coded lengthAndSum
	var zipped bytes.Buffer
	z := gzip.NewWriter(io.MultiWriter(&zipped, &coded))
	stream(io.MultiWriter(&plain, z))
	_ = z.Close() // buffers take all
	document(&whole)
	kinds := map[string]func(io.Writer){"stream": stream, "document": document, "gzip": func(w io.Writer) { _, _ = w.Write(zipped.Bytes()) }}
	up := startRaw(t, func(c net.Conn, r *rawRequest) bool {
		_, _ = io.WriteString(c, largeHeads[r.header.Get("x-kind")])
		kinds[r.header.Get("x-kind")](c)
		return false
	})
	st := newStage(t, func(st *stage) { st.upstream = up.url })
	p := st.start()
	before := p.peakMemory()
	for _, form := range forms {
		st.fetchLarge(p, form, "stream", plain)
		st.fetchLarge(p, form, "gzip", coded)
		st.fetchLarge(p, form, "document", whole)
	}
	grown := p.peakMemory() - before
	t.Logf("memory grew by %d MiB over %d answers of 40 MiB", grown>>20, 3*len(forms))
	if grown > 96<<20 {
		t.Errorf("I10: memory grew by %d MiB", grown>>20)
	}
	p.stop()
	st.verify(false)
}

// large writes size bytes between a beginning and an end.
func large(w io.Writer, begin, end string, size int) {
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16/16)
	_, _ = io.WriteString(w, begin) // the proxy may hang up; the client then tells
	for range size / len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, end)
}

// largeHeads are the heads of such answers; they end with their connection.
var largeHeads = map[string]string{
	"stream":   "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n",
	"gzip":     "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n",
	"document": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n",
}

// A lengthAndSum is what is kept of bytes.
type lengthAndSum struct {
	n int
	h hash.Hash
}

func (l *lengthAndSum) Write(p []byte) (int, error) {
	if l.h == nil {
		l.h = sha256.New()
	}
	l.n += len(p)
	return l.h.Write(p)
}

// fetchLarge gets a large answer and compares it with what is sent.
func (st *stage) fetchLarge(p *child, f *form, kind string, want lengthAndSum) {
	st.t.Helper()
	s := newSession(f, "s", true)
	s.header = []string{"x-kind", kind, "accept-encoding", "gzip"}
	c := newClient()
	defer leave(c)
	req, err := s.newTry(1).request(p.agents)
	if err != nil {
		st.t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		st.t.Fatal(err)
	}
	defer resp.Body.Close()
	var got lengthAndSum
	_, err = io.Copy(&got, resp.Body)
	if err != nil || got.n != want.n || !bytes.Equal(got.h.Sum(nil), want.h.Sum(nil)) {
		st.t.Errorf("I8: %s, %s: status %d, %d bytes of %d, %v", f.name, kind, resp.StatusCode, got.n, want.n, err)
	}
}
