package faulttest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// A wildStream is an answer in any shape that a stream can have.
type wildStream struct {
	rng *rand.Rand
	b   bytes.Buffer
}

// A wildBody is a wild stream as it is sent.
type wildBody struct {
	body   []byte
	coding string
	sum    [sha256.Size]byte
}

// wildBodies makes some of them.
func wildBodies(n uint64) (list []wildBody) {
	for seed := range n {
		w := &wildStream{rng: rand.New(rand.NewPCG(23, seed))}
		var b wildBody
		b.body, b.coding = w.write()
		b.sum = sha256.Sum256(b.body)
		list = append(list, b)
	}
	return list
}

func (w *wildStream) write() (body []byte, coding string) {
	for range 1 + w.rng.IntN(12) {
		w.event()
	}
	if w.rng.IntN(4) == 0 { // it ends in the middle of something
		w.b.Truncate(w.b.Len() - w.rng.IntN(min(w.b.Len(), 20)))
	}
	if w.rng.IntN(4) != 0 {
		return w.b.Bytes(), ""
	}
	var z bytes.Buffer
	gz := gzip.NewWriter(&z)
	_, _ = gz.Write(w.b.Bytes()) // a buffer takes all
	_ = gz.Close()
	return z.Bytes(), "gzip"
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// event writes an event: known or unknown, whole or odd, with any line ends.
func (w *wildStream) event() {
	if w.rng.IntN(3) == 0 {
		w.line(pick(w.rng, ": comment", ":", "retry: 10", "id: 7", "event", "data", "unknown: x", "\ufeffdata: {}", "event:ping"))
	}
	if w.rng.IntN(3) > 0 {
		w.line("event: " + pick(w.rng, "message_start", "content_block_delta", "message_delta", "ping", "error", "message_stop",
			"response.completed", "response.created", "response.unheard_of", "\u00fcn\u00efcode"))
	}
	for range 1 + w.rng.IntN(2) {
		w.line("data: " + w.data())
	}
	w.line("")
}

// line ends a line in one of the three ways.
func (w *wildStream) line(s string) { w.b.WriteString(s + pick(w.rng, "\n", "\n", "\r\n", "\r")) }

func (w *wildStream) data() string {
	text := pick(w.rng, "", "hello", "\u00e9\u4e2d\U0001f600 split me", `\u00e9\ud83d\ude00`, "\x00\x01", string(bytes.Repeat([]byte("x"), w.rng.IntN(600))))
	n := w.rng.IntN(1000)
	return pick(w.rng,
		fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","usage":{"input_tokens":%d,"cache_read_input_tokens":3,"output_tokens":1}}}`, n, n),
		fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}`, text),
		fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":%d}}`, n),
		`{"type":"message_stop"}`, `[DONE]`, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`,
		fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"%s"}}],"usage":null}`, text),
		fmt.Sprintf(`{"id":"c","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}}`, n),
		fmt.Sprintf(`{"type":"response.completed","response":{"id":"r","status":"completed","usage":{"input_tokens":%d,"output_tokens":1}}}`, n),
		`{"usage":{"input_tokens":-1e400,"output_tokens":"7"}}`, `{"usage":[[[`, "not json "+text, "{", "")
}

// sendWild answers with one of the bodies, in chunks that the seed in the header
// x-seed decides, framed in any of the ways there are, in random writes.
func sendWild(bodies []wildBody) func(net.Conn, *rawRequest) bool {
	return func(c net.Conn, r *rawRequest) bool {
		seed, _ := strconv.ParseUint(r.header.Get("x-seed"), 10, 64) // the test wrote it
		b := bodies[seed%uint64(len(bodies))]
		out := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
		if b.coding != "" {
			out = append(out, "Content-Encoding: "+b.coding+"\r\n"...)
		}
		rng := rand.New(rand.NewPCG(24, seed))
		out, keep := frame(out, b.body, rng)
		for len(out) > 0 {
			n := 1 + rng.IntN(len(out))
			if _, err := c.Write(out[:n]); err != nil {
				return false
			}
			out = out[n:]
		}
		return keep
	}
}

// frame writes the rest of the head, and the body.
func frame(out, body []byte, rng *rand.Rand) (framed []byte, keep bool) {
	switch rng.IntN(8) {
	case 0:
		out = append(strconv.AppendInt(append(out, "Content-Length: "...), int64(len(body)), 10), "\r\n\r\n"...)
		return append(out, body...), true
	case 1:
		return append(append(out, "Connection: close\r\n\r\n"...), body...), false
	}
	out = append(out, "Transfer-Encoding: chunked\r\n\r\n"...)
	most := pick(rng, 3, 40, 400, 4000)
	for len(body) > 0 {
		n := min(len(body), 1+rng.IntN(most))
		out = append(strconv.AppendInt(append(out, pick(rng, "", "", "0", "000")...), int64(n), 16), pick(rng, "", "", "", ";a=b", " ; q=\"x\"")...)
		out = append(append(append(out, "\r\n"...), body[:n]...), "\r\n"...)
		body = body[n:]
	}
	return append(out, pick(rng, "0\r\n\r\n", "0\r\n\r\n", "000\r\nX-Trailer: 1\r\n\r\n")...), true
}

// TestI8_AnswersVerbatim: streams of every shape, in ten thousand random
// chunkings, arrive as they were sent.
func TestI8_AnswersVerbatim(t *testing.T) {
	chunkings := uint64(10_000)
	if testing.Short() {
		chunkings = 500
	}
	bodies := wildBodies(599) // a prime: every body meets every dialect
	up := startRaw(t, sendWild(bodies))
	st := newStage(t, func(st *stage) { st.upstream = up.url })
	p := st.start()
	var next atomic.Uint64
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			c := newClient()
			defer leave(c)
			for seed := next.Add(1); seed <= chunkings && !t.Failed(); seed = next.Add(1) {
				s := newSession(forms[seed%3], fmt.Sprint("w", i, seed%3), true)
				if err := fetchWild(c, p.agents, s, seed, bodies[seed%uint64(len(bodies))].sum); err != nil {
					t.Errorf("I8: chunking %d: %v", seed, err)
				}
			}
		})
	}
	clients.Wait()
	if n := p.metric("preface_panics_total"); n != 0 {
		t.Errorf("%v panics; stderr:\n%s", n, p.stderr.String())
	}
	p.stop()
	st.verify(false)
}

// fetchWild gets a stream and compares it with what is sent.
func fetchWild(c *http.Client, base string, s *session, seed uint64, want [sha256.Size]byte) error {
	s.header = []string{"x-seed", strconv.FormatUint(seed, 10), "accept-encoding", "gzip"}
	t := s.newTry(1)
	if t.send(c, base); t.err != nil {
		return t.err
	}
	if got := sha256.Sum256(t.answer); t.status != 200 || got != want {
		return fmt.Errorf("status %d, sha256 of the body %x, sent was %x", t.status, got, want)
	}
	return nil
}
