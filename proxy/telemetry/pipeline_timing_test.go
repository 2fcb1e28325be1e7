package telemetry_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime/metrics"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// BenchmarkObserve is what one exchange costs off a request's way: two spans, and
// the GenAI metrics where they are on.
func BenchmarkObserve(b *testing.B) {
	to := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer to.Close()
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	b.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "65536") // nothing is dropped
	for name, cfg := range map[string]telemetry.Config{
		"spans":   {Metrics: telemetry.None},
		"metrics": {Traces: telemetry.None, Metrics: telemetry.None, GenAIMetrics: telemetry.On},
	} {
		b.Run(name, func(b *testing.B) {
			p, _ := open(b, cfg, new(bytes.Buffer))
			e := exchange()
			b.ReportAllocs()
			before := cpuSeconds()
			for b.Loop() {
				p.Observe(e)
			}
			_ = p.Shutdown(context.Background())
			b.ReportMetric((cpuSeconds()-before)*1e9/float64(b.N), "cpu-ns/op") // with what is sent
		})
	}
}

// BenchmarkJoin is what a request with a traceparent pays on its way.
func BenchmarkJoin(b *testing.B) {
	b.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	p, _ := open(b, telemetry.Config{Metrics: telemetry.None}, new(bytes.Buffer))
	parent, state := []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), []byte("a=1")
	var head [64]byte
	b.ReportAllocs()
	for b.Loop() {
		p.Join(parent, state, false).Append(head[:0])
	}
}

// cpuSeconds is what the program's own code has used so far.
func cpuSeconds() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}
