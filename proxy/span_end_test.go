package proxy

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
	"github.com/seed-9236c7ca/preface/proxy/telemetry/otlptest"
)

// TestSpanEnds: how a request ended is in its spans: which of them failed, and why.
func TestSpanEnds(t *testing.T) {
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	for _, c := range []struct {
		name, fault, body string
		gone              bool   // the client leaves in mid-stream
		status            int64  // of the server span
		server, client    string // error.type
		end               string
	}{
		{name: "complete", body: stream, status: 200, end: "complete"},
		{name: "provider's fault", fault: "status=529", body: stream, status: 529, server: "529", client: "529", end: "complete"},
		{name: "client's fault", fault: "status=404", body: stream, status: 404, client: "404", end: "complete"},
		{name: "cut", fault: "cut=rst@300", body: stream, status: 200, server: "upstream_cut", client: "upstream_cut", end: "upstream_cut"},
		{name: "no answer", fault: "reset", body: stream, status: 502, server: "502", client: "no_answer", end: "no_answer"},
		{name: "client gone", fault: "gap=30s", body: stream, gone: true, status: 200, client: "client_gone", end: "client_gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := newTraced(t, telemetry.Config{}, nil)
			if c.gone {
				conn := tb.raw(rawPost("/v1/messages", c.body, "x-session-id", "s", "x-provider-fault", c.fault))
				if _, err := io.ReadFull(conn, make([]byte, 400)); err != nil {
					t.Fatal(err)
				}
				conn.Close()
				eventually(t, "the request is over", func() bool { return tb.srv.inFlight.Load() == 0 })
			} else {
				tb.try("/v1/messages", c.body, "x-session-id", "s", "x-provider-fault", c.fault)
			}
			spans := tb.spans()
			if len(spans) != 2 {
				t.Fatalf("%d spans came, want 2", len(spans))
			}
			server, client := spans[0], spans[1]
			if got := server.Attributes["http.response.status_code"]; got != c.status || server.Attributes["preface.end"] != c.end {
				t.Errorf("the server span has status %v and end %v, want %d and %s", got, server.Attributes["preface.end"], c.status, c.end)
			}
			checkFailure(t, server, c.server)
			checkFailure(t, client, c.client)
		})
	}
}

func checkFailure(t *testing.T, s otlptest.Span, want string) {
	t.Helper()
	if got, _ := s.Attributes["error.type"].(string); got != want || s.Failed != (want != "") {
		t.Errorf("%s has error.type %q and failed: %t, want %q", s.Name, got, s.Failed, want)
	}
}

// TestSpanOfUnreached: a provider that cannot be reached has a client span that says
// so; nothing of it was sent.
func TestSpanOfUnreached(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	tb := newTraced(t, telemetry.Config{}, nil, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config = b.config("http://" + ln.Addr().String())
	})
	if r := tb.post("/v1/messages", anthropicTurn, "x-session-id", "s"); r.StatusCode != 502 {
		t.Fatalf("status %d", r.StatusCode)
	}
	spans := tb.spans()
	if len(spans) != 2 {
		t.Fatalf("%d spans came, want 2", len(spans))
	}
	checkFailure(t, spans[0], "502")
	checkFailure(t, spans[1], "upstream_refused")
}

// TestSpansWithoutAccounting: with usage.account: off there are spans all the same,
// without cost and cause, and with the provider's counts.
func TestSpansWithoutAccounting(t *testing.T) {
	tb := newTraced(t, telemetry.Config{}, nil, dated, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config.Usage.Account = Off })
	talk := talks()["anthropic"]
	tb.post(talk.path, talk.body(1, true), "x-session-id", "s")
	spans := tb.spans()
	if len(spans) != 2 {
		t.Fatalf("%d spans came, want 2", len(spans))
	}
	a := spans[1].Attributes
	if a["gen_ai.usage.input_tokens"] == nil || a["preface.cost.usd"] != nil || a["preface.cache.cause"] != nil {
		t.Errorf("the client span has %v, want tokens and no cost", a)
	}
}

// TestConversationIsNamed: gen_ai.conversation.id is what the client named, and
// nothing that Preface derived.
func TestConversationIsNamed(t *testing.T) {
	tb := newTraced(t, telemetry.Config{}, nil)
	tb.post("/v1/messages", anthropicTurn)
	tb.post("/v1/messages", anthropicTurn, "x-session-id", "named")
	clients := of(tb.spans(), "CLIENT")
	if got := clients[0].Attributes["gen_ai.conversation.id"]; got != nil || !strings.HasPrefix(clients[0].Attributes["preface.session"].(string), "d-") {
		t.Errorf("a derived session is the conversation %v", got)
	}
	if got := clients[1].Attributes["gen_ai.conversation.id"]; got != "named" {
		t.Errorf("a named session is the conversation %v", got)
	}
}

// TestRetriesAreNoted: each try that comes to nothing is; the client span has them as
// events.
func TestRetriesAreNoted(t *testing.T) {
	x := &exchange{seen: &observed{}}
	for range maxAttempts - 1 {
		x.noteRetry()
	}
	if n := len(x.seen.Retries); n != maxAttempts-1 {
		t.Errorf("%d retries are noted, want %d", n, maxAttempts-1)
	}
}

// TestChunksAreNoted: of a stream that comes bit by bit the times between are noted.
func TestChunksAreNoted(t *testing.T) {
	tb := newTraced(t, telemetry.Config{GenAIMetrics: telemetry.On}, nil)
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	tb.post("/v1/messages", stream, "x-session-id", "s", "x-provider-fault", "gap=10ms")
	tb.spans()
	for _, m := range tb.to.Metrics() {
		if m.Name == "gen_ai.client.operation.time_per_output_chunk" && m.Points[0].Count > 0 && m.Points[0].Sum > 0 {
			return
		}
	}
	t.Errorf("no time between chunks came in %+v", tb.to.Metrics())
}
