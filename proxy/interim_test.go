package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/prefixstore"
)

// answering is a provider that gives every request one answer, byte for byte,
// and hangs up. whole says that it reads the request's body before.
func answering(t *testing.T, answer string, whole bool) setupFunc {
	t.Helper()
	addr := accepting(t, func(c net.Conn) {
		if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			if whole {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			_, _ = io.WriteString(c, answer)
		}
	})
	return func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config = b.config("http://" + addr)
	}
}

// TestI8_InterimAnswerIsNotTheAnswer: a provider sends an interim answer and
// refuses the body before it has read it. The client never takes the interim
// answer for the end; the refusal itself may be lost with the connection.
func TestI8_InterimAnswerIsNotTheAnswer(t *testing.T) {
	const answer = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
		"HTTP/1.1 413 Content Too Large\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\n{}"
	b := newBench(t, answering(t, answer, false))
	body := strings.Replace(anthropicTurn, `"model"`, `"padding":"`+strings.Repeat("x", 16<<20)+`","model"`, 1)
	r := b.post("/v1/messages", body)
	if r.StatusCode != 413 && r.StatusCode != 502 {
		t.Errorf("answer %d %v, want the provider's 413, or 502 if that was lost", r.StatusCode, r.Header)
	}
	for _, resp := range b.responses() {
		if resp.Status/100 == 1 {
			t.Errorf("recorded status %d, which is not final", resp.Status)
		}
	}
}

// TestI8_AnswerOfHTTP10: an answer of an HTTP/1.0 provider, which ends with its
// connection, goes on in our chunks, which are no part of HTTP/1.0.
func TestI8_AnswerOfHTTP10(t *testing.T) {
	const body = `{"id":"m","type":"message"}`
	b := newBench(t, answering(t, "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"+body, true))
	r := b.post("/v1/messages", anthropicTurn)
	if r.StatusCode != 200 || r.Proto != "HTTP/1.1" || string(r.body) != body || r.err != nil {
		t.Errorf("answer %s %d %q, %v, want HTTP/1.1 200 %q", r.Proto, r.StatusCode, r.body, r.err, body)
	}
}

// TestConnectionHeadersOfTheProvider end here, however they are spelled, and those
// that its Connection header lists; all others go on.
func TestConnectionHeadersOfTheProvider(t *testing.T) {
	b := newBench(t, answering(t, "HTTP/1.1 200 OK\r\nX-Hop: 1\r\nX-Kept: 1\r\nConnection: x-hop, keep-alive, content-length\r\nKEEP-ALIVE: timeout=5\r\n"+
		"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\n{}", true))
	r := b.post("/v1/messages", anthropicTurn)
	if string(r.body) != "{}" || r.err != nil {
		t.Errorf("the body is %q, %v, want {}", r.body, r.err)
	}
	h := r.Header
	for _, name := range []string{"X-Hop", "Keep-Alive", "Connection"} {
		if h.Get(name) != "" {
			t.Errorf("%s: %s of the provider's connection went on", name, h.Get(name))
		}
	}
	if h.Get("X-Kept") != "1" || len(h.Values("Set-Cookie")) != 2 {
		t.Errorf("other headers did not go on: %v", h)
	}
}

// TestUnreadableHeads: why an answer cannot be passed on is told, and nothing of it.
func TestUnreadableHeads(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nX-S3cret: " + strings.Repeat("s3cret", 4<<10) + "\r\nContent-Length: 0\r\n\r\n": "its head is longer than 16 KiB",
		"HTTP/1.1 200 OK\r\nContent-Length: s3cret\r\n\r\n":                                                 "its head cannot be read",
		"HTTP/1.1 200 OK\r\nX-S3cret":                                                                       "the connection was closed",
	} {
		b := newBench(t, answering(t, answer, true))
		r := b.post("/v1/messages", anthropicTurn)
		if text := string(r.body); r.StatusCode != 502 || !strings.Contains(text, want) || strings.Contains(strings.ToLower(text+b.out.String()), "s3cret") {
			t.Errorf("%.30q: %d %s, want 502 because %s, logged %s", answer, r.StatusCode, text, want, b.out.String())
		}
	}
}
