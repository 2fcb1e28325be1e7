package economics

import (
	"fmt"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// studyOpenerSize varies the opener's size.
func (st *stage) studyOpenerSize(t *tier) {
	c := st.curve("opener_size", "How does the size of the opener matter?", t, Axis{Name: "opener", Unit: "tokens"})
	for _, n := range []int64{250, 500, 1000, 2000, 4000, 10_000, 20_000, 40_000} {
		s := st.all(st.plan(), t, n)
		c.point(float64(n), fmt.Sprint(n), s)
	}
	st.then(func(_ *player, res *Result) {
		c.measure((*cell).vsNone)
		frozen, after := c.of(Frozen), c.of(PerRequestAfter)
		last := len(frozen) - 1
		at, ok := c.turn(func(i int) bool { return after[i] > 1.1*frozen[i] })
		c.Answer = fmt.Sprintf("composed behind the history it costs %.3f times a frozen one at %s tokens and %.3f times at %s", after[0]/frozen[0], c.X.Labels[0], after[last]/frozen[last], c.X.Labels[last])
		if ok {
			c.Answer += fmt.Sprintf("; over 10 %% more from %s tokens on", at)
		}
		res.BreakEvens = append(res.BreakEvens, c.BreakEven)
	})
}

// studyResumes varies how often sessions are resumed and compose a new text.
func (st *stage) studyResumes(t *tier) {
	c := st.curve("resumes", "From which rate of resumes with a new text does a frozen opener lose to one behind the history?", t, Axis{Name: "resumes", Unit: "per request"})
	for _, rate := range []float64{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1} {
		p := st.plan()
		p.change, p.resumes, p.signed = Change{Kind: ChangeEachRequest}, rate, false
		s := st.all(p, t, st.o.opener())
		c.point(rate, fmt.Sprint(rate), s)
	}
	st.then(func(pl *player, res *Result) {
		if !pl.knowsSessions() {
			return
		}
		c.measure((*cell).vsNone)
		frozen, after := c.of(Frozen), c.of(PerRequestAfter)
		if at, ok := c.turn(func(i int) bool { return frozen[i] > after[i] }); ok {
			c.Answer = fmt.Sprintf("from %s resumes per request on, each with a new text", at)
		} else {
			c.Answer = "at no rate: behind the history it is dearer even so"
		}
		c.Answer += fmt.Sprintf("; without resumes a frozen opener costs %.3f of none and one behind the history %.3f", frozen[0], after[0])
		res.BreakEvens = append(res.BreakEvens, c.BreakEven)
	})
}

// studyKeepalive varies how often an idle session is kept alive at most.
func (st *stage) studyKeepalive(t *tier) {
	if t.lifetime == 0 {
		return
	}
	c := st.curve("keepalive", "Does it pay to keep an idle session's entries alive, and how often at most?", t, Axis{Name: "keepalives at most", Unit: "in a pause"})
	for _, n := range []int{0, 1, 2, 3, 4, 6, 8, 11, 16, 24} {
		p := st.plan()
		p.keepalive = n
		s := st.scene(p)
		s.add(strategyOf(Frozen), t, st.o.opener())
		c.point(float64(n), fmt.Sprint(n), s)
	}
	st.then(func(pl *player, res *Result) {
		if !pl.knowsSessions() {
			return
		}
		c.measure((*cell).vsNone)
		frozen := c.of(Frozen)
		best := 0
		for i := range frozen {
			if frozen[i] < frozen[best] {
				best = i
			}
		}
		c.At = &c.X.Values[best]
		c.Answer = fmt.Sprintf("it does not pay: %.4f of none without, %.4f with one in a pause", frozen[0], frozen[1])
		if best > 0 {
			c.Answer = fmt.Sprintf("it pays: %.4f of none with at most %s in a pause, %.4f without (%.1f %% less)", frozen[best], c.X.Labels[best], frozen[0], 100*(1-frozen[best]/frozen[0]))
		}
		res.BreakEvens = append(res.BreakEvens, c.BreakEven)
	})
}

// studyBursts varies how many subagents start at once.
func (st *stage) studyBursts(t *tier) {
	c := st.curve("burst_hold", "What does it save to hold all but the first of a burst of subagents until its answer begins?", t, Axis{Name: "subagents at once", Unit: "requests"})
	for _, n := range []int{1, 2, 4, 8, 16} {
		p := st.plan()
		p.change, p.subagents, p.burst = Change{Kind: ChangeNever}, 0.05*float64(n), n
		s := st.scene(p)
		s.add(strategyOf(Frozen), t, st.o.opener())
		p.hold = true
		held := st.scene(p)
		held.add(strategyOf(Frozen), t, st.o.opener())
		s.held = held
		c.point(float64(n), fmt.Sprint(n), s)
	}
	st.then(func(pl *player, res *Result) {
		if !pl.knowsSessions() {
			return
		}
		not, held := Series{Name: "not held"}, Series{Name: "held"}
		for _, s := range c.scenes {
			not.Values = append(not.Values, s.cells[0].vsNone())
			held.Values = append(held.Values, s.held.cells[0].vsNone())
		}
		c.Series = []Series{not, held}
		at, ok := c.turn(func(i int) bool { return held.Values[i] < not.Values[i]/1.01 })
		last := len(not.Values) - 1
		c.Answer = fmt.Sprintf("with one burst per 20 requests, of %s: %.4f of none not held, %.4f held", c.X.Labels[last], not.Values[last], held.Values[last])
		if ok {
			c.Answer += fmt.Sprintf("; over 1 %% saved from bursts of %s on", at)
		}
		res.BreakEvens = append(res.BreakEvens, c.BreakEven)
	})
}

// stretches are factors on the time between requests.
var stretches = []float64{0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128}

// studyPauses compares strategies with the time between requests shorter and
// longer than in the trace.
func (st *stage) studyPauses(t *tier) {
	c := st.curve("pauses", "From which pauses on does no cache pay for a frozen opener?", t, Axis{Name: "time between requests", Unit: "times that of the trace"})
	for _, x := range stretches {
		p := st.plan()
		p.stretch = x
		s := st.all(p, t, st.o.opener())
		c.point(x, fmt.Sprint(x), s)
	}
	st.then(func(_ *player, res *Result) {
		c.measure((*cell).vsNone)
		frozen := c.of(Frozen)
		last := len(frozen) - 1
		if at, ok := c.turn(func(i int) bool { return frozen[i] >= 1 }); ok {
			c.Answer = fmt.Sprintf("with pauses %s times as long: a frozen opener costs no less than no cache then", at)
		} else {
			c.Answer = fmt.Sprintf("from none that was tried: with pauses %s times as long it still costs %.3f of what it does without a cache", c.X.Labels[last], frozen[last])
		}
		res.BreakEvens = append(res.BreakEvens, c.BreakEven)
	})
}

// studyLifetimes compares the lifetimes that a provider sells, with the time
// between requests shorter and longer than in the trace.
func (st *stage) studyLifetimes() {
	for i := 0; i < len(st.tiers); {
		n := i + 1
		for n < len(st.tiers) && st.tiers[n].provider == st.tiers[i].provider && st.tiers[n].model == st.tiers[i].model {
			n++
		}
		if n > i+1 {
			st.studyLifetimesOf(st.tiers[i:n])
		}
		i = n
	}
}

func (st *stage) studyLifetimesOf(tiers []tier) {
	c := st.curve("lifetime_by_gaps", "Which lifetime pays, by the time between requests?", &tiers[0], Axis{Name: "time between requests", Unit: "times that of the trace"})
	c.Lifetime = ""
	for _, x := range stretches {
		p := st.plan()
		p.stretch = x
		s := st.scene(p)
		for i := range tiers {
			s.add(strategyOf(Frozen), &tiers[i], st.o.opener())
		}
		for _, d := range [...]time.Duration{5 * time.Minute, time.Hour} {
			s.gaps = append(s.gaps, gapCount{over: time.Duration(float64(d) / x)})
		}
		c.point(x, fmt.Sprint(x), s)
	}
	st.then(func(_ *player, res *Result) {
		c.measure((*cell).vsNone)
		for i := range c.Series {
			c.Series[i].Name = cache.LifetimeName(tiers[i].lifetime)
		}
		for i, s := range c.scenes {
			c.X.Labels[i] = fmt.Sprintf("×%v (%.1f %% of pauses over 5m, %.1f %% over 1h)", c.X.Values[i], 100*s.gaps[0].share(), 100*s.gaps[1].share())
		}
		c.Answer = c.lifetimes()
		res.BreakEvens = append(res.BreakEvens, c.BreakEven)
	})
}

// lifetimes says which of the curves is lowest where.
func (c *curve) lifetimes() string {
	lowest := func(i int) int {
		best := 0
		for j := range c.Series {
			if c.Series[j].Values[i] < c.Series[best].Values[i] {
				best = j
			}
		}
		return best
	}
	first := lowest(0)
	answer := fmt.Sprintf("%s at %s", c.Series[first].Name, c.X.Labels[0])
	for i := range c.X.Values {
		if now := lowest(i); now != first {
			if c.At == nil {
				c.At = &c.X.Values[i]
			}
			answer += fmt.Sprintf("; %s from %s on", c.Series[now].Name, c.X.Labels[i])
			first = now
		}
	}
	return answer
}

func strategyOf(name string) strategy {
	for _, s := range strategies {
		if s.name == name {
			return s
		}
	}
	panic("BUG: no strategy " + name)
}
