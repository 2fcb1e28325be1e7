package proxy

import (
	"bytes"
	"context"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
	"github.com/seed-9236c7ca/preface/proxy/telemetry/otlptest"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

var updateGolden = flag.Bool("update", false, "rewrite testdata/*.golden")

// golden compares text with a file of testdata, or writes it there.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: go test ./proxy -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; go test ./proxy -update rewrites it):\n%s", path, diff)
	}
}

// A tracedBench is a bench whose proxy exports to a receiver.
type tracedBench struct {
	*bench
	to    *otlptest.Receiver
	close func() // sends what there is; once
}

// newTraced starts one. vars are names and values of environment variables.
func newTraced(t *testing.T, cfg telemetry.Config, vars []string, changes ...setupFunc) *tracedBench {
	t.Helper()
	tb := &tracedBench{to: otlptest.New(t)}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", tb.to.URL())
	for i := 0; i+1 < len(vars); i += 2 {
		t.Setenv(vars[i], vars[i+1])
	}
	tb.bench = newBench(t, append(changes, func(b *bench, s *Setup, d *Deps, _ *prefixstore.Options) {
		s.Config.Telemetry = cfg
		p, err := telemetry.Open(context.Background(), telemetry.Options{Config: cfg, Counters: d.Counters, Logger: d.Logger, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		d.Pipeline = p
		tb.close = sync.OnceFunc(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := p.Shutdown(ctx); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		})
		t.Cleanup(tb.close)
	})...)
	return tb
}

// spans ends the proxy and returns what the receiver has.
func (tb *tracedBench) spans() []otlptest.Span {
	tb.t.Helper()
	tb.stop()
	tb.close()
	return tb.to.Spans()
}

// of returns the spans of a kind.
func of(spans []otlptest.Span, kind string) []otlptest.Span {
	return slices.DeleteFunc(slices.Clone(spans), func(s otlptest.Span) bool { return s.Kind != kind })
}

// dated are prices with a date.
func dated(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
	p, err := usage.NewPrices([]usage.Entry{
		{Models: []string{"claude-opus-5-5"}, From: "2026-01-01", Source: "a test", Date: "2026-10-08", Input: "4", Output: "20", Read: "0.20", Write5m: "5", Write1h: "8"},
		{Models: []string{"gpt-6-sol"}, From: "2026-02-01", Source: "a test", Date: "2026-10-08", Input: "2", Output: "10", Read: "0.20", Write30m: "2.50"},
	})
	if err != nil {
		panic(err)
	}
	s.Prices = p
}

// sentHeader is a header of the provider's last request, all its lines.
func (tb *tracedBench) sentHeader(name string) []string { return linesOf(tb.last(), name) }

func linesOf(x provider.Exchange, name string) (lines []string) {
	for _, f := range x.Header {
		if strings.EqualFold(f.Name, name) {
			lines = append(lines, f.Value)
		}
	}
	return lines
}

// volatile are attributes whose values differ from run to run.
var volatile = []string{
	"server.port", "preface.request", "gen_ai.response.id", "gen_ai.response.time_to_first_chunk",
}

// play has one conversation in a dialect: a turn, a streamed one, one that the
// provider refuses, one that Preface does, and a count.
func (tb *tracedBench) play(name string) {
	tb.t.Helper()
	talk := talks()[name]
	post := func(want int, body string, header ...string) {
		tb.t.Helper()
		if r := tb.post(talk.path, body, append(header, "x-session-id", "s")...); r.StatusCode != want {
			tb.t.Fatalf("%s: status %d, want %d: %s", name, r.StatusCode, want, r.body)
		}
		tb.flush() // one after the other, as answers are accounted for
	}
	post(200, talk.body(1, false))
	post(200, talk.body(2, true))
	post(429, talk.body(3, false), "x-provider-fault", "status=429")
	post(400, `{"model":"x","model":"y","messages":[],"input":[]}`)
	if name == "anthropic" {
		if r := tb.post("/v1/messages/count_tokens", talk.body(3, false), "x-session-id", "s"); r.StatusCode != http.StatusOK {
			tb.t.Fatalf("count: status %d: %s", r.StatusCode, r.body)
		}
	}
	if r := tb.do("GET", "/v1/models?limit=1", "", "anthropic-version", "2023-06-01"); r.StatusCode >= 500 {
		tb.t.Fatalf("models: status %d", r.StatusCode)
	}
}

// vocabularies are the two sets of GenAI names, by the variable that chooses.
var vocabularies = map[string]string{"1.41": "", "latest": "gen_ai_latest_experimental"}

// TestGoldenTelemetry: what an OTLP receiver gets of a conversation in each
// dialect, by each set of names.
func TestGoldenTelemetry(t *testing.T) {
	for dialect := range talks() {
		for words, optIn := range vocabularies {
			t.Run(dialect+" "+words, func(t *testing.T) {
				tb := newTraced(t, telemetry.Config{GenAIMetrics: telemetry.On}, []string{"OTEL_SEMCONV_STABILITY_OPT_IN", optIn}, dated, policy(Enforced))
				tb.play(dialect)
				spans := tb.spans()
				golden(t, "spans_"+dialect+"_"+words+".golden", otlptest.Golden(spans, nil, volatile...))
				golden(t, "metrics_"+dialect+"_"+words+".golden", otlptest.GoldenMetrics(tb.to.Metrics(), "gen_ai.", volatile...))
				checkTimes(t, spans)
				if !slices.ContainsFunc(tb.to.Metrics(), func(m otlptest.Metric) bool { return m.Name == "preface_requests_total" }) {
					t.Error("the preface_* metrics do not go out over OTLP")
				}
			})
		}
	}
}

// checkTimes checks the order of all times, which golden files leave out.
func checkTimes(t *testing.T, spans []otlptest.Span) {
	t.Helper()
	byID := map[string]otlptest.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	for _, s := range spans {
		times := []time.Time{s.Start}
		for _, e := range s.Events {
			times = append(times, e.At)
		}
		if times = append(times, s.End); !slices.IsSortedFunc(times, time.Time.Compare) {
			t.Errorf("%s: the times %v are not in order", s.Name, times)
		}
		if p, ok := byID[s.Parent]; s.Kind == "CLIENT" && (!ok || s.Start.Before(p.Start) || s.End.After(p.End) || s.Trace != p.Trace) {
			t.Errorf("%s does not lie within its parent %s", s.Name, p.Name)
		}
	}
}

// TestI12_NoSecretInTelemetry: no credential, header value, query or text of a
// request or an answer is in what goes out.
func TestI12_NoSecretInTelemetry(t *testing.T) {
	tb := newTraced(t, telemetry.Config{GenAIMetrics: telemetry.On}, []string{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer collector-s3cret"}, dated)
	body := strings.Replace(talks()["anthropic"].body(1, false), "question 0", "text-s3cret", 1)
	tb.post("/v1/messages?key=query-s3cret", body, "x-api-key", "sk-s3cret", "authorization", "Bearer sk-s3cret", "user-agent", "agent-s3cret", "x-session-id", "s")
	tb.post("/v1/nowhere/of/ours", "{}", "x-api-key", "sk-s3cret")
	out := append(otlptest.Golden(tb.spans(), nil), otlptest.GoldenMetrics(tb.to.Metrics(), "")...)
	if len(out) < 2000 {
		t.Fatalf("there is hardly anything to look at: %s", out)
	}
	for where, text := range map[string][]byte{"exported": out, "logged": []byte(tb.out.String()), "shown at /metrics": []byte(tb.metrics())} {
		for _, secret := range []string{"s3cret", "be kind", "plain words"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%q is %s", secret, where)
			}
		}
	}
	if got := tb.to.Headers().Get("authorization"); got != "Bearer collector-s3cret" {
		t.Errorf("the collector got authorization %q", got)
	}
}
