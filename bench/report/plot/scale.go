package plot

import (
	"math"
	"strconv"
)

// A scale takes values to places.
type scale struct {
	low, high float64 // values
	from, to  float64 // places
	log       bool
}

func (s scale) at(v float64) float64 {
	f := func(v float64) float64 { return v }
	if s.log {
		f = math.Log
	}
	share := (f(min(max(v, s.low), s.high)) - f(s.low)) / (f(s.high) - f(s.low))
	return s.from + share*(s.to-s.from)
}

// ticks are values that people like, no more than five or so.
func (s scale) ticks() (list []float64) {
	if s.log {
		return s.logTicks()
	}
	step := nice((s.high - s.low) / 4)
	for i := 0; ; i++ {
		v := float64(i) * step
		if v > s.high*(1+1e-9) {
			return list
		}
		if v >= s.low {
			list = append(list, v)
		}
	}
}

func (s scale) logTicks() (list []float64) {
	steps := []float64{1, 2, 5}
	if s.high/s.low > 100 {
		steps = steps[:1]
	}
	for e := math.Floor(math.Log10(s.low)); e <= math.Log10(s.high); e++ {
		for _, m := range steps {
			if v := m * math.Pow(10, e); v >= s.low*(1-1e-9) && v <= s.high*(1+1e-9) {
				list = append(list, v)
			}
		}
	}
	return list
}

// nice is the next number up of 1, 2, 2.5 and 5 times a power of ten.
func nice(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range [...]float64{1, 2, 2.5, 5} {
		if m*unit >= v*(1-1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

// plain writes a tick with as many digits as it has.
func plain(v float64) string {
	return strconv.FormatFloat(v, 'g', 6, 64)
}
