package explain

import "slices"

// The provider's own words for nothing to complain of: Anthropic's null, which
// the meters call no_difference, and OpenAI's.
const (
	NoDifference = "no_difference"
	cacheHit     = "cache_hit"
)

// Agreements of a provider's verdict with ours.
const (
	Agrees       = "yes"
	Disagrees    = "no"
	Incomparable = "incomparable" // it is about another pair of requests, or another question
)

// A difference that a provider does not find, or does not name.
const (
	unasked  = "previous_message_not_found"
	notFound = "comparison_response_not_found"
	unsaid   = "unavailable"
	nothing  = ""
)

// mayCall is what each provider may call what we call so (facts/providers.md 1.8,
// 2.6). The empty word is that it sees no difference: Anthropic compares how
// requests are built and has no eye for clocks and marks; OpenAI says
// "unavailable" if the read fell short and nothing that it classifies differs.
// Whom neither has a word for is in neither list, and nobody agrees on unknown.
var mayCall = map[string]map[string][]string{
	"anthropic": {
		ModelChanged: {"model_changed"}, ToolsChanged: {"tools_changed"}, SystemChanged: {"system_changed"},
		HistoryRewritten: {"messages_changed", nothing}, // nothing: a compaction that was appended
		PrefixChanged:    {"messages_changed"},
		ImageChanged:     {"messages_changed", nothing}, // nothing: an image that was appended
		ThinkingDropped:  {"messages_changed", nothing}, // nothing: the provider dropped it
		ParameterChanged: {unsaid}, UpstreamChanged: {unasked}, Provider: {nothing, unasked},
		Cold: {nothing}, ConcurrentCold: {nothing}, PartialBlock: {nothing},
		BelowMinimum: {nothing}, Expired: {nothing}, NoMark: {nothing}, LookbackExceeded: {nothing}, MarkMoved: {nothing}, nothing: {nothing},
	},
	"openai-responses": {
		ModelChanged: {"model_changed"}, KeyChanged: {"prompt_cache_key_changed"}, ToolsChanged: {"tools_changed"},
		SystemChanged: {"input_changed"}, PrefixChanged: {"input_changed"}, ImageChanged: {"input_changed"},
		ThinkingDropped: {"input_changed"}, HistoryRewritten: {"input_changed", "context_compacted"},
		ParameterChanged: {"text_format_changed", "reasoning_effort_changed", "verbosity_changed", "service_tier_changed", unsaid},
		UpstreamChanged:  {notFound}, Provider: {unsaid, notFound},
		Cold: {nothing, unsaid}, ConcurrentCold: {unsaid}, PartialBlock: {nothing},
		BelowMinimum: {nothing}, Expired: {unsaid}, NoMark: {unsaid}, LookbackExceeded: {unsaid}, MarkMoved: {unsaid}, nothing: {nothing},
	},
}

// MayCall reports whether a provider may mean by its word what we call cause. An
// empty cause is that nothing fell short.
func MayCall(dialect, cause, word string) bool {
	if word == NoDifference || word == cacheHit {
		word = nothing
	}
	return slices.Contains(mayCall[dialect][cause], word)
}

// Agreement compares what the provider says of a request (r.Verdict) with what we
// say. It is Incomparable if either compared the request with another one; and
// if nothing fell short while Anthropic names a difference, since that is about
// how requests are built and not about what was read.
func Agreement(r *Request, v *Verdict) string {
	structural := r.Dialect == "anthropic" && v.Cause == "" && r.Verdict != NoDifference
	switch {
	case r.Asked == "" || v.Against != "" && v.Against != r.Asked || structural:
		return Incomparable
	case MayCall(r.Dialect, v.Cause, r.Verdict):
		return Agrees
	}
	return Disagrees
}
