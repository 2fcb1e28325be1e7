package load

import (
	"math"
	"slices"
	"time"
)

// A Result is what a proxy adds. Times are in microseconds.
type Result struct {
	Upstream    string     `json:"upstream"`
	Proxy       string     `json:"proxy"`
	Rounds      int        `json:"rounds"`
	Seconds     float64    `json:"seconds"` // of one measurement
	Connections int        `json:"connections"`
	Rate        float64    `json:"rate"` // of the open load
	BodyBytes   int        `json:"body_bytes"`
	PID         int        `json:"pid,omitempty"`
	Scenarios   []Scenario `json:"scenarios"`
	Memory      *Memory    `json:"memory,omitempty"` // of the proxy, at the end
}

// A Scenario is one load on both targets.
type Scenario struct {
	Name   string `json:"name"`
	Direct Side   `json:"direct"`
	Proxy  Side   `json:"proxy"`

	// What the proxy adds: differences of the two in one round.
	AddedP50   Spread `json:"added_p50_us"`
	AddedP99   Spread `json:"added_p99_us"`
	AddedFirst Spread `json:"added_first_byte_p50_us"`
	// Throughput is the proxy's requests per second by those of the upstream.
	Throughput Spread `json:"throughput_ratio"`
	// CPU is what the proxy used for a request; nil without a pid.
	CPU *Spread `json:"cpu_us_per_request,omitempty"`
}

// A Side is a target under a load: sums, and medians over rounds.
type Side struct {
	Requests int    `json:"requests"` // answered
	Failed   int    `json:"failed"`
	Error    string `json:"error,omitempty"` // the first one

	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_us"`
	P90       float64 `json:"p90_us"`
	P99       float64 `json:"p99_us"`
	First     float64 `json:"first_byte_p50_us"`
}

// A Spread is a number over rounds.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Failed is how many requests failed, of all.
func (r *Result) Failed() (n int) {
	for _, s := range r.Scenarios {
		n += s.Direct.Failed + s.Proxy.Failed
	}
	return n
}

func (o Options) result(targets [2]*target) *Result {
	return &Result{
		Upstream: targets[direct].url.String(), Proxy: targets[proxied].url.String(),
		Rounds: o.Rounds, Seconds: o.Duration.Seconds(), Connections: o.Connections, Rate: o.Rate, BodyBytes: o.Size, PID: o.PID,
	}
}

// A pair is one scenario in one round.
type pair struct {
	of      [2]measurement
	cpu     time.Duration // of the proxy meanwhile, if it was watched
	watched bool
}

// summarize sums up the rounds of a scenario.
func summarize(name string, rounds []pair) Scenario {
	s := Scenario{Name: name}
	var of [2][]figures
	var cpu []float64
	for _, p := range rounds {
		for which, m := range p.of {
			of[which] = append(of[which], m.figures())
		}
		if p.watched {
			cpu = append(cpu, micros(p.cpu)/float64(len(p.of[proxied].total)))
		}
	}
	s.Direct, s.Proxy = side(rounds, direct, of[direct]), side(rounds, proxied, of[proxied])
	s.AddedP50 = compare(of, func(d, p figures) float64 { return p.p50 - d.p50 })
	s.AddedP99 = compare(of, func(d, p figures) float64 { return p.p99 - d.p99 })
	s.AddedFirst = compare(of, func(d, p figures) float64 { return p.first - d.first })
	s.Throughput = compare(of, func(d, p figures) float64 { return p.perSecond / d.perSecond })
	if len(cpu) > 0 {
		c := spread(cpu)
		s.CPU = &c
	}
	return s
}

func side(rounds []pair, which int, of []figures) Side {
	var s Side
	for _, p := range rounds {
		m := p.of[which]
		s.Requests += len(m.total)
		s.Failed += m.failed
		if m.err != nil && s.Error == "" {
			s.Error = m.err.Error()
		}
	}
	middle := func(of []figures, get func(figures) float64) float64 {
		values := make([]float64, len(of))
		for i, f := range of {
			values[i] = get(f)
		}
		return spread(values).Median
	}
	s.PerSecond = middle(of, func(f figures) float64 { return f.perSecond })
	s.P50 = middle(of, func(f figures) float64 { return f.p50 })
	s.P90 = middle(of, func(f figures) float64 { return f.p90 })
	s.P99 = middle(of, func(f figures) float64 { return f.p99 })
	s.First = middle(of, func(f figures) float64 { return f.first })
	return s
}

func compare(of [2][]figures, how func(d, p figures) float64) Spread {
	values := make([]float64, len(of[direct]))
	for i := range values {
		values[i] = how(of[direct][i], of[proxied][i])
	}
	return spread(values)
}

// figures are those of one measurement.
type figures struct{ perSecond, p50, p90, p99, first float64 }

func (m *measurement) figures() figures {
	slices.Sort(m.total)
	slices.Sort(m.first)
	return figures{
		perSecond: float64(len(m.total)) / m.took.Seconds(),
		p50:       percentile(m.total, 50), p90: percentile(m.total, 90), p99: percentile(m.total, 99),
		first: percentile(m.first, 50),
	}
}

// percentile is the smallest of some sorted times that so many of a hundred do
// not exceed.
func percentile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return micros(sorted[max(0, (len(sorted)*percent+99)/100-1)])
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// spread sums up numbers; of an even count, the median is the mean of the two in
// the middle.
func spread(values []float64) Spread {
	v := slices.Sorted(slices.Values(values))
	for i := range v {
		v[i] = math.Round(v[i]*1000) / 1000 // the rest is noise of the arithmetic
	}
	if len(v) == 0 {
		return Spread{}
	}
	half := len(v) / 2
	median := v[half]
	if len(v)%2 == 0 {
		median = (v[half-1] + v[half]) / 2
	}
	return Spread{median, v[0], v[len(v)-1]}
}
