package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// instruments are the metrics of the GenAI conventions, of one vocabulary.
type instruments struct {
	duration, firstChunk  metric.Float64Histogram
	chunk                 metric.Float64Histogram
	tokens                metric.Int64Histogram // 1.41: of both directions
	inputSize, outputSize metric.Int64Histogram // new: of each
	sums                  []tokenSum            // new

	known map[series]metric.MeasurementOption // Observe's
}

// A tokenSum counts one kind of token.
type tokenSum struct {
	metric.Int64Counter
	of func(*Call) (n int64, known bool)
}

var (
	// durationBuckets are the conventions', and three more: agents' calls last
	// longer than 82 s.
	durationBuckets = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36}
	firstBuckets    = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	tokenBuckets    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

func newInstruments(m metric.Meter, v vocabulary) (*instruments, error) {
	i := new(instruments)
	var errs [5]error
	duration, first, chunk := metricDuration, metricFirstChunk, metricChunk
	if v.latest {
		duration, first, chunk = newMetricDuration, newMetricFirstChunk, newMetricChunk
	}
	i.duration, errs[0] = m.Float64Histogram(duration, metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(durationBuckets...),
		metric.WithDescription("How long model calls took, from the request to the end of the answer."))
	i.firstChunk, errs[1] = m.Float64Histogram(first, metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(firstBuckets...),
		metric.WithDescription("How long streams took to their first chunk."))
	i.chunk, errs[4] = m.Float64Histogram(chunk, metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(durationBuckets[:chunkBounds]...),
		metric.WithDescription("How long streams took from one chunk to the next."))
	if v.latest {
		errs[2] = i.addSums(m)
	} else {
		i.tokens, errs[3] = tokenSizes(m, metricTokenUsage, "Tokens of model calls, input with those read from and written to a cache.")
	}
	return i, errors.Join(errs[:]...)
}

func tokenSizes(m metric.Meter, name, what string) (metric.Int64Histogram, error) {
	return m.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(tokenBuckets...))
}

func (i *instruments) addSums(m metric.Meter) error {
	var errs [2]error
	i.inputSize, errs[0] = tokenSizes(m, newMetricInputSize, "Input tokens of model calls, with those read from and written to a cache.")
	i.outputSize, errs[1] = tokenSizes(m, newMetricOutputSize, "Output tokens of model calls.")
	for _, s := range []struct {
		name, what string
		of         func(*Call) (int64, bool)
	}{
		{newMetricInput, "Input tokens, with those read from and written to a cache.", func(c *Call) (int64, bool) { u := c.Usage.Input(); return u.N, u.Known }},
		{newMetricOutput, "Output tokens.", func(c *Call) (int64, bool) { return c.Usage.Output.N, c.Usage.Output.Known }},
		{newMetricCacheRead, "Input tokens read from a cache.", func(c *Call) (int64, bool) { return c.Usage.CacheRead.N, c.Usage.CacheRead.Known }},
		{newMetricCacheWrite, "Input tokens written to a cache.", func(c *Call) (int64, bool) { u := c.Usage.Written(); return u.N, u.Known }},
		{newMetricReasoning, "Output tokens of reasoning.", func(c *Call) (int64, bool) { return c.Usage.Reasoning.N, c.Usage.Reasoning.Known }},
	} {
		counter, err := m.Int64Counter(s.name, metric.WithUnit("{token}"), metric.WithDescription(s.what))
		if err != nil {
			return err
		}
		i.sums = append(i.sums, tokenSum{counter, s.of})
	}
	return errors.Join(errs[:]...)
}

// measure records a model call that was sent.
func (p *Pipeline) measure(e *Exchange) {
	if e.Call == nil || !e.model() || e.Sent.IsZero() {
		return
	}
	ctx, i := context.Background(), p.instruments
	plain := series{provider: e.Call.Provider, model: e.Call.Label, upstream: e.Upstream, secure: e.Secure}
	failed := plain
	failed.failure = e.failure()
	i.duration.Record(ctx, e.End.Sub(e.Sent).Seconds(), i.labels(failed))
	if e.Call.Stream && !e.FirstChunk.IsZero() {
		i.firstChunk.Record(ctx, e.FirstChunk.Sub(e.Sent).Seconds(), i.labels(plain))
		for took := range e.Chunks.all() {
			i.chunk.Record(ctx, took.Seconds(), i.labels(plain))
		}
	}
	if i.tokens != nil {
		i.sizes(ctx, e, plain)
	} else {
		i.count(ctx, e, plain)
	}
}

// A series is what the labels of a measurement are made of. There are few: the
// model is one of the price table or "other", hosts are those of the configuration.
type series struct {
	provider, model, upstream, failure, token, modality string
	secure                                              bool
}

// maxSeries bounds those whose labels are kept: a set of them takes some 2 µs to
// make. Reloads bring new hosts and models, so it can be reached.
const maxSeries = 10_000

func (i *instruments) labels(s series) metric.MeasurementOption {
	if known, ok := i.known[s]; ok {
		return known
	}
	set := metric.WithAttributeSet(attribute.NewSet(s.labels()...))
	if i.known == nil || len(i.known) >= maxSeries {
		i.known = map[series]metric.MeasurementOption{}
	}
	i.known[s] = set
	return set
}

// labels are those that have a value.
func (s *series) labels() (all []attribute.KeyValue) {
	for _, l := range [...]struct{ name, text string }{
		{attrOperation, operationChat}, {attrProvider, s.provider}, {attrRequestModel, s.model},
		{attrErrorType, s.failure}, {attrTokenType, s.token}, {newAttrModality, s.modality},
	} {
		if text := clean(l.text); text != "" {
			all = append(all, attribute.String(l.name, text))
		}
	}
	if host, port := server(s.upstream, s.secure); host != "" {
		all = append(all, attribute.String(attrServerAddress, clean(host)), attribute.Int64(attrServerPort, port))
	}
	return all
}

// sizes records tokens by the names of 1.41. What a provider did not report is not
// recorded.
func (i *instruments) sizes(ctx context.Context, e *Exchange, s series) {
	if in := e.Call.Usage.Input(); in.Known {
		s.token = tokenInput
		i.tokens.Record(ctx, in.N, i.labels(s))
	}
	if out := e.Call.Usage.Output; out.Known {
		s.token = tokenOutput
		i.tokens.Record(ctx, out.N, i.labels(s))
	}
}

// count records tokens by the new names, by which a call that failed is recorded
// with none.
func (i *instruments) count(ctx context.Context, e *Exchange, s series) {
	failed := e.failure() != ""
	if in := e.Call.Usage.Input(); in.Known || failed {
		i.inputSize.Record(ctx, in.N, i.labels(s))
	}
	if out := e.Call.Usage.Output; out.Known || failed {
		i.outputSize.Record(ctx, out.N, i.labels(s))
	}
	s.modality = modalityUnknown
	for _, sum := range i.sums {
		if n, known := sum.of(e.Call); known {
			sum.Add(ctx, n, i.labels(s))
		}
	}
}
