package economics

import "time"

// subagents is when a scope's subagents last started, for one cell. They share
// tools, a system prompt and the opener among themselves, and nothing with the
// main thread, whose tools differ.
type subagents struct {
	started bool
	at      time.Duration
	text    int64
}

// startSubagents lets a burst of subagents start if it falls upon a request.
func (c *cell) startSubagents(p *prompt, s *scene) {
	rate := s.plan.subagents / float64(s.plan.burst)
	n := int64(rate)
	if s.falls(p, eventSubagents, rate-float64(n)) {
		n++
	}
	for range n {
		c.startBurst(p, s)
	}
}

// startBurst charges the first request of each subagent of a burst. All but the
// first find what it wrote only if they are held until its answer begins.
func (c *cell) startBurst(p *prompt, s *scene) {
	opener := c.opener
	if c.strategy.place == nowhere || c.strategy.place == atHead {
		opener = 0 // a subagent's history is its own
	}
	text := s.lanes[c.strategy.composes].text
	known := c.subs.started && (c.tier.lifetime == 0 || float64(p.At-c.subs.at)*s.plan.stretch <= float64(c.tier.lifetime))
	for i := range s.plan.burst {
		var warm int64
		switch {
		case i > 0 && s.plan.hold:
			warm = c.sharedBySubagents(p, s, opener, text)
		case known:
			warm = c.sharedBySubagents(p, s, opener, c.subs.text)
		}
		c.take(c.subagent(p, s, opener, warm))
		c.sums.requests++
	}
	c.subs = subagents{true, p.At, text}
}

// subagent is what one costs.
func (c *cell) subagent(p *prompt, s *scene, opener, warm int64) classes {
	k := classes{fresh: p.head + opener + s.plan.subagentInput}
	if c.strategy.uncached || k.fresh < c.tier.rules.Minimum {
		return k
	}
	k.read = c.tier.rules.Counted(warm)
	k.fresh -= k.read
	if c.tier.rules.PaidWrites {
		k.written, k.fresh = k.fresh, 0
	}
	return k
}

// sharedBySubagents is what a subagent has in common with one that got a text.
func (c *cell) sharedBySubagents(p *prompt, s *scene, opener, text int64) int64 {
	switch each := c.strategy.composes == eachRequest && s.plan.change.Kind == ChangeEachRequest; {
	case opener == 0 || c.strategy.place == atTail:
		return p.head
	case !each && s.lanes[c.strategy.composes].text == text:
		return p.head + opener
	}
	return min(c.place(p), p.head)
}
