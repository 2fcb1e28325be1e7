package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// A Pipeline makes spans and GenAI metrics of exchanges and exports them. A nil
// one does nothing. Observe is called by one goroutine at a time, the rest by any
// number.
type Pipeline struct {
	config Config
	about  []any // for the log line at start
	words  vocabulary
	log    *slog.Logger

	resource *resource.Resource
	troubles troubles

	sampler sdktrace.Sampler // of OTEL_TRACES_SAMPLER
	queue   *spanQueue       // nil: no spans
	lost    atomic.Int64     // exchanges that nobody had time for

	instruments *instruments // nil: no GenAI metrics
	meters      *metric.MeterProvider
	halt        context.CancelFunc // of what sends metrics

	scratch encoding // Observe's
}

// Options are what a Pipeline works with.
type Options struct {
	Config   Config
	Counters *Counters // whose metrics are exported, and that gain its own
	Logger   *slog.Logger
	Version  string // of the program
}

// Open starts what the configuration and OpenTelemetry's environment variables
// ask for. It does not look whether a collector is there. The program opens one
// Pipeline: the libraries' troubles, which are global, are told by its logger.
func Open(ctx context.Context, o Options) (*Pipeline, error) {
	o.Config.SetDefaults()
	p := &Pipeline{config: o.Config, log: o.Logger, words: vocabularyFor(os.Getenv(optInVariable))}
	p.troubles = troubles{log: o.Logger, every: tellEvery}
	traces := p.choose("traces", o.Config.Traces)
	metrics := p.choose("metrics", o.Config.Metrics)
	if traces.exporter == None && metrics.exporter == None && o.Config.GenAIMetrics == Off {
		return p, nil
	}
	// The libraries print malformed headers, with the credentials in them.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(&p.troubles)
	var err error
	if p.resource, err = describe(ctx, o.Version); err != nil {
		return nil, fmt.Errorf("cannot read OTEL_RESOURCE_ATTRIBUTES: want name=value,name=value")
	}
	if err := errors.Join(p.openTraces(ctx, traces), p.openMetrics(ctx, metrics, o.Counters)); err != nil {
		return nil, errors.Join(err, p.Shutdown(ctx))
	}
	p.register(o.Counters)
	return p, nil
}

// choose decides about a signal and notes why, for the log line.
func (p *Pipeline) choose(signal, configured string) choice {
	c := p.config.choose(signal, configured)
	p.about = append(p.about, signal, fmt.Sprintf("%s (%s)", c.exporter, c.why))
	if c.ignored != "" {
		p.log.Warn("unknown exporter; nothing is exported: want otlp, console or none", "variable", c.why)
	}
	if v := unspoken(signal); v != "" && c.exporter == OTLP {
		p.log.Warn("only OTLP over HTTP is spoken here; the port is mostly 4318", "signal", signal, "protocol", clean(v))
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_HEADERS"} {
		if c.exporter == OTLP && !readable(os.Getenv(name)) {
			p.log.Warn("cannot read all headers for the collector: want name=value,name=value", "variable", name)
		}
	}
	return c
}

// readable reports whether a list of headers is one.
func readable(list string) bool {
	for item := range strings.SplitSeq(list, ",") {
		name, _, ok := strings.Cut(item, "=")
		if strings.TrimSpace(item) != "" && (!ok || strings.TrimSpace(name) == "") {
			return false
		}
	}
	return true
}

// Log says what is on and why.
func (p *Pipeline) Log() {
	about := append(p.about, "genai_metrics", p.config.GenAIMetrics)
	if p.On() {
		names := "1.41"
		if p.words.latest {
			names = optInGenAI
		}
		about = append(about, "genai_names", names)
	}
	p.log.Info("telemetry", about...)
}

// Tracing reports whether there are spans.
func (p *Pipeline) Tracing() bool { return p != nil && p.queue != nil }

// On reports whether exchanges are to be observed.
func (p *Pipeline) On() bool { return p != nil && (p.queue != nil || p.instruments != nil) }

// Wants reports whether anything would be made of an exchange of this trace; of nil
// nobody has decided yet.
func (p *Pipeline) Wants(t *Trace) bool {
	return p.On() && (p.instruments != nil || t == nil || t.flags.IsSampled())
}

// Observe makes of an exchange that is over what is wanted. It keeps nothing of e.
func (p *Pipeline) Observe(e *Exchange) {
	if p.queue != nil {
		p.spans(e)
	}
	if p.instruments != nil {
		p.measure(e)
	}
}

// Lose counts an exchange that there was no time to observe.
func (p *Pipeline) Lose() { p.lost.Add(1) }

// Shutdown sends what there is, until ctx ends at most, and stops. Called again it
// does nothing.
func (p *Pipeline) Shutdown(ctx context.Context) error {
	if p == nil {
		return nil
	}
	var errs [2]error
	free := context.WithoutCancel(ctx)
	if p.queue != nil {
		defer context.AfterFunc(ctx, p.queue.halt)()
		errs[0] = p.queue.close(free)
	}
	if p.meters != nil {
		defer context.AfterFunc(ctx, p.halt)()
		if err := p.meters.Shutdown(free); !errors.Is(err, metric.ErrReaderShutdown) {
			errs[1] = err
		}
	}
	return errors.Join(errs[:]...)
}

// register adds the metrics about the export itself.
func (p *Pipeline) register(c *Counters) {
	c.CounterFunc("preface_telemetry_errors_total", "Exports of spans or metrics that failed, or settings of OpenTelemetry that could not be read. Agents do not notice.",
		func() float64 { return float64(p.troubles.count.Load()) })
	if p.queue == nil {
		return
	}
	c.CounterFunc("preface_trace_spans_total", "Spans that the collector took.", func() float64 { return float64(p.queue.sent.Load()) })
	c.CounterFunc("preface_trace_dropped_total", "Spans that were lost: the queue was full (OTEL_BSP_MAX_QUEUE_SIZE), or the collector did not take them.",
		func() float64 { return float64(p.queue.full.Load() + p.queue.failed.Load()) })
	c.CounterFunc("preface_trace_passed_total", "Requests that ended too fast to make spans or GenAI metrics of them.", func() float64 { return float64(p.lost.Load()) })
	c.Gauge("preface_trace_queue_spans", "Spans that wait for the collector.", func() float64 { return float64(p.queue.waiting.Load()) })
}
