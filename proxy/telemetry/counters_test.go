package telemetry

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// used is a set of counters in which every metric has a value.
func used() *Counters {
	c := New()
	c.Request("anthropic", "complete")
	c.Refused("log_down")
	c.Passthrough("malformed_syntax")
	c.Prefix("anthropic", true, "")
	c.Prefix("anthropic", false, "side_request")
	c.Tokens("anthropic", usage.Usage{Fresh: usage.Of(3), CacheRead: usage.Of(5), Output: usage.Of(0)})
	c.Accounts.Cost("anthropic", 3, 5, 1)
	c.Accounts.Unpriced("anthropic", usage.NoPrice)
	c.Accounts.Shortfall("anthropic", "tools_changed", "client", 7, -1)
	c.Accounts.Alarm("writes_unread")
	c.Panic()
	c.ComposeFailed()
	c.BytesChanged()
	c.Held("released", time.Second)
	c.FirstByte("anthropic").Observe(1)
	c.Overhead(time.Millisecond)
	c.Build("1", "go1")
	c.Gauge("preface_requests_in_flight", "Requests under way.", func() float64 { return 1 })
	return c
}

// TestNames: the metrics are what Prometheus' own linter accepts.
func TestNames(t *testing.T) {
	problems, err := testutil.GatherAndLint(used().Registry())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestI11_UnknownIsNotZero: a class that was not reported has no series.
func TestI11_UnknownIsNotZero(t *testing.T) {
	rec := httptest.NewRecorder()
	used().Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	text := rec.Body.String()
	for _, want := range []string{
		`preface_tokens_total{class="fresh",dialect="anthropic"} 3`,
		`preface_tokens_total{class="cache_read",dialect="anthropic"} 5`,
		`preface_prefix_total{decision="bare_side_request",route="anthropic"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	c := New()
	u := usage.Usage{Fresh: usage.Of(3), CacheRead: usage.Of(5), Output: usage.Of(7)}
	b.ReportAllocs()
	for b.Loop() {
		c.Tokens("anthropic", u)
	}
}
