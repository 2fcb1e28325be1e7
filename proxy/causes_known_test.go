package proxy_test

import (
	"time"

	"github.com/seed-9236c7ca/preface/proxy/explain"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// knownCauses are those of other projects' bug reports, by the numbers that they
// have among our cases.
var knownCauses = []cause{
	{name: "A17 nonce in the first system block", in: olds, before: nonced("cch=36ee5"), change: inSystem("cch=36ee5", "cch=0aaa9"),
		want: system, detail: "volatile token in system[0]: a nonce, cch=36ee5 → cch=0aaa9; keep it out of what is cached", at: "0aaa9"},
	{name: "A17 nonce in the first system block", in: new3, before: nonced("cch=36ee5"), change: inSystem("cch=36ee5", "cch=0aaa9"),
		want: system, detail: "volatile token in system[0]", at: "0aaa9"},
	{name: "A17 nonce in a line that a host does not take out", in: claudes, before: func(c *talk) {
		nonced("x-anthropic-billing-header: cch=36ee5")(c)
		c.via.request = func(_, sent *talk) { sent.system[0] = "As a text: " + sent.system[0] }
	}, change: inSystem("cch=36ee5", "cch=0aaa9"), want: system, detail: "CLAUDE_CODE_ATTRIBUTION_HEADER=0", at: "0aaa9"},

	{name: "C12 the upstream sets marks of its own", in: claudes, before: func(c *talk) {
		c.unmarked = true
		c.via.request = func(_, sent *talk) { sent.unmarked, sent.ttl = false, "1h" }
	}, change: func(c *talk) {
		for i := range 25 {
			c.turns[len(c.turns)-1].parts = append(c.turns[len(c.turns)-1].parts, text(words("more", i+1)))
		}
	}, want: want{explain.Provider, explain.ByUpstream, explain.SectionMarks}, detail: "the upstream sets marks of its own", nobody: true},
	{name: "C14 1h asked for and 5m granted", in: claudes, before: func(c *talk) {
		c.ttl = "1h"
		c.via.request = func(_, sent *talk) { sent.ttl = "5m" }
	}, play: after(6 * time.Minute), want: expired, detail: "the lifetime granted is 5m0s, 1h0m0s were asked for", nobody: true},
	{name: "C15 900 tokens", in: []flavor{{anthropic, "claude-sonnet-4-6"}, {anthropic, "claude-haiku-4-5"}, {chat, "gpt-5.6-sol"}, {responses, "gpt-5.4"}}, before: func(c *talk) {
		shrink(c)
		c.system = []string{words("You help.", 270)}
	}, want: small, detail: "the prompt has", nobody: true},
	{name: "C15 a model that does not cache", in: claudes, before: func(c *talk) {
		c.via.request = func(_, sent *talk) { sent.unmarked = true }
	}, want: want{explain.Provider, explain.ByUpstream, explain.SectionMarks}, detail: "may not cache, or the upstream takes marks out", nobody: true},
	{name: "C17 no breakpoint, only a key", in: []flavor{{responses, "anthropic/claude-opus-5.5"}, {chat, "anthropic/claude-opus-5.5"}}, before: func(c *talk) {
		c.key = "session"
		c.via.request = toMessages
	}, want: noMark, detail: "no breakpoint, for a provider that needs one"},
	{name: "E12 sticky for less than a lifetime", in: all, play: func(s *stand, c *talk) outcome {
		s.ask(c)
		d := c.copy()
		d.turn()
		d.host = "other.example"
		s.ask(d)
		e := d.copy()
		e.turn()
		e.host = "third.example"
		return s.ask(e)
	}, want: want{explain.UpstreamChanged, explain.ByUpstream, explain.SectionHost}, detail: "→ third.example"},

	{name: "G1 the skill list leaves the opening on a resume", in: all, change: func(c *talk) {
		c.edit(0, reminder, "")
		c.epoch = 2
	}, want: history, detail: "resumed: message 0", at: "Mend the parser"},
	{name: "G1 the skill list comes back", in: all, before: func(c *talk) { c.edit(0, reminder, "") }, change: func(c *talk) {
		c.edit(0, "Mend", reminder+"Mend")
	}, want: history, detail: "message 0", at: reminder},
	{name: "G4 project notes in the system prompt of each session", in: new3, play: func(s *stand, c *talk) outcome {
		c.system[1] = "Notes of /home/a: " + c.system[1]
		s.ask(c)
		d := c.copy()
		d.thread, d.system[1] = "other session", "Notes of /home/b: "+c.system[1][18:]
		return s.ask(d)
	}, want: cold, detail: "opener", nobody: true},
	{name: "G6 a stable key, and nothing cached", in: gpts, play: func(s *stand, c *talk) outcome {
		c.key = "session"
		s.ask(c)
		var o outcome
		for range 3 {
			c = c.copy()
			c.turn()
			s.forgets(c.host)
			o = s.ask(c)
		}
		return o
	}, want: theirs, detail: "nothing on our side changed", nobody: true},
	{name: "G7 a subagent beside its parent", in: new3, play: func(s *stand, c *talk) outcome {
		d := c.copy()
		d.thread, d.turns = "sub", []turn{user(text("A task."))}
		if c.dialect != anthropic { // only a mark makes an opening that others find
			c.turns = d.copy().turns
		}
		return s.beside(c, d)
	}, want: beside, detail: "with the same opening", nobody: true},
	{name: "G7 a subagent in another region", in: claudes, play: func(s *stand, c *talk) outcome {
		s.ask(c)
		s.forgets(c.host)
		d := c.copy()
		d.thread, d.turns = "sub", []turn{user(text("A task."))}
		return s.ask(d)
	}, want: theirs, detail: "the provider's diagnosis would tell", nobody: true},
	{name: "G9 usage is not reported", in: all, before: func(c *talk) {
		c.via.usage = func(u *usage.Usage) { *u = usage.Usage{} }
	}, change: func(c *talk) { c.edit(0, "Mend", "Break") }},
	{name: "G9 a stream that was not asked for usage", in: only(gpts, chat), before: set(`"stream":true`), change: func(c *talk) { c.edit(0, "Mend", "Break") }},
}

// nonced puts a line of an agent's own in front of the system slot.
func nonced(line string) func(*talk) {
	return func(c *talk) { c.system[0] = line + "; " + c.system[0] }
}

// toMessages is a router that speaks OpenAI's dialects and calls Claude: what it
// is not told to mark it does not mark.
func toMessages(_, sent *talk) {
	sent.dialect, sent.model, sent.unmarked, sent.key = anthropic, "claude-opus-5-5", true, ""
}
