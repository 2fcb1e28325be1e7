package telemetry

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// Counters are the proxy's metrics. All methods may be called from any number
// of goroutines.
type Counters struct {
	reg   *prometheus.Registry
	genAI *prometheus.Registry // the metrics of the GenAI conventions: a Pipeline's

	Accounts *Accounts

	requests, prefixes                  *pairs
	refused, passthrough, tokens        *prometheus.CounterVec
	panics, composeFailed, bytesChanged prometheus.Counter
	held, firstByte                     *prometheus.HistogramVec
	overhead                            prometheus.Histogram

	byDialect sync.Map // dialect → *classCounters
}

// New returns counters at zero, in a registry of their own.
func New() *Counters {
	c := &Counters{
		reg:           prometheus.NewRegistry(),
		genAI:         prometheus.NewRegistry(),
		requests:      newPairs(vec("preface_requests_total", "Requests by route and by how they ended.", "route", "end")),
		refused:       vec("preface_refused_total", "Requests that Preface answered itself, by reason.", "reason"),
		passthrough:   vec("preface_passthrough_total", "Model calls passed on untouched because no place for a prefix could be found in them, by reason.", "reason"),
		prefixes:      newPairs(vec("preface_prefix_total", "Model calls by what was done: inject, or bare with the reason.", "route", "decision")),
		tokens:        vec("preface_tokens_total", "Tokens as reported by providers, in disjoint classes.", "dialect", "class"),
		panics:        counter("preface_panics_total", "Panics of ours that were recovered: of a request, or of what meters and explains its answer."),
		composeFailed: counter("preface_compose_failed_total", "Sessions whose contributors gave no prefix."),
		bytesChanged:  counter("preface_bytes_changed_outside_splice_total", "Requests whose bytes outside the inserted ranges were not the client's. Any value above 0 is a fault of Preface."),
		held: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "preface_held_seconds", Help: "How long requests waited for the first byte of another's answer (burst.hold), by how that ended.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30},
		}, []string{"end"}),
		firstByte: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "preface_upstream_first_byte_seconds", Help: "How long providers took from a request's first byte to the head of their answer.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600},
		}, []string{"route"}),
		overhead: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "preface_overhead_seconds", Help: "What Preface itself takes of a model call, from its last byte in to where it may leave; without burst.hold.",
			Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
		}),
	}
	c.Accounts = newAccounts(c.reg)
	c.reg.MustRegister(c.requests.vec, c.refused, c.passthrough, c.prefixes.vec, c.tokens, c.panics, c.composeFailed, c.bytesChanged, c.held, c.firstByte, c.overhead,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return c
}

func vec(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// Gauge adds a metric that is asked for its value when metrics are read.
func (c *Counters) Gauge(name, help string, value func() float64) {
	c.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// CounterFunc adds a counter that somebody else keeps.
func (c *Counters) CounterFunc(name, help string, value func() float64) {
	c.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

// Registry is where the metrics are, for tests.
func (c *Counters) Registry() prometheus.Gatherer { return prometheus.Gatherers{c.reg, c.genAI} }

// Handler serves the metrics in Prometheus' text format.
func (c *Counters) Handler() http.Handler {
	return promhttp.HandlerFor(c.Registry(), promhttp.HandlerOpts{})
}

// Request counts a request that ended.
func (c *Counters) Request(route, end string) { c.requests.of(route, end).Inc() }

// Refused counts an answer of our own.
func (c *Counters) Refused(reason string) { c.refused.WithLabelValues(reason).Inc() }

// Passthrough counts a model call in which no place for a prefix was found.
func (c *Counters) Passthrough(reason string) { c.passthrough.WithLabelValues(reason).Inc() }

// Prefix counts a model call by what was done to it.
func (c *Counters) Prefix(route string, injected bool, why string) {
	decision := "inject"
	if !injected {
		decision = "bare_" + why
	}
	c.prefixes.of(route, decision).Inc()
}

// Tokens adds a provider's count. Classes that were not reported add nothing.
func (c *Counters) Tokens(dialect string, u usage.Usage) {
	to := c.classes(dialect)
	for i, n := range [...]usage.Count{u.Fresh, u.Unsplit, u.CacheRead, u.Write5m, u.Write1h, u.Write30m, u.WriteOther, u.Output} {
		if n.Known {
			to[i].Add(float64(n.N))
		}
	}
}

// tokenClasses are the values of the label class, in the order of Tokens.
var tokenClasses = [...]string{
	"fresh", "unsplit", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write_30m", "cache_write_other", "output",
}

type classCounters [len(tokenClasses)]prometheus.Counter

// classes returns a dialect's token counters, looked up once.
func (c *Counters) classes(dialect string) *classCounters {
	if v, ok := c.byDialect.Load(dialect); ok {
		return v.(*classCounters)
	}
	to := new(classCounters)
	for i, class := range tokenClasses {
		to[i] = c.tokens.WithLabelValues(dialect, class)
	}
	c.byDialect.Store(dialect, to)
	return to
}

// Held counts a request that waited for the answer to another, and how long.
func (c *Counters) Held(end string, waited time.Duration) {
	c.held.WithLabelValues(end).Observe(waited.Seconds())
}

// An Observer takes values of one series of a histogram.
type Observer = prometheus.Observer

// FirstByte is where the times to the first byte of a route's provider go.
func (c *Counters) FirstByte(route string) prometheus.Observer {
	return c.firstByte.WithLabelValues(route)
}

// Overhead counts a model call and what Preface took of it.
func (c *Counters) Overhead(took time.Duration) { c.overhead.Observe(took.Seconds()) }

// Build shows which program this is.
func (c *Counters) Build(version, goversion string) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "preface_build_info", Help: "1; the labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": goversion}})
	g.Set(1)
	c.reg.MustRegister(g)
}

// Panic counts a fault of ours.
func (c *Counters) Panic() { c.panics.Inc() }

// ComposeFailed counts a session whose contributors gave no prefix.
func (c *Counters) ComposeFailed() { c.composeFailed.Inc() }

// BytesChanged counts a broken promise I3.
func (c *Counters) BytesChanged() { c.bytesChanged.Inc() }
