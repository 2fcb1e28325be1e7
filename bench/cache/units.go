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
