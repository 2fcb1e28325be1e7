package provider

import (
	"slices"
	"time"
)

// Facts: providers.md 2.4 and 2.5.
const (
	minimumVisible  = 1024 // tokens
	maxWrites       = 4    // in one request
	firstExplicit   = 2    // explicit breakpoints looked up from the start,
	latestExplicit  = 50   // and from the end (the guide of October; the spec of August says 80)
	earlierMessages = 20   // message endings looked up before the implicit boundary
	countStep       = 128  // older models count cached tokens in this unit

	lifetimeDefault = 30 * time.Minute
	lifetimeHalfDay = 12 * time.Hour
	lifetimeDay     = 24 * time.Hour
	lifetimeMemory  = 5 * time.Minute // in_memory promises 5 to 10 minutes idle
)

// boundaries are the places of a request, as block indexes, where a prompt may
// be cached from GPT-5.6 on.
type boundaries struct {
	explicit  []int // prompt_cache_breakpoint, in order
	messages  []int // ends of eligible messages, in order
	developer int   // end of the initial developer group, -1 if there is none
	implicit  bool  // mode implicit
}

// lookups are the block indexes at which entries are looked for.
func (b boundaries) lookups() []int {
	at := slices.Clone(b.explicit)
	if over := len(at) - firstExplicit - latestExplicit; over > 0 {
		at = slices.Delete(at, firstExplicit, firstExplicit+over)
	}
	if !b.implicit {
		return at
	}
	ends := b.messages
	at = append(at, ends[max(0, len(ends)-1-earlierMessages):]...)
	if b.developer >= 0 {
		at = append(at, b.developer)
	}
	return at
}

// writes are the block indexes at which entries are made: the implicit boundary
// takes one of the four, and explicit ones beyond the rest do not write.
func (b boundaries) writes() []int {
	room := maxWrites
	var last []int
	if b.implicit && len(b.messages) > 0 {
		room--
		last = b.messages[len(b.messages)-1:]
	}
	at := append(slices.Clone(b.explicit[:min(room, len(b.explicit))]), last...)
	slices.Sort(at)
	return at
}

// planBoundaries finds what a request of GPT-5.6 or later reads and writes.
func (c *cache) planBoundaries(scope digest, ends []point, b boundaries, lifetime time.Duration, start moment) *plan {
	p := &plan{scope: scope, start: start}
	var reached int64
	for _, at := range b.lookups() {
		if ends[at].tokens < minimumVisible {
			continue
		}
		if lifetime, ok := c.find(entryKey{scope, ends[at].sum}, start); ok {
			p.keep(ends[at].sum, lifetime)
			reached = max(reached, ends[at].tokens)
		}
	}
	p.tokens.CacheRead = reached
	for _, at := range b.writes() {
		if ends[at].tokens < minimumVisible || ends[at].tokens <= reached {
			continue
		}
		p.keep(ends[at].sum, lifetime)
		p.addWrite(ends[at].tokens-reached, lifetime)
		reached = ends[at].tokens
	}
	p.tokens.Fresh = tokensAt(ends, len(ends)-1) - reached
	return p
}

func (p *plan) addWrite(n int64, lifetime time.Duration) {
	if lifetime == lifetimeHalfDay {
		p.tokens.Write12h += n
		return
	}
	p.tokens.Write30m += n
}

// planIntervals finds what a request of an older model reads: the longest warm
// beginning that ends on a boundary. Writing is free and silent. The machine is
// chosen by the first tokens, which prompts that share a boundary share, and by
// prompt_cache_key, which is in the scope; the overflow to a cold machine at
// many requests a minute is not simulated.
func (c *cache) planIntervals(scope digest, steps []point, total int64, lifetime time.Duration, start moment) *plan {
	p := &plan{scope: scope, start: start}
	for _, s := range steps {
		if s.tokens < minimumVisible {
			continue
		}
		if _, ok := c.find(entryKey{scope, s.sum}, start); ok {
			p.tokens.CacheRead = s.tokens
		}
		p.keep(s.sum, lifetime)
	}
	p.tokens.Fresh = total - p.tokens.CacheRead
	return p
}
