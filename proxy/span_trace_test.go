package proxy

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

const (
	aTrace  = "0af7651916cd43dd8448eb211c80319c"
	aSpan   = "b7ad6b7169203331"
	sampled = "00-" + aTrace + "-" + aSpan + "-01"
)

// TestTraceparentOff: without spans both headers go on as they came, whatever they
// say, in the client's spelling and place.
func TestTraceparentOff(t *testing.T) {
	b := newBench(t)
	for _, f := range [][]string{
		{"traceparent", sampled, "tracestate", "b=2,a=1"},
		{"TraceParent", sampled, "tracestate", "b=2", "tracestate", "a=1"},
		{"traceparent", "nonsense", "tracestate", "a=1"},
		{"tracestate", "a=1"},
		{},
	} {
		b.sendAs(f)
		var got []string
		for _, h := range b.last().Header {
			if strings.HasPrefix(strings.ToLower(h.Name), "trace") {
				got = append(got, h.Name, h.Value)
			}
		}
		if diff := cmp.Diff(f, got, cmp.Transformer("empty", func(s []string) string { return strings.Join(s, "|") })); diff != "" {
			t.Errorf("the provider got (-sent +got):\n%s", diff)
		}
	}
}

// sendAs sends a request with header lines exactly as they are, and reads its answer.
func (b *bench) sendAs(header []string) {
	b.t.Helper()
	c := b.raw(rawPost("/v1/messages", anthropicTurn, append([]string{"x-session-id", "s", "connection", "close"}, header...)...))
	defer c.Close()
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		b.t.Fatalf("answered %q, %v", answer, err)
	}
}

// A traceCase is what a client says of its trace and what becomes of it.
type traceCase struct {
	name   string
	cfg    telemetry.Config
	header []string
	// upstream is whose trace the provider is told of: the client's, ours, or none;
	// state is the tracestate that it gets, flags how traceparent ends.
	upstream, state, flags string
	parent                 string // of our server span, "" for a root
	linked                 bool
	unmade                 bool // there are no spans
	vars                   []string
}

var traceCases = []traceCase{
	{name: "none"},
	{name: "continued", header: []string{"traceparent", sampled, "tracestate", "b=2,a=1"}, upstream: "client", state: "b=2,a=1", flags: "01", parent: aSpan},
	{name: "two lines of state", header: []string{"traceparent", sampled, "tracestate", "b=2", "tracestate", "a=1"}, upstream: "client", state: "b=2|a=1", flags: "01", parent: aSpan},
	{name: "random flag", header: []string{"traceparent", sampled[:53] + "03"}, upstream: "client", flags: "03", parent: aSpan},
	{name: "unknown flags", header: []string{"traceparent", sampled[:53] + "f9"}, upstream: "client", flags: "01", parent: aSpan},
	{name: "not sampled", header: []string{"traceparent", sampled[:53] + "00"}, upstream: "client", flags: "00", unmade: true},
	{name: "not sampled, and we sample all", vars: []string{"OTEL_TRACES_SAMPLER", "always_on"},
		header: []string{"traceparent", sampled[:53] + "00"}, upstream: "client", flags: "01", parent: aSpan},
	{name: "sampled, and we sample nothing", vars: []string{"OTEL_TRACES_SAMPLER", "always_off"},
		header: []string{"traceparent", sampled}, upstream: "client", flags: "00", unmade: true},
	{name: "a version to come", header: []string{"traceparent", "cc" + sampled[2:] + "-more"}, upstream: "client", flags: "01", parent: aSpan},
	{name: "version ff", header: []string{"traceparent", "ff" + sampled[2:], "tracestate", "a=1"}},
	{name: "too long", header: []string{"traceparent", sampled + "-more", "tracestate", "a=1"}},
	{name: "upper case", header: []string{"traceparent", strings.ToUpper(sampled), "tracestate", "a=1"}},
	{name: "no trace", header: []string{"traceparent", "00-" + strings.Repeat("0", 32) + sampled[35:], "tracestate", "a=1"}},
	{name: "no span", header: []string{"traceparent", sampled[:36] + strings.Repeat("0", 16) + "-01", "tracestate", "a=1"}},
	{name: "twice", header: []string{"traceparent", sampled, "traceparent", sampled, "tracestate", "a=1"}},
	{name: "state alone", header: []string{"tracestate", "a=1"}},
	{name: "kept from the provider", cfg: telemetry.Config{Propagate: telemetry.None}, header: []string{"traceparent", sampled, "tracestate", "a=1"}, parent: aSpan},
	{name: "restarted", cfg: telemetry.Config{Restart: true}, header: []string{"traceparent", sampled, "tracestate", "a=1"}, upstream: "ours", flags: "03", linked: true},
	{name: "restarted, whatever the client samples", cfg: telemetry.Config{Restart: true}, header: []string{"traceparent", sampled[:53] + "00"}, upstream: "ours", flags: "03", linked: true},
}

// TestTraceContext holds what becomes of a client's trace to W3C Trace Context and
// to the settings.
func TestTraceContext(t *testing.T) {
	for _, c := range traceCases {
		t.Run(c.name, func(t *testing.T) {
			tb := newTraced(t, c.cfg, c.vars)
			tb.sendAs(c.header)
			tb.check(c)
		})
	}
}

func (tb *tracedBench) check(c traceCase) {
	t := tb.t
	t.Helper()
	parent, state := tb.sentHeader("traceparent"), strings.Join(tb.sentHeader("tracestate"), "|")
	spans := tb.spans()
	if state != c.state {
		t.Errorf("the provider got tracestate %q, want %q", state, c.state)
	}
	if c.upstream == "" && parent != nil || c.upstream != "" && len(parent) != 1 {
		t.Fatalf("the provider got traceparent %q, want one of %q", parent, c.upstream)
	}
	if c.unmade {
		if len(spans) > 0 {
			t.Errorf("there are %d spans, want none", len(spans))
		}
		if !strings.HasPrefix(parent[0], "00-"+aTrace) || strings.Contains(parent[0], aSpan) || !strings.HasSuffix(parent[0], c.flags) {
			t.Errorf("the provider got %q, want the client's trace, another span and flags %s", parent[0], c.flags)
		}
		return
	}
	server, client := of(spans, "SERVER")[0], of(spans, "CLIENT")[0]
	if server.Parent != c.parent || (c.parent != "") != (server.Trace == aTrace) || client.Parent != server.ID || client.Trace != server.Trace {
		t.Errorf("server span %s of %s in %s, client of %s in %s; want them below %q", server.ID, server.Parent, server.Trace, client.Parent, client.Trace, c.parent)
	}
	if got := slices.Contains(server.Links, aSpan); got != c.linked {
		t.Errorf("the server span links to the client's: %t, want %t", got, c.linked)
	}
	if want := "00-" + client.Trace + "-" + client.ID + "-" + c.flags; c.upstream != "" && parent[0] != want {
		t.Errorf("the provider got %s, want %s: our client span", parent[0], want)
	}
	if c.state != "" && server.State != strings.ReplaceAll(c.state, "|", ",") {
		t.Errorf("the server span's tracestate is %q, want %q", server.State, c.state)
	}
}

// TestTraceOff: spans off, the setting that keeps traces from providers holds.
func TestTraceOff(t *testing.T) {
	b := newBench(t, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config.Telemetry.Propagate = telemetry.None
	})
	b.post("/v1/messages", anthropicTurn, "traceparent", sampled, "tracestate", "a=1", "x-session-id", "s")
	if p, s := linesOf(b.last(), "traceparent"), linesOf(b.last(), "tracestate"); p != nil || s != nil {
		t.Errorf("the provider got %q and %q, want neither", p, s)
	}
}

// TestUnsampledIsNotObserved: of a request that the sampler leaves out nothing is
// gathered, whoever's trace it is; the provider is told of the client's all the same.
func TestUnsampledIsNotObserved(t *testing.T) {
	tb := newTraced(t, telemetry.Config{}, []string{"OTEL_TRACES_SAMPLER", "always_off"})
	for _, header := range [][]string{{}, {"traceparent", sampled, "tracestate", "a=1"}} {
		ctx := fakeRequest(t, tb.bench, anthropicTurn, "s", header...)
		ctx.Request.SetBodyStream(strings.NewReader(anthropicTurn), len(anthropicTurn))
		x := tb.srv.begin(ctx)
		if err := x.prepare(); err != nil {
			t.Fatal(err)
		}
		if x.seen != nil || x.trace == nil || x.trace.Joined() != (len(header) > 0) {
			t.Errorf("with %q there is observed %v, and the trace %+v", header, x.seen, x.trace)
		}
		x.finish()
	}
	tb.post("/v1/messages", anthropicTurn, "x-session-id", "s", "traceparent", sampled)
	if got := tb.sentHeader("traceparent"); len(got) != 1 || !strings.HasPrefix(got[0], "00-"+aTrace) || !strings.HasSuffix(got[0], "-00") || strings.Contains(got[0], aSpan) {
		t.Errorf("the provider got %q, want the client's trace, another parent, and not sampled", got)
	}
	if n := len(tb.spans()); n != 0 {
		t.Errorf("%d spans came", n)
	}
}
