package provider

// The types of a responsesDiagnosis, and the reasons of a miss (facts/providers.md
// 2.6).
const (
	responsesHit         = "cache_hit"
	responsesMiss        = "cache_miss"
	responsesNotFound    = "comparison_response_not_found"
	responsesUnavailable = "unavailable"

	responsesModelChanged     = "model_changed"
	responsesKeyChanged       = "prompt_cache_key_changed"
	responsesTierChanged      = "service_tier_changed"
	responsesToolsChanged     = "tools_changed"
	responsesFormatChanged    = "text_format_changed"
	responsesEffortChanged    = "reasoning_effort_changed"
	responsesVerbosityChanged = "verbosity_changed"
	responsesCompacted        = "context_compacted"
	responsesInputChanged     = "input_changed"
)

// A responsesDiagnosis says what a request made of what another left in the
// cache. Only a miss has a reason and counts.
type responsesDiagnosis struct {
	Type     string `json:"type"`
	Reason   string `json:"reason,omitempty"`
	Missed   *int64 `json:"cache_missed_tokens,omitempty"`
	Reusable *int64 `json:"comparison_reusable_tokens,omitempty"`
}

// A responsesPrint is what later requests are compared with: the parts of its
// cache key, and what it left in the cache.
type responsesPrint struct {
	model, key                             string
	tier, tools, format, effort, verbosity string // canonical JSON
	compactions                            int

	reusable int64  // tokens that it read or wrote
	at       int    // the block that they end with, -1 if there are none
	upTo     digest // of the prompt to there
}

// print returns what is kept of the request.
func (r *responsesRequest) print(p *plan) responsesPrint {
	s := r.settings()
	out := responsesPrint{
		model: r.model.Name, key: r.options.key, tools: string(canonical(r.body["tools"])), tier: string(canonical(s["tier"])),
		format: string(canonical(s["format"])), effort: string(canonical(s["effort"])), verbosity: string(canonical(s["verbosity"])),
		compactions: r.compactions(), reusable: p.tokens.CacheRead + p.tokens.Written(), at: -1,
	}
	for i, end := range p.ends {
		if end.Tokens == out.reusable {
			out.at, out.upTo = i, end.Sum
		}
	}
	return out
}

func (r *responsesRequest) compactions() int {
	n := 0
	for _, item := range objects(r.items) {
		if kindOf(item) == "compaction" {
			n++
		}
	}
	return n
}

// diagnose compares the request with the response that it names.
func (p *Provider) diagnose(q *request, r *responsesRequest, now responsesPrint, pl *plan) *responsesDiagnosis {
	before, ok := p.responsePrints.get(q.tenant, r.options.comparison)
	if !ok {
		return &responsesDiagnosis{Type: responsesNotFound}
	}
	missed := before.reusable - pl.tokens.CacheRead
	if missed <= 0 {
		return &responsesDiagnosis{Type: responsesHit}
	}
	reason := now.since(before, pl.ends)
	if reason == "" { // expired, or out of reach: that is not classified
		return &responsesDiagnosis{Type: responsesUnavailable}
	}
	return &responsesDiagnosis{responsesMiss, reason, &missed, &before.reusable}
}

// since names the first part of the key that differs, or "". That of others
// (parallel_tool_calls, the mode of the boundaries) has no name.
func (now *responsesPrint) since(before responsesPrint, ends []point) string {
	switch {
	case now.model != before.model:
		return responsesModelChanged
	case now.key != before.key:
		return responsesKeyChanged
	case now.tier != before.tier:
		return responsesTierChanged
	case now.tools != before.tools:
		return responsesToolsChanged
	case now.format != before.format:
		return responsesFormatChanged
	case now.effort != before.effort:
		return responsesEffortChanged
	case now.verbosity != before.verbosity:
		return responsesVerbosityChanged
	case before.at >= 0 && before.at < len(ends) && ends[before.at].Sum == before.upTo:
		return "" // all that could be reused is there
	case now.compactions > before.compactions:
		return responsesCompacted
	}
	return responsesInputChanged
}
