package faulttest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// made is a series of n values, so many seconds apart.
func made(n int, every float64, value func(i int, seconds float64) float64) (at, v []float64) {
	for i := range n {
		s := float64(i) * every
		at, v = append(at, s), append(v, value(i, s))
	}
	return at, v
}

// TestTrend: the slope is that of most values, whatever the others are.
func TestTrend(t *testing.T) {
	f := func(name string, n int, value func(i int, seconds float64) float64, slope, within float64) {
		t.Helper()
		at, v := made(n, 3, value)
		if got := trendOf(at, v); math.Abs(got.slope-slope) > within {
			t.Errorf("%s: slope %v, want %v ± %v", name, got.slope, slope, within)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	f("flat", 100, func(int, float64) float64 { return 7 }, 0, 0)
	f("a line", 100, func(_ int, s float64) float64 { return 5 + 2*s }, 2, 1e-9)
	f("a line, longer than all pairs of it are made", 2000, func(_ int, s float64) float64 { return 5 + 2*s }, 2, 1e-9)
	f("a line with noise", 200, func(_ int, s float64) float64 { return 2*s + rng.NormFloat64()*20 }, 2, 0.1)
	f("each fifth is wild", 200, func(i int, s float64) float64 {
		if i%5 == 0 {
			return 1e6
		}
		return 2 * s
	}, 2, 1)
	f("a saw", 200, func(i int, _ float64) float64 { return float64(i % 9) }, 0, 0.01)
	if got := trendOf([]float64{1}, []float64{1}); got.slope != 0 || got.n != 1 {
		t.Errorf("of one value: %+v", got)
	}
}

// TestTrendVerdict: noise is not taken for a leak in a short soak, nor a leak
// for noise in a long one. One replica of a soak answers about 100 requests a
// second; here each leak is at a rate of ten.
func TestTrendVerdict(t *testing.T) {
	const rate, short, long = 10, 60, 600
	rng := rand.New(rand.NewPCG(3, 4))
	f := func(name string, q int, seconds int, value func(i int, s float64) float64, leaks bool) {
		t.Helper()
		for range 20 { // of the noise
			at, v := made(seconds/3, 3, value)
			settled := len(v) / 4
			if err := quantities[q].leaks(trendOf(at[settled:], v[settled:])); (err != nil) != leaks {
				t.Errorf("%s, %d s: %v, want a leak: %v", name, seconds, err, leaks)
				return
			}
		}
	}
	const goroutines, descriptors, memory = 0, 1, 2
	for _, d := range []int{short, long} {
		f("goroutines of requests under way", goroutines, d, func(int, float64) float64 { return 30 + rng.NormFloat64()*10 }, false)
		f("a saw of garbage", memory, d, func(i int, _ float64) float64 {
			return 50<<20 + float64(i%7)*(6<<20) + rng.NormFloat64()*(4<<20)
		}, false)
		f("a heap that finds its size", memory, d, func(_ int, s float64) float64 {
			return 50<<20 + 40<<20*(1-math.Exp(-s/20)) + rng.NormFloat64()*(1<<20)
		}, false)
		f("a cache that fills once", memory, d, func(_ int, s float64) float64 {
			return 50<<20 + min(s, 15)*(2<<20) + rng.NormFloat64()*(1<<20)
		}, false)
		f("a goroutine for each request", goroutines, d, func(_ int, s float64) float64 { return 30 + rate*s + rng.NormFloat64()*10 }, true)
	}
	f("a goroutine for each hundredth request", goroutines, long, func(_ int, s float64) float64 { return 30 + rate*s/100 + rng.NormFloat64()*10 }, true)
	f("a descriptor for each hundredth request", descriptors, long, func(_ int, s float64) float64 { return 30 + rate*s/100 + rng.NormFloat64()*10 }, true)
	f("64 KiB for each request", memory, long, func(_ int, s float64) float64 {
		return 50<<20 + rate*s*(64<<10) + rng.NormFloat64()*(4<<20)
	}, true)
	f("8 KiB for each request", memory, long, func(_ int, s float64) float64 {
		return 50<<20 + rate*s*(8<<10) + rng.NormFloat64()*(4<<20)
	}, true)
	f("a goroutine for each request, of a start only", goroutines, 30, func(_ int, s float64) float64 { return 30 + rate*s }, false)
}
