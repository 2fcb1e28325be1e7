package provider

import "time"

// Facts: providers.md 1.3.
const (
	maxMarks      = 4
	lookBack      = 20 // block positions, the mark's own included
	lifetimeShort = 5 * time.Minute
	lifetimeLong  = time.Hour
)

// A mark is a cache breakpoint on the block at an index.
type mark struct {
	at       int
	lifetime time.Duration
}

// planMarks finds what a request with Anthropic marks reads and writes. ends
// are the points after each block, minimum the model's smallest cacheable
// prompt; marks are in order, longer lifetimes first.
func (c *cache) planMarks(scope digest, ends []point, marks []mark, minimum int64, start moment) *plan {
	p := &plan{scope: scope, start: start}
	read := -1
	var writes []mark
	for _, m := range marks {
		if ends[m.at].tokens < minimum {
			continue // silently nothing
		}
		if at, ok := c.lookBack(p, ends, m.at); ok {
			read = max(read, at)
		}
		writes = append(writes, m)
	}
	p.charge(ends, read, writes)
	return p
}

// lookBack finds the latest entry at or before a mark, and refreshes it.
func (c *cache) lookBack(p *plan, ends []point, from int) (int, bool) {
	for at := from; at >= 0 && at > from-lookBack; at-- {
		sum := ends[at].sum
		if lifetime, ok := c.find(entryKey{p.scope, sum}, p.start); ok {
			p.keep(sum, lifetime)
			return at, true
		}
	}
	return 0, false
}

// charge splits the input into classes: read up to the block read, then what
// the long marks cover beyond it, then what the short ones do, and the rest.
func (p *plan) charge(ends []point, read int, writes []mark) {
	reached := tokensAt(ends, read)
	p.tokens.CacheRead = reached
	for _, m := range writes {
		if m.at <= read {
			continue
		}
		p.keep(ends[m.at].sum, m.lifetime)
		more := ends[m.at].tokens - reached
		reached = ends[m.at].tokens
		if m.lifetime == lifetimeLong {
			p.tokens.Write1h += more
		} else {
			p.tokens.Write5m += more
		}
	}
	p.tokens.Fresh = tokensAt(ends, len(ends)-1) - reached
}

func tokensAt(ends []point, i int) int64 {
	if i < 0 {
		return 0
	}
	return ends[i].tokens
}
