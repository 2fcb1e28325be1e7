package telemetry

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	otelmetric "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// describe is the program as a resource; OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES win over what is known here.
func describe(ctx context.Context, version string) (*resource.Resource, error) {
	id := newTraceID()
	return resource.New(ctx,
		resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "preface"), attribute.String("service.version", version),
			attribute.String("service.instance.id", id.String())),
		resource.WithFromEnv())
}

// samplers are those of OTEL_TRACES_SAMPLER. They are made here and not by the
// library, since they are asked before there is a span.
func sampler() (sdktrace.Sampler, error) {
	name := strings.ToLower(strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER")))
	if name == "" {
		return sdktrace.ParentBased(sdktrace.AlwaysSample()), nil
	}
	root, based := strings.CutPrefix(name, "parentbased_")
	var s sdktrace.Sampler
	switch root {
	case "always_on":
		s = sdktrace.AlwaysSample()
	case "always_off":
		s = sdktrace.NeverSample()
	case "traceidratio":
		ratio, err := ratio()
		if err != nil {
			return nil, err
		}
		s = sdktrace.TraceIDRatioBased(ratio)
	default:
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER: want always_on, always_off, traceidratio, or one of them after parentbased_")
	}
	if based {
		s = sdktrace.ParentBased(s)
	}
	return s, nil
}

func ratio() (float64, error) {
	v := strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER_ARG"))
	if v == "" {
		return 1, nil
	}
	r, err := strconv.ParseFloat(v, 64)
	if err != nil || !(0 <= r && r <= 1) {
		return 0, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: want a number from 0 to 1")
	}
	return r, nil
}

func (p *Pipeline) openTraces(ctx context.Context, c choice) (err error) {
	if c.exporter == None {
		return nil
	}
	if p.sampler, err = sampler(); err != nil {
		return err
	}
	to, err := p.spanExporter(ctx, c)
	if err != nil {
		return fmt.Errorf("cannot make the exporter of traces (%s); OTEL_EXPORTER_OTLP_… govern it: %s", c.why, inOurWords(err))
	}
	p.queue = newSpanQueue(to, queueLimitsFrom(p.log), &p.troubles)
	return nil
}

func (p *Pipeline) spanExporter(ctx context.Context, c choice) (spanExporter, error) {
	if c.exporter == Console {
		return consoleSpans{os.Stdout}, nil
	}
	var opts []otlptracehttp.Option
	if c.endpoint != "" {
		opts = append(opts, otlptracehttp.WithEndpointURL(strings.TrimSuffix(c.endpoint, "/")+"/v1/traces"))
	}
	client := otlptracehttp.NewClient(opts...)
	return newOTLPSpans(client, p.resource, p.words.schema), client.Start(ctx)
}

// openMetrics exports all metrics if that is wanted, and shows the GenAI ones at
// /metrics too.
func (p *Pipeline) openMetrics(ctx context.Context, c choice, counters *Counters) error {
	opts := []metric.Option{metric.WithResource(p.resource)}
	if p.config.GenAIMetrics == On {
		shown, err := prometheus.New(prometheus.WithRegisterer(counters.genAI), prometheus.WithoutScopeInfo(), prometheus.WithoutTargetInfo())
		if err != nil {
			return fmt.Errorf("cannot show GenAI metrics at /metrics: %w", err)
		}
		opts = append(opts, metric.WithReader(shown))
	}
	if c.exporter != None {
		to, err := metricExporter(ctx, c)
		if err != nil {
			return fmt.Errorf("cannot make the exporter of metrics (%s); OTEL_EXPORTER_OTLP_… govern it: %s", c.why, inOurWords(err))
		}
		sender := newMetricSender(to, &p.troubles)
		p.halt = sender.halt
		opts = append(opts, metric.WithReader(metric.NewPeriodicReader(sender,
			metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(counters.reg))))))
	}
	if len(opts) == 1 {
		return nil
	}
	if p.halt == nil {
		p.halt = func() {} // nothing is sent
	}
	p.meters = metric.NewMeterProvider(opts...)
	if p.config.GenAIMetrics == Off {
		return nil
	}
	var err error
	p.instruments, err = newInstruments(p.meters.Meter(instrumentationScope, otelmetric.WithSchemaURL(p.words.schema)), p.words)
	return err
}

func metricExporter(ctx context.Context, c choice) (metric.Exporter, error) {
	if c.exporter == Console {
		return stdoutmetric.New()
	}
	var opts []otlpmetrichttp.Option
	if c.endpoint != "" {
		opts = append(opts, otlpmetrichttp.WithEndpointURL(strings.TrimSuffix(c.endpoint, "/")+"/v1/metrics"))
	}
	return otlpmetrichttp.New(ctx, opts...)
}

// A metricSender is what metrics are exported through. After halt it gives up at
// once.
type metricSender struct {
	metric.Exporter
	troubles *troubles
	halted   context.Context
	halt     context.CancelFunc
}

func newMetricSender(to metric.Exporter, t *troubles) *metricSender {
	s := &metricSender{Exporter: to, troubles: t}
	s.halted, s.halt = context.WithCancel(context.Background())
	return s
}

// Export sends all metrics. Its failure is told here, since the library would
// print it as it is.
func (s *metricSender) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.halted, cancel)()
	err := s.halted.Err()
	if err == nil {
		err = s.Exporter.Export(ctx, m)
	}
	if err != nil {
		s.troubles.tell("metrics", err)
	}
	return nil
}
