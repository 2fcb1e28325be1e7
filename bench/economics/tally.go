package economics

import "time"

// A detail is what a row says beyond sums.
type detail struct {
	model      FirstToken
	hitRatios  float64   // sum over requests
	session    histogram // of hit rates
	firstToken histogram // of seconds
	half       halves
}

func newDetail(m FirstToken) *detail {
	return &detail{model: m, session: newHistogram(10_000, 1), firstToken: newHistogram(12_000, 120)}
}

func (d *detail) add(k classes) {
	input := k.input()
	if input > 0 {
		d.hitRatios += float64(k.read) / float64(input)
	}
	d.firstToken.add(d.model.seconds(k))
	d.half.add(input, k.read)
}

// seconds is the time to the first token of a request.
func (m FirstToken) seconds(k classes) float64 {
	const perThousand = 1000 * float64(time.Second)
	return m.Base.Seconds() + (float64(k.fresh+k.written)*float64(m.PerFresh)+float64(k.read)*float64(m.PerRead))/perThousand
}

// A histogram counts numbers from 0 to a largest one in equal bins, so that its
// median and percentiles are exact to a bin, and its mean and minimum are exact.
type histogram struct {
	bins    []uint32
	largest float64
	n       int64
	sum     float64
	min     float64
}

func newHistogram(bins int, largest float64) histogram {
	return histogram{bins: make([]uint32, bins+1), largest: largest}
}

func (h *histogram) add(v float64) {
	if h.n == 0 || v < h.min {
		h.min = v
	}
	h.n++
	h.sum += v
	at := int(v / h.largest * float64(len(h.bins)-1))
	h.bins[max(0, min(at, len(h.bins)-1))]++
}

func (h *histogram) spread() Spread {
	if h.n == 0 {
		return Spread{}
	}
	return Spread{Mean: h.sum / float64(h.n), Median: h.at(0.5), Min: h.min, P90: h.at(0.9)}
}

// at is the middle of the bin below which a share of the numbers lies.
func (h *histogram) at(share float64) float64 {
	left := int64(share * float64(h.n-1))
	for i, n := range h.bins {
		if left -= int64(n); left < 0 {
			return min((float64(i)+0.5)/float64(len(h.bins)-1), 1) * h.largest
		}
	}
	return h.largest
}

// halves tells the hit rate of a trace's second half, whose beginning is known
// only at its end: it keeps running sums at every so many requests, and half of
// them when they are too many.
type halves struct {
	every   int64
	n       int64
	sum     [2]int64 // input, read
	samples [][2]int64
}

const maxSamples = 1 << 12

func (h *halves) add(input, read int64) {
	if h.every == 0 {
		h.every = 1
	}
	if h.n%h.every == 0 {
		h.sample()
	}
	h.n++
	h.sum[0] += input
	h.sum[1] += read
}

// sample notes the sums before the next request.
func (h *halves) sample() {
	if len(h.samples) == maxSamples {
		for i := range maxSamples / 2 {
			h.samples[i] = h.samples[2*i]
		}
		h.samples = h.samples[:maxSamples/2]
		h.every *= 2
		if h.n%h.every != 0 {
			return
		}
	}
	h.samples = append(h.samples, h.sum)
}

// last is the hit rate of the second half. Between two samples it goes straight.
func (h *halves) last() float64 {
	if h.n < 2 {
		return 0
	}
	half := h.n / 2
	at, rest := half/h.every, float64(half%h.every)/float64(h.every)
	next := h.sum
	if int(at)+1 < len(h.samples) {
		next = h.samples[at+1]
	}
	var left [2]float64
	for i := range left {
		begun := float64(h.samples[at][i]) + rest*float64(next[i]-h.samples[at][i])
		left[i] = float64(h.sum[i]) - begun
	}
	if left[0] == 0 {
		return 0
	}
	return left[1] / left[0]
}

// An outcome is what requests come to.
type outcome struct {
	requests int64
	tokens   classes
	flaws    flaws
}

// outcome is that of all requests.
func (s *sums) outcome() outcome { return outcome{s.requests, s.all(), s.flaws} }

// byLength is what sessions come to if they are cut after so many requests.
type byLength struct{ at [len(cuts)]outcome }

// cuts are lengths of sessions, in requests.
var cuts = [...]int32{1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150}

// add counts a request in the first cut that has it.
func (b *byLength) add(seq int32, k classes, f flaws) {
	for i, n := range cuts {
		if seq < n {
			b.at[i].requests++
			b.at[i].tokens.add(k)
			b.at[i].flaws.add(f)
			return
		}
	}
}

// upTo is what sessions of at most cuts[i] requests come to.
func (b *byLength) upTo(i int) (sum outcome) {
	for _, o := range b.at[:i+1] {
		sum.requests += o.requests
		sum.tokens.add(o.tokens)
		sum.flaws.add(o.flaws)
	}
	return sum
}
