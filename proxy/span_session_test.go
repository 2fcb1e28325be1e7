package proxy

import (
	"net/http"
	"testing"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
	"github.com/seed-9236c7ca/preface/proxy/telemetry/otlptest"
)

// TestSessionTrace: the spans of one agent's session, whose requests say that they
// are part of one trace, are those of testdata/session_trace.golden, which README
// points to: each request a server span below the agent's, each call to the provider
// a client span below that.
func TestSessionTrace(t *testing.T) {
	tb := newTraced(t, telemetry.Config{}, nil, dated)
	header := http.Header{}
	header.Set("traceparent", sampled)
	header.Set("tracestate", "vendor=1")
	a, err := agent.New(agent.Config{Kind: agent.Claude, URL: tb.url, Key: "sk-test-1", Seed: 1, Session: "0f3c", Model: "claude-opus-5-5", Header: header})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	sub := a.Subagent()
	for _, step := range []func() error{
		func() error { return a.Turn(t.Context(), "What is in this folder?", 1) }, // asks for a tool, so two requests
		func() error { return sub.Turn(t.Context(), "Read the tests.", 0) },
		func() error { return a.Count(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		tb.flush()
	}
	spans := tb.spans()
	golden(t, "session_trace.golden", otlptest.Golden(spans, map[string]string{aTrace: "the agent's trace", aSpan: "the agent's span"}, volatile...))
	checkTimes(t, spans)
	for _, s := range spans {
		if s.Trace != aTrace || s.Kind == "SERVER" && s.Parent != aSpan {
			t.Errorf("%s is not in the agent's trace", s.Name)
		}
	}
}
