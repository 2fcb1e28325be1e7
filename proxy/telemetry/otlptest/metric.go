package otlptest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// A Metric is one that was received.
type Metric struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Kind   string    `json:"kind"` // sum, gauge or histogram
	Bounds []float64 `json:"bounds,omitempty"`
	Points []Point   `json:"points"`
}

// A Point is one series of a metric: a histogram has a count and a sum, others a
// value.
type Point struct {
	Attributes map[string]any `json:"attributes"`
	Count      uint64         `json:"count,omitempty"`
	Sum        float64        `json:"sum,omitempty"`
	Value      float64        `json:"value,omitempty"`
}

func metricOf(m *metricspb.Metric) Metric {
	out := Metric{Name: m.Name, Unit: m.Unit}
	switch d := m.Data.(type) {
	case *metricspb.Metric_Sum:
		out.Kind, out.Points = "sum", numbersOf(d.Sum.DataPoints)
	case *metricspb.Metric_Gauge:
		out.Kind, out.Points = "gauge", numbersOf(d.Gauge.DataPoints)
	case *metricspb.Metric_Histogram:
		out.Kind = "histogram"
		for _, p := range d.Histogram.DataPoints {
			out.Bounds = p.ExplicitBounds
			out.Points = append(out.Points, Point{Attributes: valuesOf(p.Attributes), Count: p.Count, Sum: p.GetSum()})
		}
	}
	slices.SortFunc(out.Points, func(a, b Point) int { return cmp.Compare(a.key(), b.key()) })
	return out
}

func numbersOf(points []*metricspb.NumberDataPoint) (out []Point) {
	for _, p := range points {
		v := p.GetAsDouble()
		if i, ok := p.Value.(*metricspb.NumberDataPoint_AsInt); ok {
			v = float64(i.AsInt)
		}
		out = append(out, Point{Attributes: valuesOf(p.Attributes), Value: v})
	}
	return out
}

func (p Point) key() string {
	b, _ := json.Marshal(p.Attributes)
	return string(b)
}

// GoldenMetrics are those whose names begin with prefix as JSON, by name, the same
// from run to run: sums of seconds are left out, of volatile attributes the values,
// and the metric of chunks, since how many a stream comes in differs.
func GoldenMetrics(metrics []Metric, prefix string, volatile ...string) []byte {
	list := []Metric{}
	for _, m := range metrics {
		if !strings.HasPrefix(m.Name, prefix) || strings.HasSuffix(m.Name, ".time_per_output_chunk") {
			continue
		}
		m.Points = slices.Clone(m.Points)
		for i := range m.Points {
			m.Points[i] = m.Points[i].steady(m.Unit, volatile)
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	return indented(list)
}

func (p Point) steady(unit string, volatile []string) Point {
	if unit == "s" {
		p.Sum = 0
	}
	steady := map[string]any{}
	for k, v := range p.Attributes {
		if slices.Contains(volatile, k) {
			v = "…"
		}
		steady[k] = v
	}
	p.Attributes = steady
	return p
}
