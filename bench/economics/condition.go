package economics

import (
	"fmt"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// A circumstance is a change of the plan under which strategies are compared
// again.
type circumstance struct {
	name  string
	words string
	cut   int  // index into cuts; -1: whole sessions
	fresh bool // no request may see an outdated opener
	alone bool // it makes sense only where sessions are told apart
	alter func(p *plan, opener *int64)
}

const whole = -1

var circumstances = []circumstance{
	{"as_asked", "as asked for", whole, false, false, func(*plan, *int64) {}},
	{"one_request", "sessions of one request", 0, false, true, func(*plan, *int64) {}},
	{"two_requests", "sessions of two requests", 1, false, true, func(*plan, *int64) {}},
	{"never_changes", "the text never changes", whole, false, false, func(p *plan, _ *int64) { p.change.Kind = ChangeNever }},
	{"daily", "the text changes once a day", whole, false, false, func(p *plan, _ *int64) { p.change = Change{ChangeDeploy, 24 * time.Hour} }},
	{"daily_fresh", "the text changes once a day, and no request may see an outdated one", whole, true, false, func(p *plan, _ *int64) { p.change = Change{ChangeDeploy, 24 * time.Hour} }},
	{"hourly_fresh", "the text changes once an hour, and no request may see an outdated one", whole, true, false, func(p *plan, _ *int64) { p.change = Change{ChangeDeploy, time.Hour} }},
	{"each_fresh", "the text changes with each request, and no request may see an outdated one", whole, true, false, func(p *plan, _ *int64) { p.change.Kind = ChangeEachRequest }},
	{"small_opener", "an opener of 250 tokens", whole, false, false, func(_ *plan, n *int64) { *n = 250 }},
	{"large_opener", "an opener of 40,000 tokens", whole, false, false, func(_ *plan, n *int64) { *n = 40_000 }},
	{"long_pauses", "pauses 32 times as long", whole, false, false, func(p *plan, _ *int64) { p.stretch *= 32 }},
	{"resumes", "one request in five resumes its session, with a new text", whole, false, true, func(p *plan, _ *int64) { p.change.Kind, p.resumes, p.signed = ChangeEachRequest, 0.2, false }},
	{"resumes_signed", "the same, and histories are signed, so that the old opener is kept", whole, false, true, func(p *plan, _ *int64) { p.change.Kind, p.resumes, p.signed = ChangeEachRequest, 0.2, true }},
	{"forks", "one request in fifty forks its session, with a new text", whole, false, true, func(p *plan, _ *int64) { p.change.Kind, p.forks, p.signed = ChangeEachRequest, 0.02, false }},
	{"compactions", "one request in fifty is behind a compaction", whole, false, true, func(p *plan, _ *int64) { p.compactions = 0.02 }},
	{"client_marks", "entries only where agents mark them: behind the system prompt, and where requests end", whole, false, false, func(p *plan, _ *int64) { p.marks = MarksClient }},
	{"opener_marks", "the same, and behind the opener", whole, false, false, func(p *plan, _ *int64) { p.marks = MarksOpener }},
	{"warm_one_request", "sessions of one request, all with the opener that others have just used", 0, false, true, func(p *plan, _ *int64) { p.change.Kind, p.warm, p.shared = ChangeNever, 1, 1 }},
	{"own_openers", "sessions of one request that others' tools and system keep warm, each with an opener of its own", 0, false, true, func(p *plan, _ *int64) { p.change.Kind, p.warm, p.shared = ChangeNever, 1, 0 }},
}

// studyConditions compares all strategies under each circumstance.
func (st *stage) studyConditions(t *tier) {
	for _, c := range circumstances {
		p, opener := st.plan(), st.o.opener()
		c.alter(&p, &opener)
		if p.marks != MarksIdeal && !t.exact(p.marks) {
			continue // marks mean nothing there
		}
		s := st.all(p, t, opener)
		st.then(func(pl *player, res *Result) {
			if !c.alone || pl.knowsSessions() {
				res.Sensitivity = append(res.Sensitivity, c.judge(st.o.Trace, t, s))
			}
		})
	}
}

// outcome is what a cell comes to under it.
func (c *circumstance) outcome(x *cell) outcome {
	if c.cut != whole {
		return x.cut.upTo(c.cut)
	}
	return x.sums.outcome()
}

func (c *circumstance) vsNone(x *cell) float64 {
	if c.cut != whole {
		return x.tier.tariff.vsNone(x.cut.upTo(c.cut).tokens)
	}
	return x.vsNone()
}

func (c *circumstance) judge(name string, t *tier, s *scene) Condition {
	frozen, best := s.cellOf(Frozen), s.cheapest(c.fresh, c.outcome)
	stale := func(x *cell) float64 { return ratio(c.outcome(x).flaws.stale, c.outcome(x).requests) }
	out := Condition{
		Name: c.name, Condition: c.words, Trace: name, Provider: t.provider, Model: t.model, Lifetime: cache.LifetimeName(t.lifetime),
		FrozenCostVsNone: c.vsNone(frozen), Best: best.strategy.name, BestVsFrozen: s.toFrozen(best, c.outcome), FrozenWins: best == frozen,
		FrozenStale: stale(frozen), BestStale: stale(best),
	}
	for _, x := range s.cells {
		out.VsFrozen = append(out.VsFrozen, Series{x.strategy.name, []float64{s.toFrozen(x, c.outcome)}})
	}
	out.Finding = out.words(s, c)
	return out
}

// toFrozen is what a cell costs relative to a frozen opener.
func (s *scene) toFrozen(x *cell, of func(*cell) outcome) float64 {
	return x.costs(of) / s.cellOf(Frozen).costs(of)
}

// words say what came out.
func (o *Condition) words(s *scene, c *circumstance) string {
	switch {
	case c.fresh && o.FrozenStale > 0:
		return fmt.Sprintf("frozen is out: %.1f %% of its requests see an outdated text; the cheapest without one is %s, at %.3f times the cost of frozen", 100*o.FrozenStale, o.Best, o.BestVsFrozen)
	case !o.FrozenWins:
		return fmt.Sprintf("frozen does not win: %s costs %.3f times as much", o.Best, o.BestVsFrozen)
	}
	next, even := s.next(c.outcome)
	if even != "" {
		return "frozen wins by no more than a tie: within 1 % of its cost are" + even
	}
	return fmt.Sprintf("frozen wins; next is %s at %.3f times its cost", next.strategy.name, s.toFrozen(next, c.outcome))
}

// next is the cheapest strategy beside a frozen opener, and those that cost the
// same.
func (s *scene) next(of func(*cell) outcome) (best *cell, even string) {
	frozen := s.cellOf(Frozen)
	for _, x := range s.cells {
		if x == frozen || of(x).flaws.absent > 0 {
			continue
		}
		if best == nil || x.costs(of) < best.costs(of) {
			best = x
		}
		if x.costs(of) <= frozen.costs(of)*tied {
			even += " " + x.strategy.name
		}
	}
	return best, even
}
