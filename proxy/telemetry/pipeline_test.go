package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/seed-9236c7ca/preface/proxy/telemetry"
	"github.com/seed-9236c7ca/preface/proxy/telemetry/otlptest"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// open opens a Pipeline; what it logs is in out.
func open(t testing.TB, cfg telemetry.Config, out *bytes.Buffer) (*telemetry.Pipeline, *telemetry.Counters) {
	t.Helper()
	c := telemetry.New()
	p, err := telemetry.Open(context.Background(), telemetry.Options{Config: cfg, Counters: c, Logger: slog.New(slog.NewTextHandler(out, nil)), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return p, c
}

// exchange is one of a model call with everything in it.
func exchange() *telemetry.Exchange {
	now := time.Now()
	return &telemetry.Exchange{
		Start: now, Sent: now, FirstByte: now, FirstChunk: now, LastChunk: now, End: now.Add(time.Second),
		Method: "POST", Path: "/v1/messages", Template: "/v1/messages", Host: "h", Status: 200, Answered: 200, Ended: "complete",
		Upstream: "up:1", Terminal: true,
		Call: &telemetry.Call{
			Provider: "anthropic", Model: "m", Label: "other", Class: "turn", Stream: true, Session: "s", ResponseID: "r",
			Usage: usage.Usage{Fresh: usage.Of(3), CacheRead: usage.Of(5), Output: usage.Of(7)},
		},
	}
}

// TestGenAIMetricsAreLinted: at /metrics the GenAI metrics are there, what
// Prometheus' linter says of the conventions' own names apart, and none is if they
// are off.
func TestGenAIMetricsAreLinted(t *testing.T) {
	for words, want := range map[string][]string{
		"":                           {"gen_ai_client_operation_duration_seconds", "gen_ai_client_token_usage"},
		"gen_ai_latest_experimental": {"gen_ai_client_inference_duration_seconds", "gen_ai_client_inference_usage_cache_read_input_tokens_total"},
	} {
		t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", words)
		var out bytes.Buffer
		p, c := open(t, telemetry.Config{GenAIMetrics: telemetry.On}, &out)
		p.Observe(exchange())
		problems, err := testutil.GatherAndLint(c.Registry())
		if err != nil {
			t.Fatal(err)
		}
		for _, pr := range problems {
			t.Errorf("%s: %s", pr.Metric, pr.Text)
		}
		for _, name := range want {
			if n, err := testutil.GatherAndCount(c.Registry(), name); err != nil || n == 0 {
				t.Errorf("%q: %s has %d series, %v", words, name, n, err)
			}
		}
	}
	if p, _ := open(t, telemetry.Config{}, new(bytes.Buffer)); p.On() || p.Tracing() {
		t.Error("without any setting something is on")
	}
}

// TestBrokenTextIsExported: strings of clients that are no UTF-8, or very long, do
// not keep spans from being sent.
func TestBrokenTextIsExported(t *testing.T) {
	to := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL())
	p, _ := open(t, telemetry.Config{Metrics: telemetry.None}, new(bytes.Buffer))
	e := exchange()
	bad := "a\xff\xfe" + strings.Repeat("ü", 5000)
	e.Path, e.Host, e.Method, e.Template = bad, bad, bad, bad
	e.Call.Model, e.Call.Session, e.Call.Thread, e.Call.StopReason, e.Call.ResponseID, e.Call.Answerer = bad, bad, bad, bad, bad, bad
	p.Observe(e)
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if spans := to.Spans(); len(spans) != 2 || len(spans[1].Name) > 600 {
		t.Errorf("%d spans came, want 2 with short names", len(spans))
	}
}

// TestTimesBetweenChunks: a stream's are recorded, each once, by the names in force;
// an answer that is no stream has none.
func TestTimesBetweenChunks(t *testing.T) {
	for words, name := range map[string]string{
		"":                           "gen_ai.client.operation.time_per_output_chunk",
		"gen_ai_latest_experimental": "gen_ai.client.inference.time_per_output_chunk",
	} {
		to := otlptest.New(t)
		t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", words)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL())
		p, _ := open(t, telemetry.Config{Traces: telemetry.None, GenAIMetrics: telemetry.On}, new(bytes.Buffer))
		for _, stream := range []bool{true, false} {
			e := exchange()
			e.Call.Stream = stream
			e.Chunks.Add(30 * time.Millisecond)
			e.Chunks.Add(time.Second)
			p.Observe(e)
		}
		_ = p.Shutdown(context.Background())
		i := slices.IndexFunc(to.Metrics(), func(m otlptest.Metric) bool { return m.Name == name })
		if i < 0 {
			t.Fatalf("%q: no metric %s", words, name)
		}
		if m := to.Metrics()[i]; len(m.Points) != 1 || m.Points[0].Count != 2 || m.Points[0].Sum != 1.03 {
			t.Errorf("%q: %s has %+v, want 2 times of 1.03 s together", words, name, m.Points)
		}
	}
}

// TestBrokenResourceIsExported: nor do attributes of the program itself.
func TestBrokenResourceIsExported(t *testing.T) {
	to := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL())
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=%ffred,b%ff=2")
	p, _ := open(t, telemetry.Config{Metrics: telemetry.None}, new(bytes.Buffer))
	p.Observe(exchange())
	_ = p.Shutdown(context.Background())
	spans := to.Spans()
	if len(spans) != 2 || spans[0].Resource["team"] != "red" || spans[0].Resource["service.name"] != "preface" {
		t.Errorf("of 2 spans came %+v, want both with the team", spans)
	}
}

// TestFlagsTellWhoseParent: a collector can tell that the server span's parent is of
// another program, and the client span's is not.
func TestFlagsTellWhoseParent(t *testing.T) {
	to := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL())
	p, _ := open(t, telemetry.Config{Metrics: telemetry.None}, new(bytes.Buffer))
	e := exchange()
	e.Trace = p.Join([]byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), nil, false)
	p.Observe(e)
	_ = p.Shutdown(context.Background())
	spans := to.Spans()
	if server, client := spans[0].Flags, spans[1].Flags; server != 0x301 || client != 0x101 {
		t.Errorf("the flags are %#x and %#x, want 0x301 (sampled, parent known, remote) and 0x101", server, client)
	}
}

// TestRetriesAreEvents: tries that came to nothing are told by the client span.
func TestRetriesAreEvents(t *testing.T) {
	to := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL())
	p, _ := open(t, telemetry.Config{Metrics: telemetry.None}, new(bytes.Buffer))
	e := exchange()
	e.Retries = []time.Time{e.Sent, e.Sent}
	p.Observe(e)
	_ = p.Shutdown(context.Background())
	client := to.Spans()[1]
	if n := len(client.Events); n != 4 || client.Events[1].Name != "preface.retry" || client.Attributes["http.request.resend_count"] != int64(2) {
		t.Errorf("the client span has %+v and %v, want two retries", client.Events, client.Attributes)
	}
}

// TestI12_HeadersAreNotPrinted: malformed headers for the collector are told by the
// variable's name; the libraries would print them.
func TestI12_HeadersAreNotPrinted(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Bearer s3cret")
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "s3cret")
	var out bytes.Buffer
	p, _ := open(t, telemetry.Config{}, &out)
	p.Log()
	if text := out.String(); strings.Contains(text, "s3cret") || !strings.Contains(text, "OTEL_EXPORTER_OTLP_HEADERS") {
		t.Errorf("logged %s, want the variable and not its value", text)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Shutdown(ended)
}

// TestLogLine: one line says what is on and why.
func TestLogLine(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/v1/traces")
	var out bytes.Buffer
	p, _ := open(t, telemetry.Config{}, &out)
	p.Log()
	want := `msg=telemetry traces="otlp (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)" metrics="none (no endpoint is given)" genai_metrics=off genai_names=1.41`
	if !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("logged %s\nwant one line with %s", out.String(), want)
	}
}
