package faulttest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// A wild stream is an answer in any shape that a stream can have, known by its
// seed.
type wildStream struct {
	rng  *rand.Rand
	b    bytes.Buffer
	form *form
}

// wild makes the answer of a seed: its body as it is sent, and its coding.
func wild(seed uint64, f *form) (body []byte, coding string) {
	w := &wildStream{rng: rand.New(rand.NewPCG(23, seed)), form: f}
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

// sendWild answers with the stream of the seed in the header x-seed, in random
// chunks, framed in any of the ways there are, in random writes.
func sendWild(sums *sync.Map) func(net.Conn, *rawRequest) bool {
	return func(c net.Conn, r *rawRequest) bool {
		seed, _ := strconv.ParseUint(r.header.Get("x-seed"), 10, 64) // the test wrote it
		body, coding := wild(seed, nil)
		sums.Store(seed, sha256.Sum256(body))
		rng := rand.New(rand.NewPCG(24, seed))
		out := bytes.NewBufferString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
		if coding != "" {
			fmt.Fprintf(out, "Content-Encoding: %s\r\n", coding)
		}
		keep := frame(out, body, rng)
		for out.Len() > 0 {
			if _, err := c.Write(out.Next(1 + rng.IntN(out.Len()))); err != nil {
				return false
			}
		}
		return keep
	}
}

// frame writes the rest of the head, and the body.
func frame(out *bytes.Buffer, body []byte, rng *rand.Rand) (keep bool) {
	switch rng.IntN(8) {
	case 0:
		fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s", len(body), body)
		return true
	case 1:
		fmt.Fprintf(out, "Connection: close\r\n\r\n%s", body)
		return false
	}
	out.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	most := pick(rng, 1, 3, 40, 4000)
	for len(body) > 0 {
		n := min(len(body), 1+rng.IntN(most))
		fmt.Fprintf(out, pick(rng, "%x\r\n", "%X\r\n", "0%x\r\n", "%x;a=b\r\n", "%x ; q=\"x\"\r\n"), n)
		out.Write(body[:n])
		out.WriteString("\r\n")
		body = body[n:]
	}
	out.WriteString(pick(rng, "0\r\n\r\n", "0\r\n\r\n", "000\r\nX-Trailer: 1\r\n\r\n"))
	return true
}

// TestI8_AnswersVerbatim: ten thousand streams of every shape, cut into chunks
// at random, arrive as they were sent.
func TestI8_AnswersVerbatim(t *testing.T) {
	streams := uint64(10_000)
	if testing.Short() {
		streams = 500
	}
	var sums sync.Map
	up := startRaw(t, sendWild(&sums))
	st := newStage(t, func(st *stage) { st.upstream = up.url })
	p := st.start()
	var next atomic.Uint64
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			c := newClient()
			defer leave(c)
			for seed := next.Add(1); seed <= streams && !t.Failed(); seed = next.Add(1) {
				s := newSession(forms[seed%3], fmt.Sprint("w", i, seed%3), true)
				if err := fetchWild(c, p.agents, s, seed, &sums); err != nil {
					t.Errorf("I8: stream %d: %v", seed, err)
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

// fetchWild gets a stream and compares it with what was sent.
func fetchWild(c *http.Client, base string, s *session, seed uint64, sums *sync.Map) error {
	body, _ := s.body()
	req, err := http.NewRequest("POST", base+s.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("x-api-key", s.key)
	req.Header.Set(s.idHeader, s.id)
	req.Header.Set("x-seed", strconv.FormatUint(seed, 10))
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	h := sha256.New()
	if _, err := io.Copy(h, resp.Body); err != nil {
		return err
	}
	want, _ := sums.Load(seed)
	if got := [32]byte(h.Sum(nil)); resp.StatusCode != 200 || got != want {
		return fmt.Errorf("status %d, sha256 of the body %x, sent was %x", resp.StatusCode, got, want)
	}
	return nil
}
