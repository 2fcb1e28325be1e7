// Package usage holds token counts in disjoint classes.
//
// # Invariants
//
//  1. Classes are disjoint: fresh, cache read, cache writes (by lifetime) and
//     output never count a token twice. "Input" is always the inclusive total
//     of fresh, read and written tokens.
//  2. "Not reported" is not 0 (I11): a Count that nobody set is not Known, and
//     a sum with an unknown part is unknown.
package usage

// A Count is a number of tokens, or "not reported".
type Count struct {
	N     int64
	Known bool
}

// Of returns a known count.
func Of(n int64) Count { return Count{N: n, Known: true} }

// Plus adds two counts; the sum is known only if both are.
func (c Count) Plus(d Count) Count { return Count{N: c.N + d.N, Known: c.Known && d.Known} }

// Usage is what a provider reported for one answer.
type Usage struct {
	Fresh      Count // input billed at the full rate
	CacheRead  Count
	Write5m    Count // cache writes by the lifetime that was granted
	Write1h    Count
	Write30m   Count
	WriteOther Count // lifetime not told
	Output     Count
	Reasoning  Count // a part of Output, not beside it
}

// Reported reports whether anything is known.
func (u Usage) Reported() bool {
	return u.Fresh.Known || u.CacheRead.Known || u.Output.Known || u.Written().Known
}

// Written is the sum of the cache writes that are known, and known if any is.
func (u Usage) Written() Count {
	var sum Count
	for _, c := range []Count{u.Write5m, u.Write1h, u.Write30m, u.WriteOther} {
		if c.Known {
			sum = Of(sum.N + c.N)
		}
	}
	return sum
}

// Input is the inclusive total of input tokens: fresh, read and written. It is
// known if fresh is; a class the provider did not report adds nothing.
func (u Usage) Input() Count {
	if !u.Fresh.Known {
		return Count{}
	}
	return Of(u.Fresh.N + u.CacheRead.N + u.Written().N)
}
