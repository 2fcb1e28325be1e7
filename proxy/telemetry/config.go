package telemetry

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Config says what of OpenTelemetry is on. OpenTelemetry's own environment
// variables win over Traces, Metrics and Endpoint.
type Config struct {
	// Traces and Metrics are where spans and metrics go: auto (default) is otlp if
	// an endpoint is given, here or by OTEL_EXPORTER_OTLP_ENDPOINT, and none else;
	// otlp; console, a line of JSON each on stdout; none.
	Traces  string `yaml:"traces"`
	Metrics string `yaml:"metrics"`
	// Endpoint is the base URL of a receiver of OTLP over HTTP, such as
	// http://127.0.0.1:4318. Default "".
	Endpoint string `yaml:"endpoint"`
	// GenAIMetrics adds the gen_ai.* metrics of the GenAI conventions, over OTLP
	// and at /metrics: on or off (default), since agents that are instrumented
	// themselves count the same tokens.
	GenAIMetrics string `yaml:"genai_metrics"`
	// Propagate is whose trace context goes to providers: client (default), the
	// client's if it sent one, or none.
	Propagate string `yaml:"propagate"`
	// Restart begins a trace of our own for clients that send theirs, and links to
	// it: for clients that are not trusted.
	Restart bool `yaml:"restart"`
}

// Values of Config.
const (
	Auto    = "auto"
	OTLP    = "otlp"
	Console = "console"
	None    = "none"
	Client  = "client"
	On      = "on"
	Off     = "off"
)

// SetDefaults fills in what is empty.
func (c *Config) SetDefaults() {
	for _, f := range []struct {
		value *string
		def   string
	}{{&c.Traces, Auto}, {&c.Metrics, Auto}, {&c.GenAIMetrics, Off}, {&c.Propagate, Client}} {
		if *f.value == "" {
			*f.value = f.def
		}
	}
}

// Validate says what is wrong with a configuration that has its defaults. It
// quotes no endpoint, which may hold a credential.
func (c *Config) Validate() error {
	for _, f := range []struct {
		key, value string
		want       []string
	}{
		{"traces", c.Traces, []string{Auto, OTLP, Console, None}},
		{"metrics", c.Metrics, []string{Auto, OTLP, Console, None}},
		{"genai_metrics", c.GenAIMetrics, []string{On, Off}},
		{"propagate", c.Propagate, []string{Client, None}},
	} {
		if !slices.Contains(f.want, f.value) {
			return fmt.Errorf("telemetry.%s is %q: want %s", f.key, f.value, strings.Join(f.want, " or "))
		}
	}
	return checkEndpoint(c.Endpoint)
}

func checkEndpoint(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("telemetry.endpoint: want http://host:port or https://host:port, with or without a path")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("telemetry.endpoint of host %s has a user, query or fragment; credentials go into OTEL_EXPORTER_OTLP_HEADERS", u.Host)
	}
	return nil
}
