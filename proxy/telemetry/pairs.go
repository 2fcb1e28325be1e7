package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// pairs are the counters of a vector with two labels. They are found by their
// values in a map that is never changed but replaced: the vector itself takes a
// lock and hashes both, which in every request is too much. Both labels must
// have few values.
type pairs struct {
	vec   *prometheus.CounterVec
	known atomic.Pointer[map[[2]string]prometheus.Counter]
	grow  sync.Mutex // one replacement at a time
}

func newPairs(vec *prometheus.CounterVec) *pairs {
	p := &pairs{vec: vec}
	p.known.Store(&map[[2]string]prometheus.Counter{})
	return p
}

// of returns the counter of two label values.
func (p *pairs) of(a, b string) prometheus.Counter {
	if c, ok := (*p.known.Load())[[2]string{a, b}]; ok {
		return c
	}
	return p.add(a, b)
}

func (p *pairs) add(a, b string) prometheus.Counter {
	p.grow.Lock()
	defer p.grow.Unlock()
	more := maps.Clone(*p.known.Load())
	c := p.vec.WithLabelValues(a, b) // the same one for whoever asks
	more[[2]string{a, b}] = c
	p.known.Store(&more)
	return c
}
