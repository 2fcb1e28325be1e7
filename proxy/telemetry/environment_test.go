package telemetry

import (
	"strings"
	"testing"
)

// unset takes away what the machine says of OpenTelemetry.
func unset(t *testing.T) {
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG",
	} {
		t.Setenv(name, "")
	}
}

// TestChoose holds what is on to the rule: only what somebody asked for, variables
// first.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		env             string // NAME=value, with blanks between
		configured      string // telemetry.traces
		endpoint        string // telemetry.endpoint
		exporter, why   string
		takesConfigured bool
		ignored         string
	}{
		{configured: Auto, exporter: None, why: "no endpoint is given"},
		{env: "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", configured: Auto, exporter: OTLP, why: "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/x", configured: Auto, exporter: OTLP, why: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
		{env: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://c:4318/x", configured: Auto, exporter: None, why: "no endpoint is given"},
		{env: "OTEL_TRACES_EXPORTER=otlp", configured: None, exporter: OTLP, why: "OTEL_TRACES_EXPORTER"},
		{env: "OTEL_TRACES_EXPORTER=console", configured: Auto, exporter: Console, why: "OTEL_TRACES_EXPORTER"},
		{env: "OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", configured: OTLP, exporter: None, why: "OTEL_TRACES_EXPORTER"},
		{env: "OTEL_TRACES_EXPORTER=zipkin", configured: OTLP, exporter: None, why: "OTEL_TRACES_EXPORTER", ignored: "zipkin"},
		{env: "OTEL_SDK_DISABLED=TRUE OTEL_TRACES_EXPORTER=otlp", configured: OTLP, exporter: None, why: "OTEL_SDK_DISABLED"},
		{env: "OTEL_SDK_DISABLED=1 OTEL_TRACES_EXPORTER=otlp", configured: Auto, exporter: OTLP, why: "OTEL_TRACES_EXPORTER"},
		{configured: Auto, endpoint: "http://mine:4318", exporter: OTLP, why: "telemetry.endpoint", takesConfigured: true},
		{env: "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", configured: Auto, endpoint: "http://mine:4318", exporter: OTLP, why: "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{configured: OTLP, exporter: OTLP, why: "telemetry.traces"},
		{configured: None, endpoint: "http://mine:4318", exporter: None, why: "telemetry.traces", takesConfigured: true},
	} {
		t.Run(c.env+" "+c.configured+" "+c.endpoint, func(t *testing.T) {
			unset(t)
			for item := range strings.FieldsSeq(c.env) {
				name, value, _ := strings.Cut(item, "=")
				t.Setenv(name, value)
			}
			cfg := Config{Traces: c.configured, Endpoint: c.endpoint}
			got := cfg.choose("traces", cfg.Traces)
			if got.exporter != c.exporter || got.why != c.why || got.ignored != c.ignored || (got.endpoint != "") != c.takesConfigured {
				t.Errorf("choose = %+v, want %s because of %s", got, c.exporter, c.why)
			}
		})
	}
}

// TestPrometheusIsThere: it is an exporter of metrics that is always on, and none of
// traces.
func TestPrometheusIsThere(t *testing.T) {
	unset(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "prometheus")
	t.Setenv("OTEL_TRACES_EXPORTER", "prometheus")
	var cfg Config
	if got := cfg.choose("metrics", Auto); got.exporter != None || got.ignored != "" {
		t.Errorf("choose metrics = %+v, want none, and nothing ignored", got)
	}
	if got := cfg.choose("traces", Auto); got.exporter != None || got.ignored != "prometheus" {
		t.Errorf("choose traces = %+v, want the value ignored", got)
	}
}

// TestProtocols: another protocol than OTLP over HTTP is told, and no other.
func TestProtocols(t *testing.T) {
	for _, c := range []struct{ general, metrics, want string }{
		{"", "", ""}, {"http/protobuf", "", ""}, {"grpc", "", "grpc"}, {"grpc", "http/json", ""}, {"", " grpc ", "grpc"},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", c.general)
		t.Setenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", c.metrics)
		if got := unspoken("metrics"); got != c.want {
			t.Errorf("with %q, and %q for metrics, unspoken = %q, want %q", c.general, c.metrics, got, c.want)
		}
	}
}

// TestConfigRefused: a mistake is told with its key, and an endpoint is not quoted.
func TestConfigRefused(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Traces: "zipkin"}, "telemetry.traces"},
		{Config{Metrics: "prometheus"}, "telemetry.metrics"},
		{Config{GenAIMetrics: "yes"}, "telemetry.genai_metrics"},
		{Config{Propagate: "always"}, "telemetry.propagate"},
		{Config{Endpoint: "localhost:4318"}, "telemetry.endpoint"},
		{Config{Endpoint: "https://user:s3cret@c"}, "telemetry.endpoint"},
		{Config{Endpoint: "https://c/?key=s3cret"}, "telemetry.endpoint"},
	} {
		c.cfg.SetDefaults()
		if err := c.cfg.Validate(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: Validate = %v, want an error about %s", c.cfg, err, c.want)
		}
	}
	var cfg Config
	if cfg.SetDefaults(); cfg.Validate() != nil {
		t.Errorf("the defaults %+v are refused: %v", cfg, cfg.Validate())
	}
}

// TestSampler: the standard variable chooses, and what is no sampler is refused.
func TestSampler(t *testing.T) {
	for _, c := range []struct{ name, arg, want string }{
		{"", "", "ParentBased{root:AlwaysOnSampler"},
		{"always_on", "", "AlwaysOnSampler"},
		{"ALWAYS_OFF", "", "AlwaysOffSampler"},
		{"traceidratio", "0.25", "TraceIDRatioBased{0.25}"},
		{"traceidratio", "", "TraceIDRatioBased{1}"},
		{"parentbased_always_off", "", "ParentBased{root:AlwaysOffSampler"},
		{"parentbased_traceidratio", "0.5", "ParentBased{root:TraceIDRatioBased{0.5}"},
		{"traceidratio", "2", ""}, {"traceidratio", "NaN", ""}, {"jaeger_remote", "", ""}, {"parentbased_", "", ""},
	} {
		t.Setenv("OTEL_TRACES_SAMPLER", c.name)
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", c.arg)
		s, err := sampler()
		if c.want == "" {
			if err == nil {
				t.Errorf("sampler %q of %q is taken as %s", c.name, c.arg, s.Description())
			}
			continue
		}
		if err != nil || !strings.HasPrefix(s.Description(), c.want) {
			t.Errorf("sampler %q of %q = %v, %v, want %s", c.name, c.arg, s, err, c.want)
		}
	}
}
