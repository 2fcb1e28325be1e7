package cache

import (
	"strings"
	"time"
)

// A provider is its rules, and what differs by model.
type provider struct {
	Rules
	serves func(model string) bool      // nil: models of others, so names say nothing
	fit    func(r *Rules, model string) // nil: its models are alike
}

// The sections after "facts" are those of facts/providers.md.
var providers = []provider{
	{
		Rules: Rules{
			Provider: "anthropic", Kind: ByMarks, About: "entries end at cache_control marks; each mark looks back",
			Minimum: 1024, Step: 1, // facts 1.3; by model, see Claude.Minimum
			Lifetimes:      []time.Duration{Lifetime5m, Lifetime1h}, // facts 1.3
			Writes:         MaxMarks,                                // facts 1.3
			LookBack:       lookBack,                                // facts 1.3
			AfterFirstByte: true,                                    // facts 1.3
			PaidWrites:     true,                                    // facts 1.10: 1.25 and 2 times
		},
		serves: func(model string) bool { return ClaudeOf(model).Known() },
		fit:    func(r *Rules, model string) { r.Minimum = ClaudeOf(model).Minimum() },
	},
	{
		Rules: Rules{
			Provider: "openai", Kind: ByBoundaries, About: "GPT-5.6 and later: entries end at the latest message and at breakpoints",
			Minimum: minimumVisible, Step: 1, // facts 2.4: exact, no rounding
			Lifetimes:  []time.Duration{Lifetime30m}, // facts 2.4
			Writes:     maxWrites,                    // facts 2.4
			LookBack:   earlierMessages,              // facts 2.4, beside explicit breakpoints
			Key:        "prompt_cache_key",           // facts 2.4: different keys never share
			PaidWrites: true,                         // facts 2.4: 1.25 times, 12 h 2.5

			AfterFirstByte: true,
			Assumed:        "that entries can be read once the answer began",
		},
		serves: func(model string) bool { return GPTOf(model).Breakpoints() },
		fit: func(r *Rules, model string) {
			if GPTOf(model).HalfDay() { // facts 2.4
				r.Lifetimes = []time.Duration{Lifetime30m, Lifetime12h}
			}
		},
	},
	{
		Rules: Rules{
			Provider: "openai-before-5.6", Kind: BySteps, About: "before GPT-5.6: at fixed steps, free",
			Minimum: minimumVisible, Step: countStep, // facts 2.5 and the older guides
			Lifetimes: []time.Duration{Lifetime24h, LifetimeInMemory}, // facts 2.5: in_memory 5 to 10 min idle
			Key:       "prompt_cache_key",                             // facts 2.5: needed for routing

			AfterFirstByte: true,
			Assumed:        "that entries can be read once the answer began; the lower end of in_memory; no overflow to cold machines above 15 requests a minute and key",
		},
		serves: func(model string) bool { return GPTOf(model).Major > 0 && !GPTOf(model).Breakpoints() },
		fit: func(r *Rules, model string) {
			g := GPTOf(model)
			r.Step = g.Interval()
			r.Minimum = max(r.Minimum, r.Step)
			if g.DayOnly() {
				r.Lifetimes = []time.Duration{Lifetime24h}
			}
		},
	},
	{
		Rules: Rules{
			Provider: "gemini", Kind: BySteps, About: "implicit: beginnings shared with recent requests, best effort",
			Minimum: 4096, Step: 1, // facts 3: 3.1 Pro, 3.5 to 3.8 Flash, 4 Argon
			// Google Cloud's page on context caching: entries are gone within 24 h of
			// their making, most of them sooner. Nothing promises the shorter one.
			Lifetimes: []time.Duration{Lifetime5m, Lifetime24h},

			AfterFirstByte: true,
			Assumed:        "5 min, since only an end (24 h) is told; any beginning can be read, since no step is told; that entries can be read once the answer began",
		},
		serves: func(model string) bool { return strings.HasPrefix(model, "gemini-") },
		fit: func(r *Rules, model string) {
			if strings.HasPrefix(model, "gemini-2.5") { // facts 3
				r.Minimum = 2048
			}
		},
	},
	{
		Rules: Rules{
			Provider: "deepseek", Kind: ByUnits, About: "ends of prompts and answers; a shared beginning from its third use",
			Minimum: unitStep, Step: 1, // facts 4: no 64-token units any more, but that is how finely prompts are compared here
			Lifetimes: []time.Duration{Lifetime24h},
			Key:       "user_id", // facts 4: isolates

			AfterFirstByte: true,
			Assumed:        "24 h, since the guide tells no end; no units at fixed intervals, since their length is not told; shared beginnings to 64 tokens, the unit of older guides",
		},
		serves: func(model string) bool { return strings.HasPrefix(model, "deepseek-") },
	},
	{
		Rules: Rules{
			Provider: "kimi", Kind: ByMarks, About: "K3.1: marks as Anthropic's; K3: automatic",
			Minimum: 1024, Step: 1,
			Lifetimes:  []time.Duration{Lifetime5m, Lifetime1h}, // facts 4
			Writes:     MaxMarks,
			LookBack:   lookBack,
			PaidWrites: true, // facts 4: the 1 h write 2 times, the 5 min one 1 time

			AfterFirstByte: true,
			Assumed:        "minimum, marks and look-back, taken from Anthropic, whose form it sells",
		},
		serves: func(model string) bool { return strings.HasPrefix(model, "kimi-") },
		fit: func(r *Rules, model string) {
			if !strings.HasPrefix(model, "kimi-k3.1") {
				r.Kind, r.Writes, r.LookBack, r.PaidWrites = BySteps, 0, 0, false
				r.Lifetimes = []time.Duration{Lifetime5m}
				r.Assumed = "5 min, minimum 1,024 and any beginning, since none of them is told"
			}
		},
	},
	{
		Rules: Rules{
			Provider: "qwen", Kind: ByMarks, About: "explicit: marks as Anthropic's; excludes the implicit cache of the same request",
			Minimum: 1024, Step: 1, // facts 4
			Lifetimes: []time.Duration{Lifetime5m}, // facts 4: refreshed by use
			Writes:    4, LookBack: 20,             // facts 4
			AfterFirstByte: true, // facts 4: after the response
			PaidWrites:     true, // facts 4: 125 %
		},
		serves: func(model string) bool { return strings.HasPrefix(model, "qwen") },
		fit: func(r *Rules, model string) {
			if strings.HasPrefix(model, "qwen4") { // facts 4
				r.Lifetimes = []time.Duration{Lifetime5m, Lifetime1h}
			}
		},
	},
	{
		Rules: Rules{
			Provider: "xai", Kind: BySteps, About: "automatic, on the machine that the conversation's id chooses",
			Minimum: 128, Step: 128, // facts 4: a third party's test
			Lifetimes: []time.Duration{Lifetime5m},
			Key:       "x-grok-conv-id", // facts 4

			AfterFirstByte: true,
			Assumed:        "5 min, since the pages say that entries may go at any time",
		},
		serves: func(model string) bool { return strings.HasPrefix(model, "grok-") },
	},
	{
		Rules: Rules{
			Provider: "mistral", Kind: BySteps, About: "only with prompt_cache_key",
			Minimum: 64, Step: 64, // facts 4
			Lifetimes: []time.Duration{Lifetime5m},
			Key:       "prompt_cache_key", // facts 4: without it, no caching

			AfterFirstByte: true,
			Assumed:        "5 min, since no lifetime is told",
		},
		serves: func(model string) bool {
			return strings.HasPrefix(model, "mistral-") || strings.HasPrefix(model, "ministral-")
		},
	},
	{
		Rules: Rules{
			Provider: "groq", Kind: BySteps, About: "automatic, free to write",
			Minimum: 1024, Step: 1,
			Lifetimes: []time.Duration{2 * time.Hour}, // facts 4: unused

			AfterFirstByte: true,
			Assumed:        "minimum 1,024 and any beginning, since neither is told",
		},
	},
	engine("vllm", 16, "full blocks of 16 tokens, vLLM's default"),              // facts 6
	engine("blocks-64", 64, "a self-hosted engine with blocks of 64 tokens"),    // SGLang's page size is a flag
	engine("blocks-128", 128, "a self-hosted engine with blocks of 128 tokens"), // as some hardware demands
}

// engine are the rules of a self-hosted engine: blocks live while there is room,
// and are there for others as soon as they are computed.
func engine(name string, block int64, about string) provider {
	return provider{Rules: Rules{
		Provider: name, Kind: ByBlocks, About: about,
		Minimum: block, Step: block, Lifetimes: []time.Duration{0},
		Key: "cache_salt", // facts 6: different salts share nothing
	}}
}
