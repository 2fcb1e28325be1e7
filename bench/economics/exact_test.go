package economics

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// growing is a conversation to which each request appends, in blocks of 64
// tokens: 30 of tools, 20 of system.
func growing(t *rapid.T) []trace.Request {
	var out []trace.Request
	blocks, at := int64(50), time.Duration(0)
	for range rapid.IntRange(1, 20).Draw(t, "requests") {
		blocks += rapid.Int64Range(1, 40).Draw(t, "new")
		at += time.Duration(rapid.SampledFrom([]int{1, 100, 299, 301, 3599, 3601}).Draw(t, "gap")) * time.Second
		out = append(out, trace.Request{
			At: at, Input: blocks * 64, Output: 7, Block: 64, Tools: 30 * 64, System: 20 * 64,
			Runs: []cache.Run{{Start: 0, Count: blocks}}, Trigger: rapid.SampledFrom([]string{"user", "tool_result"}).Draw(t, "trigger"),
		})
	}
	return out
}

// readsOf plays requests to strategies at a provider's tier, and returns what
// each reads, request by request.
func readsOf(p plan, x *tier, opener int64, requests []trace.Request) map[string][]int64 {
	s := &scene{plan: p}
	for _, g := range strategies {
		if !g.uncached {
			s.add(g, x, opener)
		}
	}
	pl := player{scenes: []*scene{s}}
	pl.beginScope()
	out := map[string][]int64{}
	for _, r := range requests {
		before := make([]int64, len(s.cells))
		for i, c := range s.cells {
			before[i] = c.sums.all().read
		}
		pl.prompt.Request = &r
		pl.request(&r)
		for i, c := range s.cells {
			out[c.strategy.name] = append(out[c.strategy.name], c.sums.all().read-before[i])
		}
	}
	return out
}

func tierOf(t testing.TB, provider, lifetime string) *tier {
	t.Helper()
	prices, err := builtinPrices()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Providers: []string{provider}, Lifetimes: []string{lifetime}}.WithDefaults()
	tiers, err := tiersOf(o, prices)
	if err != nil {
		t.Fatal(err)
	}
	return &tiers[0]
}

// TestInvariant3_MarksReadNoLess: in a conversation that only grows, entries at
// the ends of requests are as good as entries anywhere, except where the opener
// stands inside the system prompt or before it: then no entry is left before it.
func TestInvariant3_MarksReadNoLess(t *testing.T) {
	for _, lifetime := range []string{"5m", "1h"} {
		x := tierOf(t, "anthropic", lifetime)
		rapid.Check(t, func(t *rapid.T) {
			p := plan{change: rapid.SampledFrom(changes).Draw(t, "change"), stretch: 1, marks: MarksIdeal, burst: 1, seed: rapid.Uint64().Draw(t, "seed")}
			requests := growing(t)
			ideal := readsOf(p, x, 1000, requests)
			p.marks = MarksClient
			exact := readsOf(p, x, 1000, requests)
			for name, reads := range ideal {
				inside := name == SystemSection || name == DecoratorBeforeSystem
				if !inside && !slices.Equal(reads, exact[name]) {
					t.Fatalf("%s reads %v by marks, %v without", name, exact[name], reads)
				}
			}
		})
	}
}

// TestExactSystemSection: an opener that changes inside the system prompt, whose
// end is marked, leaves nothing to read.
func TestExactSystemSection(t *testing.T) {
	p := plan{change: Change{Kind: ChangeEachRequest}, stretch: 1, marks: MarksClient, burst: 1}
	r := trace.Request{Input: 6400, Block: 64, Tools: 1920, System: 1280, Runs: []cache.Run{{Start: 0, Count: 100}}}
	next := r
	next.At = time.Minute
	reads := readsOf(p, tierOf(t, "anthropic", "5m"), 1000, []trace.Request{r, next})
	for name, want := range map[string]int64{SystemSection: 0, DecoratorBeforeSystem: 0, PerRequestBefore: 3200, PerRequestAfter: 6400, Frozen: 7400} {
		if got := reads[name][1]; got != want {
			t.Errorf("%s reads %d at the second request, want %d", name, got, want)
		}
	}
}

// TestExactBehindHistory: from GPT-5.6 on an entry is written at the end of the
// latest message. An opener behind the history is that message, and the next
// request has it elsewhere: nothing is read, not even of the history.
func TestExactBehindHistory(t *testing.T) {
	p := plan{change: Change{Kind: ChangeNever}, stretch: 1, marks: MarksClient, burst: 1}
	r := trace.Request{Input: 6400, Block: 64, Tools: 1920, System: 1280, Runs: []cache.Run{{Start: 0, Count: 100}}}
	next := r
	next.At, next.Input, next.Runs = time.Minute, 12_800, []cache.Run{{Start: 0, Count: 200}}
	reads := readsOf(p, tierOf(t, "openai", "30m"), 1000, []trace.Request{r, next})
	for name, want := range map[string]int64{PerRequestAfter: 0, Frozen: 7400, SystemSection: 7400, Bare: 6400} {
		if got := reads[name][1]; got != want {
			t.Errorf("%s reads %d at the second request, want %d", name, got, want)
		}
	}
}

// TestInvariant3_StepsLikeTheCache holds the rounding to the provider's own rules.
func TestInvariant3_StepsLikeTheCache(t *testing.T) {
	x := tierOf(t, "openai-before-5.6", "5m")
	rapid.Check(t, func(t *rapid.T) {
		requests := growing(t)
		for i := range requests {
			if rapid.IntRange(0, 4).Draw(t, "cut") == 0 {
				requests[i].Input -= rapid.Int64Range(0, 63).Draw(t, "short")
				requests[i].Runs = []cache.Run{{Start: 0, Count: requests[i].Input / 64}} // whole blocks
			}
		}
		got := readsOf(plan{change: Change{Kind: ChangeNever}, stretch: 1, marks: MarksIdeal, burst: 1}, x, 0, requests)[Bare]
		prompts := cache.NewPrompts()
		for i, r := range requests {
			steps := stepsOf(r, x.rules.Step)
			plan := prompts.PlanSteps(cache.Sum{}, steps, r.Input, x.rules.Minimum, x.lifetime, prompts.Arrive(time.Unix(0, 0).Add(r.At)))
			prompts.Commit(plan)
			if got[i] != plan.Tokens.Read {
				t.Fatalf("request %d reads %d, want %d", i, got[i], plan.Tokens.Read)
			}
		}
	})
}

func stepsOf(r trace.Request, step int64) (out []cache.Point) {
	for n := step; n <= r.Input; n += step {
		out = append(out, cache.Point{Tokens: n, Sum: cache.Sum{byte(n / step), byte(n / step >> 8)}})
	}
	return out
}
