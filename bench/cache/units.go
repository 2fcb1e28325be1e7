package cache

import (
	"slices"
	"time"
)

// unitStep is how finely prompts are compared for beginnings that they share.
const unitStep = 64

// PlanUnits finds what a request reads from a cache of prefix units (DeepSeek,
// facts/providers.md 4): a unit is read whole or not at all. One ends where a
// prompt ended; another is made of what a prompt shares with an earlier one, so a
// shared beginning is paid in full twice and read the third time. ends are the
// points after each message, where an earlier prompt may have ended; steps are
// those at which prompts are compared. Writing is free. The unit at the end of the
// answer is for [Prompts.Store].
func (c *Prompts) PlanUnits(scope Sum, ends, steps []Point, lifetime time.Duration, start Moment) *Plan {
	p := &Plan{scope: scope, start: start}
	compared := Scope("compared", string(scope[:]))
	end := ends[len(ends)-1]
	read := c.longest(scope, start, ends, steps)
	shared := c.longest(compared, start, ends, steps)
	for _, unit := range [...]Point{read, shared, end} {
		if unit.Tokens >= unitStep {
			p.keep(unit.Sum, lifetime)
		}
	}
	for _, s := range steps {
		p.keepIn(compared, s.Sum, lifetime)
	}
	p.Tokens.Read, p.Tokens.Fresh = read.Tokens, end.Tokens-read.Tokens
	return p
}

// longest returns the last warm one of some points.
func (c *Prompts) longest(scope Sum, m Moment, lists ...[]Point) (found Point) {
	for _, points := range lists {
		for _, p := range slices.Backward(points) {
			if p.Tokens <= found.Tokens {
				break
			}
			if _, ok := c.find(scope, p.Sum, m); ok {
				found = p
				break
			}
		}
	}
	return found
}

// Store makes an entry outside a plan, such as the one at the end of an answer,
// which can be read by requests that arrive from now on.
func (c *Prompts) Store(scope, sum Sum, lifetime time.Duration, start Moment) {
	c.Commit(&Plan{scope: scope, start: start, kept: []planned{{entryKey{scope, sum}, lifetime}}})
}

// Units is a cache of prefix units over numbered blocks: what [Prompts.PlanUnits]
// is over sums. The end of a prompt lies in its last block or, since that may be
// shorter and other text in the next prompt, at the end of the one before.
type Units struct {
	seen  *Blocks // what prompts are compared with
	units *Blocks // the last block of each unit
}

// NewUnits returns an empty cache. Units have no Capacity.
func NewUnits(lifetime time.Duration) *Units {
	o := BlocksOptions{Lifetime: lifetime}
	return &Units{seen: NewBlocks(o), units: NewBlocks(o)}
}

// Reset forgets all, and keeps the memory for the next scope.
func (u *Units) Reset() {
	u.seen.Reset()
	u.units.Reset()
}

// Read returns the length in blocks of the longest unit that a prompt begins
// with. It touches none.
func (u *Units) Read(runs []Run, at time.Duration) int64 {
	oldest := u.units.oldest(at)
	before := total(runs)
	for i := len(runs) - 1; i >= 0; i-- {
		before -= runs[i].Count
		if n := u.units.lastWarm(runs[i], oldest); n > 0 {
			return before + n
		}
	}
	return 0
}

// Touch reads or writes a prompt at a time: the unit that it reads, one of what
// it shares with an earlier prompt, and its own.
func (u *Units) Touch(runs []Run, at time.Duration) {
	n := total(runs)
	for _, end := range [...]int64{u.Read(runs, at), u.seen.Read(runs, at), n - 1, n} {
		if last, ok := blockAt(runs, end-1); ok {
			u.units.Touch([]Run{{last, 1}}, at)
		}
	}
	u.seen.Touch(runs, at)
}

// lastWarm returns how many blocks of a run lie up to its last warm one.
func (b *Blocks) lastWarm(r Run, oldest time.Duration) int64 {
	for n := min(r.Start+r.Count, int64(len(b.touched))); n > r.Start; n-- {
		if b.touched[n-1] >= oldest {
			return n - r.Start
		}
	}
	return 0
}

func total(runs []Run) (n int64) {
	for _, r := range runs {
		n += r.Count
	}
	return n
}

// blockAt returns the number of the block at an index of a prompt.
func blockAt(runs []Run, i int64) (int64, bool) {
	for _, r := range runs {
		if i >= 0 && i < r.Count {
			return r.Start + i, true
		}
		i -= r.Count
	}
	return 0, false
}
