package cache

import (
	"slices"
	"time"
)

// Facts: providers.md 2.4.
const (
	minimumVisible  = 1024 // tokens; before GPT-5.6 too
	maxWrites       = 4    // in one request
	firstExplicit   = 2    // explicit breakpoints looked up from the start,
	latestExplicit  = 50   // and from the end (the guide of October; the spec of August says 80)
	earlierMessages = 20   // message endings looked up before the implicit boundary

	Lifetime30m = 30 * time.Minute
	Lifetime12h = 12 * time.Hour
)

// Boundaries are the places of a request, as block indexes, where a prompt may
// be cached by OpenAI from GPT-5.6 on.
type Boundaries struct {
	Explicit  []int // prompt_cache_breakpoint, in order
	Messages  []int // ends of eligible messages, in order
	Developer int   // end of the initial developer group, -1 if there is none
	Implicit  bool  // mode implicit
}

// lookups are the block indexes at which entries are looked for.
func (b Boundaries) lookups() []int {
	at := slices.Clone(b.Explicit)
	if over := len(at) - firstExplicit - latestExplicit; over > 0 {
		at = slices.Delete(at, firstExplicit, firstExplicit+over)
	}
	if !b.Implicit {
		return at
	}
	ends := b.Messages
	at = append(at, ends[max(0, len(ends)-1-earlierMessages):]...)
	if b.Developer >= 0 {
		at = append(at, b.Developer)
	}
	return at
}

// writes are the block indexes at which entries are made: the implicit boundary
// takes one of the four, and explicit ones beyond the rest do not write.
func (b Boundaries) writes() []int {
	room := maxWrites
	var last []int
	if b.Implicit && len(b.Messages) > 0 {
		room--
		last = b.Messages[len(b.Messages)-1:]
	}
	at := append(slices.Clone(b.Explicit[:min(room, len(b.Explicit))]), last...)
	slices.Sort(at)
	return at
}

// PlanBoundaries finds what a request of GPT-5.6 or later reads and writes. ends
// are the points after each block; the lifetime is that of what it writes.
func (c *Prompts) PlanBoundaries(scope Sum, ends []Point, b Boundaries, lifetime time.Duration, start Moment) *Plan {
	p := &Plan{scope: scope, start: start}
	var reached int64
	for _, at := range b.lookups() {
		if ends[at].Tokens < minimumVisible {
			continue
		}
		if lifetime, ok := c.find(scope, ends[at].Sum, start); ok {
			p.keep(ends[at].Sum, lifetime)
			reached = max(reached, ends[at].Tokens)
		}
	}
	p.Tokens.Read = reached
	for _, at := range b.writes() {
		if ends[at].Tokens < minimumVisible || ends[at].Tokens <= reached {
			continue
		}
		p.keep(ends[at].Sum, lifetime)
		p.Tokens.write(ends[at].Tokens-reached, lifetime)
		reached = ends[at].Tokens
	}
	p.Tokens.Fresh = tokensAt(ends, len(ends)-1) - reached
	return p
}
