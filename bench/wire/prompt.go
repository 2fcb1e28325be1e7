package wire

import (
	"encoding/binary"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// A model says what requests of one session read and write, by the trace's tokens
// alone: it sees no text. It has a cache of its own.
type model struct {
	rules    cache.Rules
	lifetime time.Duration
	format   *format
	opener   int64 // tokens

	prompts *cache.Prompts
	scope   cache.Sum
}

func newModel(rules cache.Rules, lifetime time.Duration, f *format, opener int64) *model {
	return &model{rules: rules, lifetime: lifetime, format: f, opener: opener, prompts: cache.NewPrompts()}
}

// A part is a block of a prompt: what it is up to its end, and where that is.
type part struct {
	name   name
	user   bool
	tokens int64 // up to its end
}

// A name stands for the beginning of a prompt up to some point of a block.
type name struct {
	block  int // id of the head or message
	kind   int // of the head: which part
	opener int // what is before or in the block, 0 for none
	offset int64
}

const (
	toolsPart = iota + 1
	systemPart
	openerPart
	historyPart
)

func (n name) sum() (s cache.Sum) {
	binary.LittleEndian.PutUint64(s[0:], uint64(n.block))
	binary.LittleEndian.PutUint64(s[8:], uint64(n.kind))
	binary.LittleEndian.PutUint64(s[16:], uint64(n.opener))
	binary.LittleEndian.PutUint64(s[24:], uint64(n.offset))
	return s
}

// A prompt is the blocks of one request, with the opener.
type prompt struct {
	parts          []part
	system, opener int // indexes, system -1 if there is none
}

// lay lists the blocks of what a dialogue sends. opener names what is inserted.
func (m *model) lay(d *dialogue, opener int) prompt {
	p := prompt{system: -1}
	add := func(n name, user bool, end int64) { p.parts = append(p.parts, part{n, user, end}) }
	if d.head.tools > 0 {
		add(name{block: d.head.id, kind: toolsPart}, false, d.head.tools)
	}
	if d.head.system > 0 {
		p.system = len(p.parts)
		add(name{block: d.head.id, kind: systemPart}, false, d.head.tokens())
	}
	p.opener = len(p.parts)
	add(name{d.head.id, openerPart, opener, 0}, true, d.head.tokens()+m.opener)
	for _, h := range d.history {
		add(name{h.id, historyPart, opener, 0}, !h.agent, h.after+m.opener)
	}
	return p
}

// plays returns what a request reads and writes, and keeps it.
func (m *model) plays(p prompt, at time.Time) cache.Tokens {
	plan := m.plan(p, m.prompts.Arrive(at))
	m.prompts.Commit(plan)
	return plan.Tokens
}

func (m *model) plan(p prompt, start cache.Moment) *cache.Plan {
	switch m.rules.Kind {
	case cache.ByMarks:
		return m.prompts.PlanMarks(m.scope, p.ends(), p.marks(m.lifetime), m.rules.Minimum, start)
	case cache.ByBoundaries:
		return m.prompts.PlanBoundaries(m.scope, p.ends(), p.boundaries(m.format), m.lifetime, start)
	default:
		total := p.parts[len(p.parts)-1].tokens
		return m.prompts.PlanSteps(m.scope, p.steps(m.rules.Step), total, m.rules.Minimum, m.lifetime, start)
	}
}

func (p prompt) ends() (ends []cache.Point) {
	for _, b := range p.parts {
		ends = append(ends, cache.Point{Tokens: b.tokens, Sum: b.name.sum()})
	}
	return ends
}

// marks are those that agents set: behind the system prompt and on the last
// message.
func (p prompt) marks(lifetime time.Duration) (marks []cache.Mark) {
	if p.system >= 0 {
		marks = append(marks, cache.Mark{At: p.system, Lifetime: lifetime})
	}
	return append(marks, cache.Mark{At: len(p.parts) - 1, Lifetime: lifetime})
}

// boundaries are the ends of what the developer and the user said.
func (p prompt) boundaries(f *format) cache.Boundaries {
	b := cache.Boundaries{Developer: -1, Implicit: true}
	if p.system >= 0 && f.systemMessage {
		b.Developer, b.Messages = p.system, []int{p.system}
	}
	for i, part := range p.parts {
		if part.user {
			b.Messages = append(b.Messages, i)
		}
	}
	return b
}

// steps are the points at each multiple of so many tokens.
func (p prompt) steps(every int64) (steps []cache.Point) {
	var begin int64
	var parent name
	for _, b := range p.parts {
		for at := (begin/every + 1) * every; at <= b.tokens; at += every {
			steps = append(steps, cache.Point{Tokens: at, Sum: b.at(at-begin, parent).sum()})
		}
		begin, parent = b.tokens, b.name
	}
	return steps
}

// at names a point in a block. The tokens of its header are the same for all
// blocks of a kind behind the same beginning.
func (b part) at(offset int64, parent name) name {
	n := b.name
	if offset <= headerTokens {
		n = parent
		if b.user {
			n.kind += 8
		}
		n.kind += 16 * b.name.kind
	}
	n.offset = offset
	return n
}
