package proxy

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// collectors are the ways in which one is of no use.
var collectors = map[string]func(tb *tracedBench){
	"refuses connections": func(tb *tracedBench) { tb.to.Close() },
	"is mute": func(tb *tracedBench) {
		tb.to.Fail(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	},
	"is overloaded": func(tb *tracedBench) {
		tb.to.Fail(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("retry-after", "3600")
			http.Error(w, "collector-s3cret", http.StatusServiceUnavailable)
		})
	},
	"is throttling": func(tb *tracedBench) {
		tb.to.Fail(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "collector-s3cret", http.StatusTooManyRequests)
		})
	},
	"knows nobody": func(tb *tracedBench) {
		tb.to.Fail(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no such key: "+r.Header.Get("authorization"), http.StatusUnauthorized)
		})
	},
}

// TestI10_Fault39_Collector: a collector that is down, mute or full changes nothing
// for agents; what waits for it is bounded, what is lost is counted, it is told
// without quoting anybody and not for each span, and the end does not wait for it.
func TestI10_Fault39_Collector(t *testing.T) {
	for what, breaks := range collectors {
		t.Run(what, func(t *testing.T) {
			const queue, requests = 8, 40
			tb := newTraced(t, telemetry.Config{GenAIMetrics: telemetry.On}, []string{
				"OTEL_BSP_MAX_QUEUE_SIZE", strconv.Itoa(queue), "OTEL_BSP_SCHEDULE_DELAY", "1", "OTEL_BSP_EXPORT_TIMEOUT", "20",
				"OTEL_METRIC_EXPORT_INTERVAL", "10", "OTEL_METRIC_EXPORT_TIMEOUT", "20",
				"OTEL_EXPORTER_OTLP_HEADERS", "authorization=collector-s3cret",
			})
			breaks(tb)
			for i := range requests {
				if r := tb.post("/v1/messages", anthropicTurn, "x-session-id", "s"); r.StatusCode != 200 || r.err != nil || !strings.Contains(string(r.body), "end_turn") {
					t.Fatalf("request %d: status %d, %v", i, r.StatusCode, r.err)
				}
				if n := tb.metric("preface_trace_queue_spans"); n > queue {
					t.Fatalf("%v spans wait, want %d at most", n, queue)
				}
			}
			tb.stop()
			ended, cancel := context.WithCancel(context.Background())
			cancel() // it is given no time at all
			if err := tb.srv.pipeline.Shutdown(ended); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
			if n := tb.metric("preface_trace_dropped_total"); n != 2*requests {
				t.Errorf("%v spans are counted as dropped, want all %d", n, 2*requests)
			}
			if n := tb.metric("preface_telemetry_errors_total"); n == 0 {
				t.Error("no failed export is counted")
			}
			out := tb.out.String()
			if n := strings.Count(out, "cannot export to the collector"); n == 0 || n > 2 {
				t.Errorf("the failures are told %d times, want once or twice:\n%s", n, out)
			}
			if strings.Contains(out, "s3cret") {
				t.Errorf("the log quotes a credential or the collector's answer:\n%s", out)
			}
		})
	}
}

// metric is the value of a metric without labels, 0 if it is not there.
func (b *bench) metric(name string) float64 {
	for line := range strings.Lines(b.metrics()) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil {
				b.t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// TestCollectorComesBack: what is exported after a fault arrives.
func TestCollectorComesBack(t *testing.T) {
	tb := newTraced(t, telemetry.Config{}, []string{"OTEL_BSP_SCHEDULE_DELAY", "1"})
	tb.to.Fail(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	tb.post("/v1/messages", anthropicTurn, "x-session-id", "s")
	eventually(t, "an export fails", func() bool { return tb.metric("preface_trace_dropped_total") == 2 })
	tb.to.Fail(nil)
	tb.post("/v1/messages", anthropicTurn, "x-session-id", "s")
	if n := len(tb.spans()); n != 2 || tb.metric("preface_trace_spans_total") != 2 {
		t.Errorf("%d spans came, want the 2 of the second request", n)
	}
}

// TestSpansCostNothingWhenOff: where nothing asks for spans, none of the hooks
// allocates.
func TestSpansCostNothingWhenOff(t *testing.T) {
	b := newBench(t)
	ctx := fakeRequest(t, b, anthropicTurn, "s", "traceparent", sampled, "tracestate", "a=1")
	ctx.Request.SetBodyStream(strings.NewReader(anthropicTurn), len(anthropicTurn))
	x := b.srv.begin(ctx)
	defer x.finish()
	if err := x.prepare(); err != nil {
		t.Fatal(err)
	}
	rep := x.relay.report()
	if n := testing.AllocsPerRun(100, func() {
		x.observe()
		x.join()
		x.propagate()
		x.tells([]byte("tracestate"))
		x.noteRetry()
		x.noteRefused(left)
		x.noteEnd("complete", &rep)
		x.observeDone()
	}); n != 0 || x.seen != nil || x.untold {
		t.Errorf("the hooks allocate %v times, and gather %v", n, x.seen)
	}
}
