package telemetry

import (
	"os"
	"strings"
)

// A choice is what is done with one signal, and why.
type choice struct {
	exporter string // otlp, console or none
	why      string // the variable or setting that says so
	endpoint string // of the configuration, "" if a variable gives it
	ignored  string // a value that nobody here knows, "" if there is none
}

// choose decides about a signal, "traces" or "metrics", by the variables first.
// Unlike the libraries' own rule, nothing is exported where nobody asked for it:
// a machine without a collector would log errors for ever.
func (c *Config) choose(signal, configured string) choice {
	if strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true") {
		return choice{exporter: None, why: "OTEL_SDK_DISABLED"}
	}
	upper := strings.ToUpper(signal)
	endpoint := firstSet("OTEL_EXPORTER_OTLP_"+upper+"_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	found := choice{exporter: None, why: "telemetry." + signal}
	if endpoint == "" {
		found.endpoint = c.Endpoint
	}
	name := "OTEL_" + upper + "_EXPORTER"
	if v := strings.TrimSpace(os.Getenv(name)); v != "" {
		found.why = name
		switch {
		case v == OTLP || v == Console || v == None:
			found.exporter = v
		case signal == "metrics" && v == "prometheus": // is always there
		default:
			found.ignored = v
		}
		return found
	}
	switch {
	case configured != Auto:
		found.exporter = configured
	case endpoint != "":
		found.exporter, found.why = OTLP, endpoint
	case c.Endpoint != "":
		found.exporter, found.why = OTLP, "telemetry.endpoint"
	default:
		found.why = "no endpoint is given"
	}
	return found
}

// firstSet is the first of the variables that is set to anything.
func firstSet(names ...string) string {
	for _, name := range names {
		if strings.TrimSpace(os.Getenv(name)) != "" {
			return name
		}
	}
	return ""
}

// listed reports whether a list with commas has an item.
func listed(list, item string) bool {
	for s := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(s) == item {
			return true
		}
	}
	return false
}

// unspoken is the protocol that the variables want and that is not spoken here,
// "" if there is none.
func unspoken(signal string) string {
	name := firstSet("OTEL_EXPORTER_OTLP_"+strings.ToUpper(signal)+"_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if v := strings.TrimSpace(os.Getenv(name)); v != "" && !strings.HasPrefix(v, "http/") {
		return v
	}
	return ""
}
