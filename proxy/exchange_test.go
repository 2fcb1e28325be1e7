package proxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
)

const (
	anthropicTurn = `{"model":"claude-opus-4-8", "max_tokens":100,
  "system":[{"type":"text","text":"You are <b> & co"}],"messages":[{"role":"user","content":"hello \u00e9"}], "x_unknown":1.0e2}`
	chatTurn      = `{"model":"gpt-5.5","messages":[{"role":"system","content":"sys"},{"role":"user","content":"hello"}]}`
	responsesTurn = `{"model":"gpt-6-sol","instructions":"be brief","input":"hello"}`
)

// turns are one opening request of each dialect.
var turns = []struct{ name, path, body, session string }{
	{"anthropic", "/v1/messages?beta=true", anthropicTurn, "x-claude-code-session-id"},
	{"openai-chat", "/v1/chat/completions", chatTurn, "x-session-id"},
	{"openai-responses", "/v1/responses", responsesTurn, "session-id"},
}

// TestI3_InsertOnly: the provider gets the client's bytes with the frozen ones
// inserted, in every dialect; the log says where, and its digest is that of
// what arrived.
func TestI3_InsertOnly(t *testing.T) {
	b := newBench(t)
	for _, turn := range turns {
		t.Run(turn.name, func(t *testing.T) {
			r := b.post(turn.path, turn.body, turn.session, "s-"+turn.name)
			if r.StatusCode != 200 {
				t.Fatalf("status %d: %s", r.StatusCode, r.body)
			}
			got := b.last()
			if !bytes.Contains(got.Body, []byte("Team rules: be kind & <exact>.")) {
				t.Fatalf("sent %s, want the opener in it", got.Body)
			}
			reqs := b.requests()
			rec := reqs[len(reqs)-1]
			if back := cut(got.Body, rec.Splices); string(back) != turn.body {
				t.Errorf("without the inserted ranges = %s, want %s", back, turn.body)
			}
			if d := logsink.Sum(got.Body); d != rec.Body || rec.Size != len(got.Body) {
				t.Errorf("recorded digest %v and size %d, want %v and %d", rec.Body, rec.Size, d, len(got.Body))
			}
			if !json.Valid(got.Body) {
				t.Errorf("sent invalid JSON: %s", got.Body)
			}
			if h := r.Header.Get("x-preface-prefix"); !strings.HasPrefix(h, "sha256:") {
				t.Errorf("x-preface-prefix = %q, want a hash", h)
			}
			if h := r.Header.Get("x-preface-session"); h != "s-"+turn.name {
				t.Errorf("x-preface-session = %q", h)
			}
		})
	}
	b.verify()
}

// slot returns the inserted bytes of a request as it arrived.
func slot(t *testing.T, body []byte, rec *logsink.Request) string {
	t.Helper()
	for _, s := range rec.Splices {
		if s.Kind == kindPrefix {
			return fmt.Sprintf("%d:%s", s.Offset, body[s.Offset:s.Offset+s.Length])
		}
	}
	return ""
}

// TestI2_SameBytesOverRestartAndReload: a session's inserted bytes and their
// place stay, whatever happens to the proxy and its configuration.
func TestI2_SameBytesOverRestartAndReload(t *testing.T) {
	b := newBench(t)
	send := func() string {
		if r := b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "s"); r.StatusCode != 200 {
			t.Fatalf("status %d: %s", r.StatusCode, r.body)
		}
		reqs := b.requests()
		return slot(t, b.last().Body, reqs[len(reqs)-1])
	}
	first := send()
	other := contributors()
	changed := Setup{Config: b.config(b.up.URL()), Hash: "other"}
	if err := b.srv.Reload(changed); err != nil {
		t.Fatal(err)
	}
	if got := send(); got != first {
		t.Errorf("after a reload the session has %q, want %q", got, first)
	}
	b.stop()
	b.start(other)
	if got := send(); got != first {
		t.Errorf("after a restart the session has %q, want %q", got, first)
	}
	if r := b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "new"); r.Header.Get("x-preface-prefix") != "bare; empty" {
		t.Errorf("a new session has %q, want the new configuration's: bare; empty", r.Header.Get("x-preface-prefix"))
	}
	b.verify()
}

// TestI13_BareChangesNothing: without contributors the provider gets the
// client's very bytes.
func TestI13_BareChangesNothing(t *testing.T) {
	b := newBench(t, contributors())
	for _, turn := range turns {
		r := b.post(turn.path, turn.body, turn.session, "s-"+turn.name)
		if r.StatusCode != 200 || string(b.last().Body) != turn.body {
			t.Errorf("%s: status %d, sent %s, want %s", turn.name, r.StatusCode, b.last().Body, turn.body)
		}
	}
}

// TestCaseA13_HeadersVerbatim: end-to-end headers arrive in the client's
// spelling; those of one connection and ours do not.
func TestCaseA13_HeadersVerbatim(t *testing.T) {
	b := newBench(t)
	b.post("/v1/messages", anthropicTurn, "anthropic-beta", "a-1,b-2", "X-Odd_Name", "v", "X-Preface-Session", "s", "Te", "trailers")
	got := map[string]string{}
	for _, f := range b.last().Header {
		got[strings.ToLower(f.Name)] = f.Value
	}
	for name, want := range map[string]string{"anthropic-beta": "a-1,b-2", "x-odd_name": "v", "x-api-key": "sk-test-1"} {
		if got[name] != want {
			t.Errorf("header %s = %q, want %q", name, got[name], want)
		}
	}
	for _, name := range []string{"x-preface-session", "te", "connection"} {
		if v, ok := got[name]; ok {
			t.Errorf("header %s: %q went upstream", name, v)
		}
	}
}

// TestAnswersAreVerbatim: with and without the proxy, an answer has the same
// status and bytes, streamed or not.
func TestI8_AnswersAreVerbatim(t *testing.T) {
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	for _, body := range []string{anthropicTurn, stream} {
		b := newBench(t) // the last fault closes its connection unannounced
		for _, fault := range []string{"", "chunks=7", "status=529,retry-after=3", "error@2", "encoding=gzip", "line-end=crlf", "chunk-extensions"} {
			r := b.post("/v1/messages", body, "x-claude-code-session-id", "s", "x-provider-fault", fault)
			sent := b.last()
			if r.err != nil || r.StatusCode != sent.Status || sha256.Sum256(r.body) != sha256.Sum256(sent.Answer) {
				t.Errorf("fault %q: got %d and %d bytes (%v), the provider sent %d and %d", fault, r.StatusCode, len(r.body), r.err, sent.Status, len(sent.Answer))
			}
			if want := headerOf(sent.Sent, "retry-after"); r.Header.Get("retry-after") != want {
				t.Errorf("fault %q: retry-after %q, want %q", fault, r.Header.Get("retry-after"), want)
			}
		}
	}
}

func headerOf(sent []byte, name string) string {
	head, _, _ := bytes.Cut(sent, []byte("\r\n\r\n"))
	for line := range strings.SplitSeq(string(head), "\r\n") {
		if n, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(n, name) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// TestUsageIsRecorded: what the provider reported is in the log, in disjoint
// classes, streamed or not (case D6).
func TestI11_UsageIsRecorded(t *testing.T) {
	b := newBench(t)
	for _, turn := range turns {
		body := strings.Replace(turn.body, `{"model"`, `{"stream":true,"model"`, 1)
		b.post(turn.path, turn.body, turn.session, "whole")
		b.post(turn.path, body, turn.session, "streamed")
		resps := b.responses()
		whole, streamed := resps[len(resps)-2], resps[len(resps)-1]
		if whole.Usage == nil || streamed.Usage == nil {
			t.Errorf("%s: usage %v and %v, want both reported", turn.name, whole.Usage, streamed.Usage)
			continue
		}
		if *whole.Usage.Output != *streamed.Usage.Output || whole.End != logsink.EndComplete || streamed.End != logsink.EndComplete {
			t.Errorf("%s: whole %s with %d tokens out, streamed %s with %d", turn.name, whole.End, *whole.Usage.Output, streamed.End, *streamed.Usage.Output)
		}
	}
}

// TestUsageChunkStaysHere: a Chat stream that did not ask for usage is asked
// for it, and the client does not see the extra chunk.
func TestUsageChunkStaysHere(t *testing.T) {
	b := newBench(t)
	body := strings.Replace(chatTurn, `{"model"`, `{"stream":true,"model"`, 1)
	r := b.post("/v1/chat/completions", body, "x-session-id", "s")
	if !strings.Contains(string(b.last().Body), `"include_usage":true`) {
		t.Errorf("the provider was not asked for usage: %s", b.last().Body)
	}
	if strings.Contains(string(r.body), `"choices":[],`) || !strings.HasSuffix(strings.TrimSpace(string(r.body)), "[DONE]") {
		t.Errorf("the client saw %s", r.body)
	}
	reqs := b.requests()
	if back := cut(b.last().Body, reqs[0].Splices); string(back) != body {
		t.Errorf("without the inserted ranges = %s, want %s", back, body)
	}
	b.verify()
}

// TestPassthrough: what no dialect claims goes through as it is.
func TestPassthrough(t *testing.T) {
	b := newBench(t)
	f := func(method, path, body, wantPath string, header ...string) {
		t.Helper()
		r := b.do(method, path, body, header...)
		got := b.last()
		if got.Method != method || got.Path != wantPath || string(got.Body) != body {
			t.Errorf("%s %s arrived as %s %s with %q (answer %d)", method, path, got.Method, got.Path, got.Body, r.StatusCode)
		}
	}
	f("GET", "/v1/models", "", "/v1/models")
	f("HEAD", "/api/hello", "", "/api/hello")
	f("GET", "/openai/v1/models", "", "/v1/models")
	f("POST", "/anthropic/v1/odd%2Fpath//x", "any bytes", "/v1/odd%2Fpath//x")
	f("DELETE", "/anthropic/v1/files/1", "", "/v1/files/1")
}

func TestRoutes(t *testing.T) {
	b := newBench(t)
	f := func(path, body, wantPath, wantSession string) {
		t.Helper()
		r := b.post(path, body)
		if got := b.last(); got.Path != wantPath || r.Header.Get("x-preface-session") != wantSession && wantSession != "" {
			t.Errorf("POST %s arrived at %s in session %q, want %s in %q", path, got.Path, r.Header.Get("x-preface-session"), wantPath, wantSession)
		}
	}
	f("/v1/messages", anthropicTurn, "/v1/messages", "")
	f("/messages", anthropicTurn, "/messages", "")
	f("/anthropic/v1/messages", anthropicTurn, "/v1/messages", "")
	f("/openai/v1/chat/completions", chatTurn, "/v1/chat/completions", "")
	f("/s/my%20run/v1/messages", anthropicTurn, "/v1/messages", "my run")
	f("/openai/s/x/v1/responses", responsesTurn, "/v1/responses", "x")
	two := Setup{Config: b.config(b.up.URL())}
	two.Config.Routes[1].Upstream = "http://127.0.0.1:1"
	if err := b.srv.Reload(two); err != nil {
		t.Fatal(err)
	}
	if r := b.do("GET", "/v1/unknown", "", "x-api-key", ""); r.StatusCode != 404 || !strings.Contains(string(r.body), "preface: no route for /v1/unknown") {
		t.Errorf("GET /v1/unknown = %d %s, want 404 that says how to route it", r.StatusCode, r.body)
	}
}

// TestWebSocketIs426: the one answer upon which agents use HTTP at once.
func TestWebSocketIs426(t *testing.T) {
	b := newBench(t)
	r := b.do("GET", "/v1/responses", "", "Upgrade", "websocket", "Connection", "Upgrade")
	if r.StatusCode != 426 || !json.Valid(r.body) {
		t.Errorf("upgrade = %d %s, want 426 and JSON", r.StatusCode, r.body)
	}
	if len(b.received()) != 0 {
		t.Error("the upgrade went upstream")
	}
}

// TestPrefixIsHashOfMessages: the hash that people see is reproducible.
func TestPrefixHeaderIsInTheLog(t *testing.T) {
	b := newBench(t)
	r := b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "s")
	anchor, err := b.logs.Current(t.Context(), logsink.Key{Tenant: tenantOf(b), Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if anchor.Prefix != r.Header.Get("x-preface-prefix") || anchor.Prefix != logsink.PrefixHash(anchor.Messages) {
		t.Errorf("header %q, anchor %q, recomputed %q", r.Header.Get("x-preface-prefix"), anchor.Prefix, logsink.PrefixHash(anchor.Messages))
	}
	sum := sha256.Sum256(anchor.Rendering("anthropic.messages"))
	if !bytes.Contains(b.last().Body, anchor.Rendering("anthropic.messages")) {
		t.Errorf("the anchor's rendering %s is not in what was sent", hex.EncodeToString(sum[:]))
	}
}

// tenantOf is the tenant of the bench's own key.
func tenantOf(b *bench) string {
	return b.srv.current.Load().resolver.Tenant([]byte("sk-test-1"))
}
