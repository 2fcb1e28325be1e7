package economics

import (
	"fmt"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

const costValue = "cost of input relative to no cache"

// A curve gathers one scene for each value of an axis.
type curve struct {
	BreakEven
	scenes []*scene
}

func (st *stage) curve(name, question string, t *tier, x Axis) *curve {
	return &curve{BreakEven: BreakEven{
		Name: name, Question: question, Trace: st.o.Trace, Provider: t.provider, Model: t.model, Lifetime: cache.LifetimeName(t.lifetime),
		X: x, Value: costValue,
	}}
}

// point adds a value to the axis, with the scene that is simulated there.
func (c *curve) point(value float64, label string, s *scene) {
	c.X.Values, c.X.Labels = append(c.X.Values, value), append(c.X.Labels, label)
	c.scenes = append(c.scenes, s)
}

// measure fills in the curve of each cell that all scenes have.
func (c *curve) measure(value func(*cell) float64) {
	for i, first := range c.scenes[0].cells {
		s := Series{Name: first.strategy.name}
		for _, sc := range c.scenes {
			s.Values = append(s.Values, value(sc.cells[i]))
		}
		c.Series = append(c.Series, s)
	}
}

// of is the curve of a name.
func (b *BreakEven) of(name string) []float64 {
	for _, s := range b.Series {
		if s.Name == name {
			return s.Values
		}
	}
	panic("BUG: no curve of " + name)
}

// turn finds the first value of the axis for which a condition holds.
func (b *BreakEven) turn(holds func(i int) bool) (label string, found bool) {
	for i, v := range b.X.Values {
		if holds(i) {
			b.At = &v
			return b.X.Labels[i], true
		}
	}
	return "", false
}

// studyLength cuts sessions after so many requests.
func (st *stage) studyLength(t *tier) {
	s := st.all(st.plan(), t, st.o.opener())
	st.then(func(pl *player, res *Result) {
		if !pl.knowsSessions() {
			return
		}
		b := st.curve("session_length", "From which length of a session does a cached opener pay?", t, Axis{Name: "session cut after", Unit: "requests"}).BreakEven
		for _, n := range cuts {
			b.X.Values, b.X.Labels = append(b.X.Values, float64(n)), append(b.X.Labels, fmt.Sprint(n))
		}
		for _, c := range s.cells {
			line := Series{Name: c.strategy.name}
			for i := range cuts {
				line.Values = append(line.Values, t.tariff.vsNone(c.cut.upTo(i).tokens))
			}
			b.Series = append(b.Series, line)
		}
		frozen := b.of(Frozen)
		if at, ok := b.turn(func(i int) bool { return frozen[i] < 1 }); ok {
			b.Answer = fmt.Sprintf("frozen is cheaper than no cache from %s requests on; sessions cut after 1 cost %.3f of none, after %d cost %.3f", at, frozen[0], cuts[len(cuts)-1], frozen[len(frozen)-1])
		} else {
			b.Answer = fmt.Sprintf("never up to %d requests: frozen costs %.3f of none there", cuts[len(cuts)-1], frozen[len(frozen)-1])
		}
		res.BreakEvens = append(res.BreakEvens, b)
	})
}

// changes are plans of changes, from the fastest on.
var changes = []Change{
	{Kind: ChangeEachRequest},
	{ChangeDeploy, time.Minute},
	{ChangeDeploy, 5 * time.Minute},
	{ChangeDeploy, 15 * time.Minute},
	{ChangeDeploy, time.Hour},
	{ChangeDeploy, 4 * time.Hour},
	{ChangeDeploy, 24 * time.Hour},
	{Kind: ChangeNever},
}

// studyChanges varies how often the opener's text changes.
func (st *stage) studyChanges(t *tier) {
	c := st.curve("change_rate", "How rarely must the text change for composing at each request to cost no more than freezing?", t,
		Axis{Name: "the opener's text changes", Unit: "new texts per request"})
	for _, ch := range changes {
		p := st.plan()
		p.change = ch
		s := st.all(p, t, st.o.opener())
		label := ch.String()
		if ch.Kind == ChangeDeploy {
			label = "every " + short(ch.Every)
		}
		c.point(0, label, s)
	}
	st.then(func(pl *player, res *Result) {
		for i, x := range c.scenes {
			c.X.Values[i] = ratio(x.texts, x.cells[0].sums.requests)
		}
		hits, stale := *c, *c
		c.measure((*cell).vsNone)
		frozen, before := c.of(Frozen), c.of(PerRequestBefore)
		at, ok := c.turn(func(i int) bool { return before[i] <= 1.01*frozen[i] })
		c.Answer = fmt.Sprintf("with a new text at each request it costs %.2f times a frozen opener; ", before[0]/frozen[0])
		if ok {
			c.Answer += fmt.Sprintf("within 1 %% of it when the text changes: %s", at)
		} else {
			c.Answer += "it never comes within 1 % of it"
		}
		res.BreakEvens = append(res.BreakEvens, c.BreakEven, hits.hitRates(), stale.staleness())
		if !pl.knowsSessions() {
			return
		}
		res.BreakEvens = append(res.BreakEvens, c.map2("length_by_change", "Which strategy is the cheapest that gives every request an opener?", false),
			c.map2("length_by_change_fresh", "Which is the cheapest of those by which no request sees an outdated opener?", true))
	})
}

// hitRates are what a provider's dashboard would show.
func (c *curve) hitRates() BreakEven {
	c.Name, c.Question, c.Value = "hit_rate", "What of the input is read from the cache?", "share of input tokens"
	c.measure(hitRate)
	frozen, before := c.of(Frozen), c.of(PerRequestBefore)
	c.Answer = fmt.Sprintf("with a new text at each request %.1f %% with a frozen opener and %.1f %% with one composed before the history", 100*frozen[0], 100*before[0])
	return c.BreakEven
}

// staleness is the price of freezing that is not money.
func (c *curve) staleness() BreakEven {
	c.Name, c.Question, c.Value = "staleness", "How many requests see an outdated opener?", "share of requests"
	c.measure(func(x *cell) float64 { return ratio(x.sums.flaws.stale, x.sums.requests) })
	frozen := c.of(Frozen)
	c.Answer = "of a frozen opener's requests see an outdated text:"
	for i, l := range c.X.Labels {
		c.Answer += fmt.Sprintf(" %s %.1f %%;", l, 100*frozen[i])
	}
	return c.BreakEven
}

// map2 says who wins at each length of sessions and rate of changes.
func (c *curve) map2(name, question string, fresh bool) BreakEven {
	b := c.BreakEven
	y := c.X
	b.Name, b.Question, b.Y, b.Series, b.At = name, question, &y, nil, nil
	b.X = Axis{Name: "session cut after", Unit: "requests"}
	wins := map[string]int{}
	for i, n := range cuts {
		b.X.Values, b.X.Labels = append(b.X.Values, float64(n)), append(b.X.Labels, fmt.Sprint(n))
		for j, s := range c.scenes {
			if i == 0 {
				b.Winner = append(b.Winner, nil)
			}
			w := s.cheapest(fresh, func(x *cell) outcome { return x.cut.upTo(i) })
			b.Winner[j] = append(b.Winner[j], w.strategy.name)
			wins[w.strategy.name]++
		}
	}
	b.Answer = fmt.Sprintf("of %d places:", len(cuts)*len(c.scenes))
	for _, g := range strategies {
		if wins[g.name] > 0 {
			b.Answer += fmt.Sprintf(" %s %d;", g.name, wins[g.name])
		}
	}
	return b
}

// tied costs are taken for equal: then a frozen opener is named.
const tied = 1.01

// cheapest is the cell that costs least of those that give every request an
// opener and, if it is asked for, none that is outdated.
func (s *scene) cheapest(fresh bool, of func(*cell) outcome) *cell {
	fits := func(c *cell) bool {
		f := of(c).flaws
		return f.absent == 0 && !(fresh && f.stale > 0)
	}
	var best *cell
	for _, c := range s.cells {
		if fits(c) && (best == nil || c.costs(of) < best.costs(of)) {
			best = c
		}
	}
	if frozen := s.cellOf(Frozen); fits(frozen) && frozen.costs(of) <= best.costs(of)*tied {
		return frozen
	}
	return best
}

// costs is what input costs, in the unit of the price.
func (c *cell) costs(of func(*cell) outcome) float64 {
	return float64(c.tier.tariff.input(of(c).tokens))
}
