// Package usage holds token counts in disjoint classes.
//
// # Invariants
//
//  1. Classes are disjoint: fresh, cache read, cache writes (by lifetime),
//     unsplit and output never count a token twice. "Input" is always the
//     inclusive total of all but output. Reasoning is a part of output.
//  2. "Not reported" is not 0 (I11): a Count that nobody set is not Known, and
//     nothing here makes a known count of unknown ones alone.
//  3. A number that contradicts another is not corrected: the class that cannot
//     be told stays unknown.
package usage

// A Count is a number of tokens, or "not reported".
type Count struct {
	N     int64
	Known bool
}

// Of returns a known count.
func Of(n int64) Count { return Count{N: n, Known: true} }

// Plus adds two counts; the sum is known only if both are.
func (c Count) Plus(d Count) Count {
	if !c.Known || !d.Known {
		return Count{}
	}
	return Of(c.N + d.N)
}

// Minus is c without d; it is known only if both are and d is no more than c.
func (c Count) Minus(d Count) Count {
	if !c.Known || !d.Known || d.N > c.N {
		return Count{}
	}
	return Of(c.N - d.N)
}

// Usage is what a provider reported for one answer.
type Usage struct {
	Fresh      Count // input billed at the full rate
	CacheRead  Count
	Write5m    Count // cache writes by the lifetime that was granted
	Write1h    Count
	Write30m   Count
	WriteOther Count // lifetime not told
	// Unsplit is input of which the provider did not tell whether it was fresh or
	// read from a cache. If it is known, Fresh and CacheRead are not: its price lies between theirs.
	Unsplit   Count
	Output    Count
	Reasoning Count // a part of Output, not beside it
	// Odd reports that a count was reported which cannot be true: negative, or a
	// part that is more than its whole. What cannot be told for it is not known.
	Odd bool
}

// Reported reports whether anything is known.
func (u Usage) Reported() bool {
	return u.Input().Known || u.CacheRead.Known || u.Written().Known || u.Output.Known
}

// Written is the sum of the cache writes that are known, and known if any is.
func (u Usage) Written() Count {
	return sumKnown(u.Write5m, u.Write1h, u.Write30m, u.WriteOther)
}

// Input is the inclusive total of input tokens: fresh, read, written and
// unsplit. It is known if fresh or unsplit is; a class that the provider did
// not report adds nothing, since providers leave out the classes they do not
// bill.
func (u Usage) Input() Count {
	if !u.Fresh.Known && !u.Unsplit.Known {
		return Count{}
	}
	return sumKnown(u.Fresh, u.Unsplit, u.CacheRead, u.Written())
}

// Total is input and output together, known if both are.
func (u Usage) Total() Count { return u.Input().Plus(u.Output) }

// sumKnown adds what is known; the sum is known if anything is.
func sumKnown(counts ...Count) Count {
	var sum Count
	for _, c := range counts {
		if c.Known {
			sum = Of(sum.N + c.N)
		}
	}
	return sum
}
