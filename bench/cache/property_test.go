package cache

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A planner plans one request of some rules. Its lifetime is one that the rules
// sell, long if it is told so.
type planner struct {
	name     string
	monotone bool // a longer lifetime never reads less
	plan     func(c *Prompts, ends []Point, marks []int, long bool, m Moment) *Plan
}

func choose(long bool, a, b time.Duration) time.Duration {
	if long {
		return b
	}
	return a
}

var planners = []planner{
	{"marks", true, func(c *Prompts, ends []Point, marks []int, long bool, m Moment) *Plan {
		var at []Mark
		for _, i := range marks[:min(len(marks), MaxMarks)] {
			at = append(at, Mark{i, choose(long, Lifetime5m, Lifetime1h)})
		}
		return c.PlanMarks(Sum{}, ends, at, 1024, m)
	}},
	{"boundaries", true, func(c *Prompts, ends []Point, marks []int, long bool, m Moment) *Plan {
		b := Boundaries{Explicit: marks, Messages: marks, Developer: -1, Implicit: true}
		return c.PlanBoundaries(Sum{}, ends, b, choose(long, Lifetime30m, Lifetime12h), m)
	}},
	{"steps", true, func(c *Prompts, ends []Point, _ []int, long bool, m Moment) *Plan {
		return c.PlanSteps(Sum{}, ends, tokensAt(ends, len(ends)-1), 1024, choose(long, LifetimeInMemory, Lifetime24h), m)
	}},
	// With a longer lifetime a prompt is found to share more with an older one,
	// and that longer beginning becomes the unit: another prompt may share less.
	{"units", false, func(c *Prompts, ends []Point, _ []int, long bool, m Moment) *Plan {
		return c.PlanUnits(Sum{}, ends, ends, choose(long, Lifetime1h, Lifetime24h), m)
	}},
}

// A call is one request of a drawn history.
type call struct {
	at    time.Duration
	texts []text
	marks []int
}

// drawCalls draws requests that begin alike more often than not.
func drawCalls(t *rapid.T) []call {
	var out []call
	var at time.Duration
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		at += time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute
		var texts []text
		for range rapid.IntRange(1, 30).Draw(t, "length") {
			says := rapid.SampledFrom([]string{"a", "a", "a", "a", "a", "a", "b"}).Draw(t, "says")
			texts = append(texts, text{says, 300})
		}
		marks := rapid.SliceOfNDistinct(rapid.IntRange(0, len(texts)-1), 0, min(6, len(texts)), rapid.ID).Draw(t, "marks")
		slices.Sort(marks)
		out = append(out, call{at, texts, marks})
	}
	return out
}

// play runs calls and returns what each used.
func (p planner) play(calls []call, long bool) []Tokens {
	c := NewPrompts()
	var out []Tokens
	for _, k := range calls {
		out = append(out, run(c, k.at, func(m Moment) *Plan { return p.plan(c, points(k.texts...), k.marks, long, m) }))
	}
	return out
}

// TestReadsWereSent: no class is negative, they add up to the prompt, and what is
// read is a beginning that an earlier prompt had.
func TestReadsWereSent(t *testing.T) {
	for _, p := range planners {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) {
			calls := drawCalls(t)
			sent := map[Sum]bool{}
			for i, got := range p.play(calls, rapid.Bool().Draw(t, "long")) {
				ends := points(calls[i].texts...)
				var known int64
				for _, e := range ends {
					if sent[e.Sum] {
						known = e.Tokens
					}
					sent[e.Sum] = true
				}
				if got.Read > known {
					t.Fatalf("request %d read %d tokens, and only %d had been sent before", i, got.Read, known)
				}
				if got.Input() != tokensAt(ends, len(ends)-1) || min(got.Fresh, got.Read, got.Write5m, got.Write1h, got.Write30m, got.Write12h) < 0 {
					t.Fatalf("request %d of %d tokens used %+v", i, tokensAt(ends, len(ends)-1), got)
				}
			}
		}))
	}
}

func TestLongerLifetimesReadNoLess(t *testing.T) {
	for _, p := range planners {
		if !p.monotone {
			continue
		}
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) {
			calls := drawCalls(t)
			short, long := p.play(calls, false), p.play(calls, true)
			for i := range calls {
				if long[i].Read < short[i].Read {
					t.Fatalf("request %d read %d tokens with the short lifetime, and %d with the long one", i, short[i].Read, long[i].Read)
				}
			}
		}))
	}
}

func TestSameCallsSameAnswers(t *testing.T) {
	for _, p := range planners {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) {
			calls := drawCalls(t)
			if diff := cmp.Diff(p.play(calls, true), p.play(calls, true)); diff != "" {
				t.Fatalf("two runs differ:\n%s", diff)
			}
		}))
	}
}
