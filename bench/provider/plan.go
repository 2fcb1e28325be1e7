package provider

import "github.com/seed-9236c7ca/preface/bench/cache"

// The cache's words for a prompt and for an arrival are ours too.
type (
	digest = cache.Sum
	point  = cache.Point
	moment = cache.Moment
)

// A plan is what one request makes of the cache and how that is reported.
type plan struct {
	made   *cache.Plan
	tokens Tokens
	ends   []point // after each block of the prompt; OpenAI from GPT-5.6 on
}

func newPlan(made *cache.Plan, ends []point) *plan {
	t := made.Tokens
	return &plan{made: made, ends: ends, tokens: Tokens{
		Fresh: t.Fresh, CacheRead: t.Read,
		Write5m: t.Write5m, Write1h: t.Write1h, Write30m: t.Write30m, Write12h: t.Write12h,
	}}
}

// tokensAt is the number of tokens up to the end of a block, 0 for none.
func tokensAt(ends []point, i int) int64 {
	if i < 0 {
		return 0
	}
	return ends[i].Tokens
}
