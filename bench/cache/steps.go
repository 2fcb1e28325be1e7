package cache

import "time"

// Facts: providers.md 2.5.
const (
	countStep = 128 // models before GPT-5.6 count cached tokens in this unit

	Lifetime24h      = 24 * time.Hour
	LifetimeInMemory = 5 * time.Minute // in_memory promises 5 to 10 minutes idle
)

// PlanSteps finds what a request reads where prompts are cached at fixed steps:
// the longest warm beginning that ends on one. steps are the points at them,
// total is the length of the prompt, minimum the smallest prompt that is cached.
// Writing is free and silent. With OpenAI the machine is chosen by the first
// tokens, which prompts that share a step share, and by prompt_cache_key, which
// belongs in the scope; the overflow to a cold machine at many requests a minute
// is not modelled.
func (c *Prompts) PlanSteps(scope Sum, steps []Point, total, minimum int64, lifetime time.Duration, start Moment) *Plan {
	p := &Plan{scope: scope, start: start}
	for _, s := range steps {
		if s.Tokens < minimum {
			continue
		}
		if _, ok := c.find(scope, s.Sum, start); ok {
			p.Tokens.Read = s.Tokens
		}
		p.keep(s.Sum, lifetime)
	}
	p.Tokens.Fresh = total - p.Tokens.Read
	return p
}
