package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// parse reads a request's head as the server does.
func parse(text string) (*fasthttp.RequestHeader, error) {
	h := &fasthttp.RequestHeader{}
	h.DisableNormalizing()
	return h, h.Read(bufio.NewReaderSize(strings.NewReader(text), 16<<10))
}

func TestHead(t *testing.T) {
	f := func(lines, want string) {
		t.Helper()
		req, err := parse("POST / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n")
		if err != nil {
			t.Fatal(err)
		}
		var h head
		if err := h.read(req); err != nil {
			t.Fatalf("read(%q) = %v", lines, err)
		}
		if got := string(h.appendTo(nil, func([]byte) bool { return false })); got != want {
			t.Errorf("head %q goes on as %q, want %q", lines, got, want)
		}
	}
	// Order, spelling and repetition stay.
	f("x-B: 1\r\nX-a: 2\r\nx-b: 3\r\n", "x-B: 1\r\nX-a: 2\r\nx-b: 3\r\n")
	f("Anthropic-Beta: a,b\r\nX_API_KEY: v\r\n", "Anthropic-Beta: a,b\r\nX_API_KEY: v\r\n")
	// What belongs to one connection ends here, and so does what it lists.
	f("Connection: keep-alive, X-Hop\r\nx-hop: 1\r\nKeep-Alive: 5\r\nx-end: 1\r\n", "x-end: 1\r\n")
	f("TE: trailers\r\nTrailer: x\r\nProxy-Authorization: k\r\nExpect: 100-continue\r\n", "")
	// Ours are between the client and us.
	f("X-Preface-Session: s\r\nx-preface-resume: 1\r\nx-prefaced: 1\r\n", "x-prefaced: 1\r\n")
	f("Content-Length: 5\r\nx: 1\r\n", "x: 1\r\n")
}

func TestHeadRefuses(t *testing.T) {
	f := func(lines string) {
		t.Helper()
		req, err := parse("POST / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n")
		if err != nil {
			return // fasthttp refuses it itself
		}
		var h head
		if err := h.read(req); !errors.Is(err, errFraming) {
			t.Errorf("read(%q) = %v, want errFraming", lines, err)
		}
	}
	f("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")
	f("Content-Length: 5\r\nContent-Length: 5\r\n")
	f("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")
	f("Transfer-Encoding: identity\r\n")
	f("Transfer-Encoding: gzip, chunked\r\n")
	f("X Y: v\r\n")
	f("X: a\r\n b\r\n")
	f("Transfer-Encoding:\r\n chunked\r\n")
	f(": v\r\n")
	f("no colon\r\n")
	f("X: a\n\r\n")
	f("X:\n\r\n")
	f("X: a\x00b\r\n")
}

func TestIs(t *testing.T) {
	f := func(name, lower string, want bool) {
		t.Helper()
		if got := is([]byte(name), lower); got != want {
			t.Errorf("is(%q, %q) = %v, want %v", name, lower, got, want)
		}
	}
	f("Content-Length", "content-length", true)
	f("content-length", "content-length", true)
	f("content_length", "content-length", false)
	f("content-lengt", "content-length", false)
	f("x\r", "x-", false) // \r | 0x20 is a hyphen
	f("\x18", "8", false) // so are digits
	f("X_Y", "x\x7f", false)
}

// FuzzHead: whatever the server lets through, no line that goes on belongs to
// one connection, frames a message, or hides another line.
func FuzzHead(f *testing.F) {
	f.Add("X-A: 1\r\nConnection: x-b\r\nX-B: 2\r\n")
	f.Add("content-LENGTH: 1\r\nX: \x00\r\n")
	f.Fuzz(func(t *testing.T, lines string) {
		req, err := parse("POST / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n")
		if err != nil {
			return
		}
		var h head
		if h.read(req) != nil {
			return
		}
		out := h.appendTo(nil, func([]byte) bool { return false })
		for line := range bytes.SplitSeq(bytes.TrimSuffix(out, crlf), crlf) {
			if len(out) == 0 {
				break
			}
			name, _, ok := bytes.Cut(line, colon)
			if !ok || !isToken(name) || bytes.ContainsAny(line, "\r\n") {
				t.Errorf("%q goes on as the line %q", lines, line)
			}
			for _, hop := range hopByHop {
				if strings.EqualFold(string(name), hop) {
					t.Errorf("%q lets %s through", lines, name)
				}
			}
		}
	})
}

func TestDefaultRoutes(t *testing.T) {
	var list []*route
	anthropicUp, openaiUp := &upstream{}, &upstream{}
	for _, rc := range DefaultRoutes() {
		rc.setDefaults()
		up := openaiUp
		if rc.Dialect == "anthropic" {
			up = anthropicUp
		}
		list = append(list, &route{RouteConfig: rc, dialects: rc.dialects(), upstream: up})
	}
	rs := newRoutes(list)
	f := func(method, path, family, want string) {
		t.Helper()
		got := "none"
		if m, ok := rs.match(path, method == "POST", family); ok {
			got = m.route.Name + " " + m.path
			if m.dialect != nil {
				got += " " + m.dialect.Name()
			}
			if m.session != "" {
				got += " in " + m.session
			}
		}
		if got != want {
			t.Errorf("match(%s %s, %q) = %s, want %s", method, path, family, got, want)
		}
	}
	f("POST", "/v1/messages", "", "anthropic /v1/messages anthropic")
	f("POST", "/v1/messages/count_tokens", "", "anthropic /v1/messages/count_tokens anthropic")
	f("POST", "/v1/responses", "", "openai /v1/responses openai-responses")
	f("POST", "/chat/completions", "", "openai /chat/completions openai-chat")
	f("POST", "/anthropic/v1/messages", "", "anthropic-prefix /v1/messages anthropic")
	f("POST", "/openai/v1/responses", "", "openai-prefix /v1/responses openai-responses")
	f("POST", "/s/a%2Fb/v1/messages", "", "anthropic /v1/messages anthropic in a/b")
	f("POST", "/openai/s/x/v1/responses", "", "openai-prefix /v1/responses openai-responses in x")
	// No model call: its owner, the headers, or nothing.
	f("GET", "/v1/messages/batches", "", "anthropic /v1/messages/batches")
	f("GET", "/v1/responses/resp_1", "", "openai /v1/responses/resp_1")
	f("HEAD", "/api/hello", "", "anthropic /api/hello")
	f("GET", "/v1/models", "anthropic", "anthropic /v1/models")
	f("GET", "/v1/models", "", "none")
	f("GET", "/openai/v1/models", "", "openai-prefix /v1/models")
	// A wrong family on an Anthropic prefix is nobody's model call.
	f("POST", "/anthropic/v1/responses", "", "anthropic-prefix /v1/responses")
	f("POST", "/anthropicx/v1/messages", "", "none")
}
