package faulttest

import (
	"fmt"
	"slices"
	"time"
)

// A trend is what a series of measurements tends to.
type trend struct {
	slope  float64 // per second; by Theil and Sen the median over all pairs, which up to a quarter of wild values cannot move far
	level  float64 // the median
	span   float64 // from first to last, in seconds
	rising float64 // share of the pairs of which the later one is larger: about a half of a noise, all of a leak
	n      int
}

// most bounds a series before its pairs are made.
const most = 400

// trendOf is the trend of values v at times at, in seconds.
func trendOf(at, v []float64) trend {
	if len(v) < 2 {
		return trend{n: len(v)}
	}
	step := (len(v) + most - 1) / most
	var slopes []float64
	up := 0
	for i := 0; i < len(v); i += step {
		for k := i + step; k < len(v); k += step {
			slopes = append(slopes, (v[k]-v[i])/(at[k]-at[i]))
			if v[k] > v[i] {
				up++
			}
		}
	}
	return trend{
		slope: median(slopes), level: median(slices.Clone(v)), span: at[len(at)-1] - at[0],
		rising: float64(up) / float64(len(slopes)), n: len(v),
	}
}

// median sorts its list.
func median(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// growth is by how much the values rose over the series.
func (t trend) growth() float64 { return t.slope * t.span }

// per10min is the slope in the unit that people compare, and in per cent.
func (t trend) per10min() (absolute, percent float64) {
	absolute = t.slope * 600
	return absolute, 100 * absolute / max(t.level, 1)
}

// A sample is what a process took up at one moment, and how many sessions had
// been begun by then.
type sample struct {
	footprint
	sessions float64
}

// perSession is about what a replica's memory grows by for each session that it
// comes to know, garbage included. It remembers up to 100,000 threads and 32 MiB
// of openers, more than there are in a soak in which each session has one of its
// own.
const perSession = 4 << 10

// A quantity is something of a process that must not grow. Noise is by how much
// it may seem to grow, whatever the time: garbage that is not collected yet,
// requests under way.
type quantity struct {
	name  string
	unit  float64
	noise float64 // 0: its trend is told and not judged
	of    func(sample) float64
}

var quantities = []quantity{
	{"goroutines", 1, 30, func(s sample) float64 { return s.goroutines }},
	{"descriptors", 1, 30, func(s sample) float64 { return s.descriptors }},
	{"RSS - sessions, KiB", 1 << 10, 32 << 20, func(s sample) float64 { return s.memory - perSession*s.sessions }},
	{"RSS, KiB", 1 << 10, 0, func(s sample) float64 { return s.memory }},
}

// leastSpan is from when on a series is judged: a shorter one shows the start of
// a load rather than what it comes to.
const leastSpan = 40 * time.Second

// leaks judges a trend: a leak rises beyond all noise, and steadily. What leaks
// does so with each request, so the longer the soak the smaller the leak that it
// finds; what is noise does not grow with time.
func (q quantity) leaks(t trend) error {
	if t.span < leastSpan.Seconds() || t.growth() <= q.noise || t.rising < 0.7 {
		return nil
	}
	return fmt.Errorf("%s rose by %.0f within %.0f s, %.0f%% of the time", q.name, t.growth()/q.unit, t.span, 100*t.rising)
}
