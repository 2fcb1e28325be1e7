package proxy_test

import (
	"fmt"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/explain"
)

var (
	noMark   = byClient(explain.NoMark, explain.SectionMarks)
	moved    = byClient(explain.MarkMoved, explain.SectionMarks)
	lookback = byClient(explain.LookbackExceeded, explain.SectionMarks)
	expired  = byClient(explain.Expired, "")
	cold     = byClient(explain.Cold, "")
	beside   = byClient(explain.ConcurrentCold, "")
	small    = byClient(explain.BelowMinimum, "")
	theirs   = want{explain.Provider, explain.ByProvider, ""}
)

// after is the ordinary course with a pause in the middle.
func after(d time.Duration) func(*stand, *talk) outcome {
	return func(s *stand, c *talk) outcome {
		s.ask(c)
		s.pass(d)
		e := c.copy()
		e.turn()
		return s.ask(e)
	}
}

// explicit switches implicit boundaries off and sets breakpoints at some turns.
func explicit(turns ...int) func(*talk) {
	return func(c *talk) {
		c.set(`"prompt_cache_options":{"mode":"explicit"}`)
		c.marksAt = map[int]bool{}
		for _, t := range turns {
			c.marksAt[t] = true
		}
	}
}

func shrink(c *talk) {
	c.tools, c.system, c.turns = c.tools[:1], []string{"You help."}, []turn{user(text("Hello."))}
	c.tools[0].says = "Reads."
}

// cacheCauses are clocks, marks and rules of the provider: nothing that was said
// differs.
var cacheCauses = []cause{
	{name: "the first request", in: all, play: func(s *stand, c *talk) outcome { return s.ask(c) }, want: cold, nobody: true},
	{name: "beside the first", in: all, play: func(s *stand, c *talk) outcome {
		d := c.copy()
		d.turn()
		return s.beside(c, d)
	}, want: beside, detail: "before the answer to r1 began", nobody: true},
	{name: "the same request twice at once", in: all, play: func(s *stand, c *talk) outcome { return s.beside(c, c.copy()) },
		want: beside, detail: "before the answer to r1 began", nobody: true},

	{name: "below the minimum", in: all, before: shrink, want: small, detail: "caches from", nobody: true},

	{name: "expired after five minutes", in: claudes, play: after(6 * time.Minute), want: expired, detail: "the lifetime granted is 5m", nobody: true},
	{name: "expired after an hour", in: claudes, before: func(c *talk) { c.ttl = "1h" }, play: after(61 * time.Minute), want: expired, detail: "the lifetime granted is 1h", nobody: true},
	{name: "expired after half an hour", in: sols, play: after(31 * time.Minute), want: expired, detail: "the lifetime granted is 30m", nobody: true},
	{name: "expired after a day", in: olds, before: set(`"prompt_cache_retention":"24h"`), play: after(25 * time.Hour), want: expired, detail: "the lifetime granted is 24h", nobody: true},
	{name: "expired in memory", in: olds, before: set(`"prompt_cache_retention":"in_memory"`), play: after(6 * time.Minute), want: expired, detail: "the lifetime granted is 5m", nobody: true},

	{name: "no mark any more", in: claudes, change: func(c *talk) { c.unmarked = true }, want: noMark, detail: "no breakpoint, for a provider that needs one"},
	{name: "never a mark", in: claudes, before: func(c *talk) { c.unmarked = true }, want: noMark, detail: "no breakpoint"},
	{name: "explicit, and no mark any more", in: sols, before: explicit(12), change: explicitNone, want: noMark, detail: "no breakpoint"},
	{name: "mark moved to the front", in: claudes, change: func(c *talk) { c.noTailMark, c.marksAt = true, map[int]bool{2: true} }, want: moved},
	{name: "mark on system alone", in: claudes, change: func(c *talk) { c.noTailMark = true }, want: moved},
	{name: "breakpoint moved", in: sols, before: explicit(4), change: func(c *talk) { c.marksAt = map[int]bool{8: true} }, want: moved, detail: "no breakpoint at"},

	{name: "many blocks in one turn", in: claudes, change: func(c *talk) {
		for i := range 25 {
			c.turns[len(c.turns)-1].parts = append(c.turns[len(c.turns)-1].parts, text(fmt.Sprintf("file %d", i)))
		}
	}, want: lookback, detail: "20 are looked at"},
	{name: "many turns at once", in: new3, change: func(c *talk) {
		for range 22 {
			c.turn()
		}
	}, want: lookback, detail: "20 are looked at"},

	{name: "rounded down", in: olds, want: want{explain.PartialBlock, explain.ByProvider, ""}, nobody: true},
	{name: "rounded down by much", in: []flavor{{chat, "gpt-5.5"}, {responses, "gpt-5.5"}}, want: want{explain.PartialBlock, explain.ByProvider, ""}, nobody: true},

	{name: "forgotten by the provider", in: all, play: func(s *stand, c *talk) outcome {
		s.ask(c)
		s.forgets(c.host)
		d := c.copy()
		d.turn()
		return s.ask(d)
	}, want: theirs, detail: "nothing on our side changed", nobody: true},

	{name: "the client asks the provider itself", in: haveDiag, before: func(c *talk) { c.asks = "1" }, play: func(s *stand, c *talk) outcome {
		s.ask(c)
		s.forgets(c.host)
		d := c.copy()
		d.turn()
		d.asks = "2"
		return s.ask(d)
	}, want: theirs, detail: "nothing on our side changed", nobody: true},

	{name: "nothing", in: new3},
	{name: "what does not reach the cache", in: new3, change: func(c *talk) {
		c.set(`"temperature":0.5`)
		c.set(`"metadata":{"user_id":"u-2"}`)
	}},
	{name: "defaults that are said", in: new3, change: func(c *talk) {
		switch c.dialect {
		case anthropic:
			c.params = []string{`"tool_choice":{"type":"auto"}`, `"output_config":{"effort":"high"}`, `"speed":"standard"`}
		case chat:
			c.params = []string{`"response_format":{"type":"text"}`, `"verbosity":"medium"`, `"parallel_tool_calls":true`}
		default:
			c.params = []string{`"text":{"format":{"type":"text"},"verbosity":"medium"}`, `"parallel_tool_calls":true`}
		}
	}},
	{name: "texts as lists", in: new3, change: func(c *talk) { c.list = true }},
}

func explicitNone(c *talk) { c.marksAt = map[int]bool{} }
