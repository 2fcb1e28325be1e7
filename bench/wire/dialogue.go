package wire

import (
	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// The provider's token rule: a block is a header of so many tokens and its text,
// four bytes a token. So the shortest has one token of text.
const (
	headerTokens = 3
	tokenBytes   = 4
	shortest     = headerTokens + 1
)

// A dialogue is a session as an agent has it before it sends: the head, which
// stands before the opener, and the history behind it.
//
// Requests of a trace tell how much of their prompt they share with the one before.
// What they do not share becomes messages of the agent and the user; where a prompt
// parts from the one before in the middle of a message, that message is a new one,
// as when agents put away reminders, rewind or compact.
type dialogue struct {
	shrink    int64
	leastTool int64 // tokens of the shortest tool

	head    head
	history []message
	last    int // id of the newest message or head
	before  before
}

// before is the request before, in the trace's tokens.
type before struct {
	input, output int64
	runs          []cache.Run
}

// A head is tools and system prompt, in tokens; id is new where its text is.
type head struct {
	id            int
	tools, system int64
}

func (h head) tokens() int64 { return h.tools + h.system }

// A message is one of the history. Its id names its text and all that is before
// it, save the opener.
type message struct {
	id     int
	agent  bool // the model's own; else the user's
	tokens int64
	after  int64 // tokens up to its end, without the opener
}

// turn makes the dialogue what a request of the trace sends.
func (d *dialogue) turn(q *trace.Request) {
	shared := d.shared(q)
	h := d.headOf(q)
	if len(d.history) == 0 || shared < q.Tools+q.System || h.tools != d.head.tools || h.system != d.head.system {
		d.last++
		h.id = d.last
		d.head, d.history = h, d.history[:0]
	}
	d.keep(shared / d.shrink)
	d.extend(max(q.Input/d.shrink, d.head.tokens()+shortest))
	d.before = before{q.Input, q.Output, append(d.before.runs[:0], q.Runs...)}
}

// shared is how many tokens a request has in common with the one before: all of
// that, if its blocks are, or whole blocks.
func (d *dialogue) shared(q *trace.Request) int64 {
	n, whole := commonBlocks(d.before.runs, q.Runs)
	if whole && q.Input >= d.before.input {
		return d.before.input
	}
	return n * q.Block
}

// commonBlocks counts the blocks with which both begin, and reports whether they
// are all of a.
func commonBlocks(a, b []cache.Run) (n int64, whole bool) {
	for i, r := range a {
		if i == len(b) || b[i].Start != r.Start {
			return n, false
		}
		n += min(r.Count, b[i].Count)
		if b[i].Count < r.Count || b[i].Count > r.Count && i < len(a)-1 {
			return n, false
		}
	}
	return n, true
}

// headOf is a request's head. One that has no room for it, such as a probe, has
// none; and tools that are too short to be written count for the system prompt.
func (d *dialogue) headOf(q *trace.Request) head {
	tools, system := q.Tools/d.shrink, q.System/d.shrink
	if tools < d.leastTool {
		tools, system = 0, system+tools
	}
	if system < shortest {
		tools, system = tools+system, 0
	}
	if tools < d.leastTool && system == 0 || q.Input/d.shrink < tools+system+shortest {
		return head{}
	}
	return head{tools: tools, system: system}
}

// keep drops what goes beyond so many tokens.
func (d *dialogue) keep(tokens int64) {
	for n := len(d.history); n > 0 && d.history[n-1].after > tokens; n-- {
		d.history = d.history[:n-1]
	}
}

// end is the length of the prompt without the opener.
func (d *dialogue) end() int64 {
	if n := len(d.history); n > 0 {
		return d.history[n-1].after
	}
	return d.head.tokens()
}

// extend makes the prompt so many tokens long, with the user's message as the last.
func (d *dialogue) extend(input int64) {
	if n := len(d.history); n > 0 && d.end() == input && !d.history[n-1].agent {
		return // the same again
	}
	for len(d.history) > 0 && input-d.end() < shortest {
		d.history = d.history[:len(d.history)-1]
	}
	rest := input - d.end()
	if n := len(d.history); n > 0 && !d.history[n-1].agent && rest >= 2*shortest {
		d.add(true, max(shortest, min(d.before.output/d.shrink, rest-shortest)))
	}
	d.add(false, input-d.end())
}

func (d *dialogue) add(agent bool, tokens int64) {
	d.last++
	d.history = append(d.history, message{d.last, agent, tokens, d.end() + tokens})
}
