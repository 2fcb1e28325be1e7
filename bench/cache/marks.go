package cache

import "time"

// Facts: providers.md 1.3.
const (
	MaxMarks   = 4
	lookBack   = 20 // block positions, the mark's own included
	Lifetime5m = 5 * time.Minute
	Lifetime1h = time.Hour
)

// A Mark is a cache breakpoint (Anthropic's cache_control) on the block at an
// index.
type Mark struct {
	At       int
	Lifetime time.Duration // Lifetime5m or Lifetime1h
}

// LongAfterShort returns the index of the first mark that stands behind one of a
// shorter lifetime, which providers refuse, or -1.
func LongAfterShort(marks []Mark) int {
	for i := 1; i < len(marks); i++ {
		if marks[i].Lifetime > marks[i-1].Lifetime {
			return i
		}
	}
	return -1
}

// PlanMarks finds what a request with marks reads and writes. ends are the
// points after each block, minimum is the model's smallest cacheable prompt;
// marks are in order, longer lifetimes first.
func (c *Prompts) PlanMarks(scope Sum, ends []Point, marks []Mark, minimum int64, start Moment) *Plan {
	p := &Plan{scope: scope, start: start}
	read := -1
	var writes []Mark
	for _, m := range marks {
		if ends[m.At].Tokens < minimum {
			continue // silently nothing
		}
		if at, ok := c.lookBack(p, ends, m.At); ok {
			read = max(read, at)
		}
		writes = append(writes, m)
	}
	p.charge(ends, read, writes)
	return p
}

// lookBack finds the latest entry at or before a mark, and refreshes it.
func (c *Prompts) lookBack(p *Plan, ends []Point, from int) (int, bool) {
	for at := from; at >= 0 && at > from-lookBack; at-- {
		sum := ends[at].Sum
		if lifetime, ok := c.find(p.scope, sum, p.start); ok {
			p.keep(sum, lifetime)
			return at, true
		}
	}
	return 0, false
}

// charge splits the input into classes: read up to the block read, then what
// the long marks cover beyond it, then what the short ones do, and the rest.
func (p *Plan) charge(ends []Point, read int, writes []Mark) {
	reached := tokensAt(ends, read)
	p.Tokens.Read = reached
	for _, m := range writes {
		if m.At <= read {
			continue
		}
		p.keep(ends[m.At].Sum, m.Lifetime)
		p.Tokens.write(ends[m.At].Tokens-reached, m.Lifetime)
		reached = ends[m.At].Tokens
	}
	p.Tokens.Fresh = tokensAt(ends, len(ends)-1) - reached
}
