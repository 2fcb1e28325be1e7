package economics

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// An ending is where an earlier request of the scope ended, in whole blocks.
type ending struct {
	number int64 // of the last block: it stands for all text up to its end
	tokens int64
}

// maxEndings is how many earlier endings a request knows: more than any provider
// looks back.
const maxEndings = 24

// paths knows at which blocks the requests of a scope ended.
type paths struct{ ended []bool } // by block number

func (w *paths) reset() {
	clear(w.ended)
	w.ended = w.ended[:0]
}

// on returns the latest endings on a prompt's way, the earliest first, in dst.
func (w *paths) on(r *trace.Request, dst []ending) []ending {
	dst = dst[:0]
	at := blocksOf(r)
	for _, run := range slices.Backward(r.Runs) {
		for n := run.Start + run.Count - 1; n >= run.Start && len(dst) < maxEndings; n-- {
			if n < int64(len(w.ended)) && w.ended[n] && at*r.Block < r.Input {
				dst = append(dst, ending{n, at * r.Block})
			}
			at--
		}
	}
	slices.Reverse(dst)
	return dst
}

func (w *paths) add(r *trace.Request) {
	n := numberAt(r, min(r.Input/r.Block, blocksOf(r))-1)
	if n < 0 {
		return
	}
	if grow := int(n) + 1 - len(w.ended); grow > 0 {
		w.ended = append(w.ended, make([]bool, grow)...)
	}
	w.ended[n] = true
}

func blocksOf(r *trace.Request) (n int64) {
	for _, run := range r.Runs {
		n += run.Count
	}
	return n
}

// numberAt is the number of the block at an index of a prompt, -1 if there is
// none.
func numberAt(r *trace.Request, at int64) int64 {
	for _, run := range r.Runs {
		if at >= 0 && at < run.Count {
			return run.Start + at
		}
		at -= run.Count
	}
	return -1
}

// A layout is a prompt as providers with entries at certain places see it.
type layout struct {
	ends     []cache.Point
	messages []int // indexes of ends of messages
	head     int   // of the end of the system prompt, -1 if there is none
	opener   int   // of the end of an opener that is a message of its own
	last     int   // of the end of the client's last message
}

// part says what a point's sum stands for beside the block before it.
type part uint64

const (
	partTools part = iota + 1
	partHead
	partOpener
	partHistory
)

func (l *layout) add(tokens, number int64, what part, version, history int32) int {
	var sum cache.Sum
	binary.LittleEndian.PutUint64(sum[0:], uint64(number))
	binary.LittleEndian.PutUint64(sum[8:], uint64(what))
	binary.LittleEndian.PutUint64(sum[16:], uint64(version))
	binary.LittleEndian.PutUint64(sum[24:], uint64(history))
	l.ends = append(l.ends, cache.Point{Tokens: tokens, Sum: sum})
	return len(l.ends) - 1
}

// lay puts a cell's opener into a prompt.
func (c *cell) lay(p *prompt, s *scene, opener int64) *layout {
	l := &c.layout
	*l = layout{ends: l.ends[:0], messages: l.messages[:0], head: -1, opener: -1}
	version := 1 + s.lanes[c.strategy.composes].since
	before := func(at place) (tokens int64, v int32) {
		if opener > 0 && c.strategy.place <= at {
			return opener, version
		}
		return 0, 0
	}
	if p.Tools > 0 && p.Tools < p.Input {
		l.add(p.Tools, numberAt(p.Request, p.Tools/p.Block-1), partTools, 0, 0)
		if c.strategy.place == beforeSystem {
			l.add(p.Tools+opener, numberAt(p.Request, p.Tools/p.Block-1), partOpener, version, 0)
		}
	}
	ahead := numberAt(p.Request, p.head/p.Block-1)
	if p.head > 0 && p.head < p.Input {
		more, v := before(inSystem)
		l.head = l.add(p.head+more, ahead, partHead, v, 0)
	}
	if more, v := before(atHead); more > 0 && c.strategy.place >= beforeHistory && p.head < p.Input {
		l.opener = l.add(p.head+more, ahead, partOpener, v, 0)
		l.messages = append(l.messages, l.opener)
	}
	c.layHistory(p, s, opener)
	return l
}

func (c *cell) layHistory(p *prompt, s *scene, opener int64) {
	l := &c.layout
	var more int64
	var version int32
	if opener > 0 && c.strategy.place <= atHead {
		more, version = opener, 1+s.lanes[c.strategy.composes].since
	}
	for _, e := range p.path {
		if e.tokens > p.head {
			l.messages = append(l.messages, l.add(e.tokens+more, e.number, partHistory, version, s.history))
		}
	}
	n := min(p.Input/p.Block, blocksOf(p.Request))
	l.last = l.add(p.Input+more, numberAt(p.Request, n-1), partHistory, version, s.history)
	l.messages = append(l.messages, l.last)
	if opener > 0 && c.strategy.place == atTail {
		l.messages = append(l.messages, l.add(p.Input+opener, int64(p.seq), partOpener, 1+p.seq, 0))
	}
}

// chargeExactly asks the provider's own rules, with entries where agents place
// them.
func (c *cell) chargeExactly(p *prompt, s *scene, opener int64) classes {
	l := c.lay(p, s, opener)
	start := c.prompts.Arrive(time.Unix(0, 0).Add(time.Duration(float64(p.At) * s.plan.stretch)))
	plan := c.plan(l, s, start)
	c.prompts.Commit(plan)
	return classes{fresh: plan.Tokens.Fresh, read: plan.Tokens.Read, written: plan.Tokens.Written(), output: p.Output}
}

func (c *cell) plan(l *layout, s *scene, start cache.Moment) *cache.Plan {
	var scope cache.Sum
	own := s.plan.marks == MarksOpener && l.opener >= 0
	switch rules := c.tier.rules; rules.Kind {
	case cache.ByMarks:
		return c.prompts.PlanMarks(scope, l.ends, l.marks(own, c.tier.lifetime), rules.Minimum, start)
	case cache.ByBoundaries:
		b := cache.Boundaries{Messages: l.messages, Developer: l.head, Implicit: true}
		if own {
			b.Explicit = []int{l.opener}
		}
		return c.prompts.PlanBoundaries(scope, l.ends, b, c.tier.lifetime, start)
	default:
		return c.prompts.PlanUnits(scope, l.ends, l.ends, c.tier.lifetime, start)
	}
}

// marks are those of an agent: at the end of the system prompt and of the last
// message; and one of ours.
func (l *layout) marks(own bool, lifetime time.Duration) (marks []cache.Mark) {
	if l.head >= 0 {
		marks = append(marks, cache.Mark{At: l.head, Lifetime: lifetime})
	}
	if own {
		marks = append(marks, cache.Mark{At: l.opener, Lifetime: lifetime})
	}
	return append(marks, cache.Mark{At: l.last, Lifetime: lifetime})
}

// exact reports whether a cell asks the provider's rules for each request: where
// entries stand at certain places, if that is simulated.
func (t *tier) exact(m Marks) bool {
	if m == MarksIdeal || t.lifetime == 0 {
		return false
	}
	return t.rules.Kind == cache.ByMarks || t.rules.Kind == cache.ByBoundaries || t.rules.Kind == cache.ByUnits
}
