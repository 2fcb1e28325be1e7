package otlptest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A Receiver is an OTLP receiver on loopback.
type Receiver struct {
	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex // guards the following
	spans   []Span
	metrics []Metric // of the newest export
	headers http.Header
	fault   http.HandlerFunc // instead of receiving, if not nil
	asked   int              // exports that came, faults included
}

// New starts a receiver that ends with the test.
func New(t testing.TB) *Receiver {
	r := &Receiver{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", r.receive(r.takeSpans))
	mux.HandleFunc("POST /v1/metrics", r.receive(r.takeMetrics))
	r.server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

// Close ends it, and breaks off what is not answered.
func (r *Receiver) Close() {
	r.server.CloseClientConnections()
	r.server.Close()
}

// URL is what OTEL_EXPORTER_OTLP_ENDPOINT has to be.
func (r *Receiver) URL() string { return r.server.URL }

// Fail has h answer instead, until it is nil.
func (r *Receiver) Fail(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = h
}

// Spans are all that came, in the order in which they began.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return inOrder(r.spans)
}

// Metrics are those of the newest export, by name.
func (r *Receiver) Metrics() []Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.metrics
}

// Headers are those of the newest export.
func (r *Receiver) Headers() http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.headers.Clone()
}

// Asked is how many exports came, answered or not.
func (r *Receiver) Asked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *Receiver) receive(take func(body []byte) proto.Message) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.headers, r.asked = req.Header.Clone(), r.asked+1
		fault := r.fault
		r.mu.Unlock()
		body, err := read(req) // in any case: who has not read does not see the client leave
		if fault != nil {
			fault(w, req)
			return
		}
		if err != nil {
			r.t.Errorf("otlptest: cannot read an export: %v", err)
		}
		answer, _ := proto.Marshal(take(body))
		w.Header().Set("content-type", "application/x-protobuf")
		_, _ = w.Write(answer)
	}
}

func read(req *http.Request) ([]byte, error) {
	if req.Header.Get("content-encoding") != "gzip" {
		return io.ReadAll(req.Body)
	}
	z, err := gzip.NewReader(req.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (r *Receiver) takeSpans(body []byte) proto.Message {
	var in coltrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &in); err != nil {
		r.t.Errorf("otlptest: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range in.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				r.spans = append(r.spans, spanOf(s, ss.SchemaUrl, valuesOf(rs.Resource.GetAttributes())))
			}
		}
	}
	return &coltrace.ExportTraceServiceResponse{}
}

func (r *Receiver) takeMetrics(body []byte) proto.Message {
	var in colmetrics.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &in); err != nil {
		r.t.Errorf("otlptest: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = nil
	for _, rm := range in.ResourceMetrics {
		for _, sm := range rm.ScopeMetrics {
			for _, m := range sm.Metrics {
				r.metrics = append(r.metrics, metricOf(m))
			}
		}
	}
	return &colmetrics.ExportMetricsServiceResponse{}
}
