package economics

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A stage is all that one reading of a trace feeds: the scenes, and what to make
// of them afterwards.
type stage struct {
	o          Options
	tiers      []tier
	strategies []strategy
	scenes     []*scene
	shared     map[sharedKey]*scene // scenes of all strategies, for studies that look at the same
	finish     []func(*player, *Result)
}

func newStage(o Options) (*stage, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	prices := o.Prices
	if prices == nil {
		var err error
		if prices, err = builtinPrices(); err != nil {
			return nil, err
		}
	}
	st := &stage{o: o, shared: map[sharedKey]*scene{}}
	if err := st.choose(prices); err != nil {
		return nil, err
	}
	st.addRows()
	if !o.RowsOnly {
		st.addStudies()
	}
	return st, nil
}

func (st *stage) choose(prices *usage.Prices) (err error) {
	if st.tiers, err = tiersOf(st.o, prices); err != nil {
		return err
	}
	if st.o.Capacity > 0 && !slices.ContainsFunc(st.tiers, func(t tier) bool { return t.rules.Kind == cache.ByBlocks }) {
		return fmt.Errorf("capacity %d: it is of self-hosted engines: want a provider among vllm, blocks-64, blocks-128", st.o.Capacity)
	}
	st.strategies, err = pick("strategy", strategies, func(s strategy) string { return s.name }, st.o.Strategies)
	return err
}

func (st *stage) addStudies() {
	st.addGoldens()
	for i := range st.tiers {
		t := &st.tiers[i]
		st.studyLength(t)
		st.studyChanges(t)
		st.studyPauses(t)
		st.studyOpenerSize(t)
		st.studyResumes(t)
		st.studyKeepalive(t)
		st.studyBursts(t)
		st.studyConditions(t)
	}
	st.studyLifetimes()
}

func (st *stage) scene(p plan) *scene {
	s := &scene{plan: p}
	st.scenes = append(st.scenes, s)
	return s
}

// plan is that of studies: what was asked for, in a strict prefix cache with room
// for everything.
func (st *stage) plan() plan {
	p := st.o.plan()
	p.marks, p.capacity = MarksIdeal, 0
	return p
}

func (st *stage) then(f func(*player, *Result)) { st.finish = append(st.finish, f) }

// add puts a strategy at a tier into a scene.
func (s *scene) add(g strategy, t *tier, opener int64) *cell {
	lifetime := time.Duration(float64(t.lifetime) / s.plan.stretch)
	c := &cell{strategy: g, tier: t, opener: opener, horizon: s.horizonOf(lifetime)}
	if g.place == nowhere {
		c.opener = 0
	}
	if t.exact(s.plan.marks) {
		c.prompts = cache.NewPrompts()
	}
	if s.plan.capacity > 0 && t.rules.Kind == cache.ByBlocks && !g.uncached {
		c.engine = newEngine(s.plan.capacity)
	}
	s.cells = append(s.cells, c)
	return c
}

// A sharedKey tells scenes of all strategies apart.
type sharedKey struct {
	plan   plan
	tier   *tier
	opener int64
}

// all is a scene of all strategies that give an opener, with sessions cut.
func (st *stage) all(p plan, t *tier, opener int64) *scene {
	if p.change.Kind != ChangeDeploy {
		p.change.Every = 0
	}
	key := sharedKey{p, t, opener}
	s, ok := st.shared[key]
	if !ok {
		s = st.scene(p)
		s.addAll(t, opener)
		st.shared[key] = s
	}
	return s
}

func (s *scene) addAll(t *tier, opener int64) {
	for _, g := range strategies {
		if g.place != nowhere {
			s.add(g, t, opener).cut = &byLength{}
		}
	}
}

// cellOf is a strategy's cell.
func (s *scene) cellOf(name string) *cell {
	for _, c := range s.cells {
		if c.strategy.name == name {
			return c
		}
	}
	panic("BUG: no cell of " + name)
}

// addRows is what was asked for.
func (st *stage) addRows() {
	s := st.scene(st.o.plan())
	for i := range st.tiers {
		for _, g := range st.strategies {
			s.add(g, &st.tiers[i], st.o.opener()).detail = newDetail(st.o.FirstToken)
		}
	}
	st.then(func(pl *player, res *Result) {
		for _, c := range s.cells {
			res.Rows = append(res.Rows, c.row(s, st.o, pl.scopes))
		}
		compareBare(res.Rows, s.cells)
		res.Assumptions = st.assumptions(pl)
	})
}

func (st *stage) result(pl *player) Result {
	var res Result
	for _, f := range st.finish {
		f(pl, &res)
	}
	return res
}
