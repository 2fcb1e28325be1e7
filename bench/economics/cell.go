package economics

import "github.com/seed-9236c7ca/preface/bench/cache"

// A cell is one strategy at one tier under one plan, and what it came to.
type cell struct {
	strategy strategy
	tier     *tier
	opener   int64
	horizon  int // of its scene
	sums     sums
	detail   *detail   // nil: sums alone are wanted
	cut      *byLength // nil: likewise

	subs  subagents
	scope scopeSums

	prompts *cache.Prompts // the scope's, if the provider's rules are asked
	engine  *engine        // the scope's, if it has a capacity
	layout  layout
}

// sums are tokens and requests, by the band of the price.
type sums struct {
	requests   int64
	tokens     [2]classes
	flaws      flaws
	keepalives int64
	kept       [2]classes // of keepalives; also in tokens
}

// classes are tokens of one band.
type classes struct{ fresh, read, written, output int64 }

func (c classes) input() int64 { return c.fresh + c.read + c.written }

func (c *classes) add(d classes) {
	c.fresh += d.fresh
	c.read += d.read
	c.written += d.written
	c.output += d.output
}

// flaws are requests whose opener was old, missing, or cannot be told afterwards.
type flaws struct{ stale, absent, unnamed int64 }

func (f *flaws) add(g flaws) {
	f.stale += g.stale
	f.absent += g.absent
	f.unnamed += g.unnamed
}

// scopeSums are those of the scope being played.
type scopeSums struct{ input, read int64 }

// count plays one request.
func (c *cell) count(p *prompt, s *scene) {
	opener := c.given(p, s)
	k := c.charge(p, s, opener)
	c.take(k)
	c.sums.requests++
	f := c.judge(s, opener)
	c.sums.flaws.add(f)
	if s.bridged[c.horizon] > 0 {
		c.keepAlive(s.bridged[c.horizon], p.lastIn+opener)
	}
	if c.cut != nil {
		c.cut.add(p.seq, k, f)
	}
	if c.detail != nil {
		c.detail.add(k)
		c.scope.input += k.input()
		c.scope.read += k.read
	}
	if s.plan.subagents > 0 {
		c.startSubagents(p, s)
	}
}

func (c *cell) take(k classes) { c.sums.tokens[c.tier.tariff.bandOf(k.input())].add(k) }

// given is the size of the opener that a request has: what stands in the history
// is gone with its beginning.
func (c *cell) given(p *prompt, s *scene) int64 {
	if c.strategy.place == nowhere || c.lost(p, s) {
		return 0
	}
	return c.opener
}

func (c *cell) lost(p *prompt, s *scene) bool {
	return c.strategy.place == atHead && (s.history > 0 || !p.begun)
}

// charge sorts a request's input into classes. What is not read is written where
// a write costs, except what stands behind the last mark.
func (c *cell) charge(p *prompt, s *scene, opener int64) classes {
	k := classes{output: p.Output}
	input := p.Input + opener
	if c.strategy.uncached {
		k.fresh = input
		return k
	}
	if c.prompts != nil {
		return c.chargeExactly(p, s, opener)
	}
	if c.engine != nil {
		k.read = c.tier.rules.Counted(c.engine.read(c, p, s, opener))
		k.fresh = input - k.read
		return k
	}
	k.read = c.tier.rules.Counted(c.read(p, s, opener))
	k.fresh = input - k.read
	if !c.tier.rules.PaidWrites || input < c.tier.rules.Minimum {
		return k
	}
	k.written, k.fresh = k.fresh, 0
	if c.strategy.place == atTail {
		k.written, k.fresh = k.written-opener, opener
	}
	return k
}

// read is how many leading tokens of the prompt, with the opener in it, are warm.
func (c *cell) read(p *prompt, s *scene, opener int64) int64 {
	warm, alive := s.warm[c.horizon], s.alive[c.horizon]
	place := c.place(p)
	if opener > 0 && c.strategy.place != atTail {
		l := &s.lanes[c.strategy.composes]
		warm = c.behindOpener(p, warm, alive, place, opener, l.since)
		alive = max(alive, l.since)
	}
	if s.history > 0 {
		warm = c.afterCompaction(p, s, warm, alive, opener)
	}
	if s.plan.warm > 0 && warm < p.head+opener && s.falls(p, eventWarm, s.plan.warm) {
		warm = max(warm, min(c.fromOthers(p, s, place, opener), p.Input+opener))
	}
	return warm
}

// place is how many tokens stand before the opener.
func (c *cell) place(p *prompt) int64 {
	switch c.strategy.place {
	case beforeSystem:
		return min(p.Tools, p.Input)
	case inSystem, beforeHistory, atHead:
		return min(p.head, p.Input)
	}
	return p.Input
}

// behindOpener is what is warm of a prompt with an opener in it: the part before,
// the opener if its bytes are those that were sent since some request, and
// behind it what was sent since then.
func (c *cell) behindOpener(p *prompt, before int64, alive int32, place, opener int64, since int32) int64 {
	if before < place || place >= p.Input {
		return min(before, place)
	}
	end := p.headEnd
	switch c.strategy.place {
	case beforeSystem:
		end = p.toolsEnd
	case atHead:
		end = p.begunAt
	}
	if end < max(alive, since) {
		return place
	}
	if since > alive {
		before = warm(p.steps, since)
	}
	return opener + max(before, place)
}

// afterCompaction is what is warm where the history was replaced at some request:
// what stands before it, and of it what was sent since.
func (c *cell) afterCompaction(p *prompt, s *scene, before int64, alive int32, opener int64) int64 {
	ahead := min(p.head, p.Input)
	if c.strategy.place != atTail {
		ahead += opener
	}
	if before <= ahead || s.history <= alive {
		return before
	}
	since := warm(p.steps, s.history)
	return max(ahead, since+ahead-min(p.head, p.Input))
}

// fromOthers is what another session of the same agent has just used: tools and
// system, up to an opener that this session has for itself.
func (c *cell) fromOthers(p *prompt, s *scene, place, opener int64) int64 {
	switch {
	case opener == 0 || c.strategy.place == atTail:
		return p.head
	case s.shared && s.plan.change.Kind != ChangeEachRequest:
		return p.head + opener
	}
	return place
}

// judge finds what is wrong with the opener of a request.
func (c *cell) judge(s *scene, opener int64) (f flaws) {
	if c.strategy.place == nowhere || c.opener == 0 {
		return f
	}
	switch {
	case opener == 0:
		f.absent = 1
	case s.lanes[c.strategy.composes].text != s.text:
		f.stale = 1
	}
	if opener == 0 || !c.strategy.known && s.plan.change.Kind == ChangeEachRequest {
		f.unnamed = 1
	}
	return f
}

// endScope counts what is known only when a scope is over.
func (c *cell) endScope(s *scene, p *prompt) {
	if c.detail != nil && c.scope.input > 0 {
		c.detail.session.add(float64(c.scope.read) / float64(c.scope.input))
	}
	if s.plan.keepalive > 0 && c.tier.lifetime > 0 && !c.strategy.uncached {
		c.keepAlive(int64(s.plan.keepalive), p.lastIn+c.given(p, s))
	}
	c.scope, c.subs = scopeSums{}, subagents{}
	if c.prompts != nil {
		c.prompts = cache.NewPrompts()
	}
	if c.engine != nil {
		c.engine.forget()
	}
}

// keepAlive prices requests that read a prompt for nothing but to keep it: each
// reads it all and answers with one token.
func (c *cell) keepAlive(n, input int64) {
	if c.strategy.uncached || input < c.tier.rules.Minimum {
		return
	}
	k := classes{read: n * input, output: n}
	band := c.tier.tariff.bandOf(input)
	c.sums.keepalives += n
	c.sums.tokens[band].add(k)
	c.sums.kept[band].add(k)
}
