package provider

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// A transcript is an OpenAI prompt under construction: tools, instructions,
// then the messages or items, with the places where it may be cached.
type transcript struct {
	model  gpt
	blocks []block
	at     cache.Boundaries

	leading bool // still in the initial developer group
	tooling bool // the last item was a tool's response
}

func newTranscript(model gpt, tools []any) *transcript {
	t := &transcript{model: model, at: cache.Boundaries{Developer: -1}, leading: true}
	for _, tool := range tools {
		t.add(block{kind: "tool", text: canonical(tool)})
	}
	return t
}

func (t *transcript) add(b block) { t.blocks = append(t.blocks, b) }

// instruct adds the instructions, which always come first and are no boundary
// (facts/providers.md 2.2).
func (t *transcript) instruct(text string) {
	if text != "" {
		t.add(block{kind: "instructions", text: []byte(text)})
	}
}

// endItem notes what kind of item just ended: where messages may be cached is
// decided by who spoke (2.4).
func (t *transcript) endItem(role string) {
	end := len(t.blocks) - 1
	if t.tooling && role == "tool" { // only the last response of a group is a boundary
		t.at.Messages = t.at.Messages[:len(t.at.Messages)-1]
	}
	t.tooling = role == "tool"
	developer := role == "developer" || role == "system"
	t.leading = t.leading && developer
	switch {
	case t.leading && t.at.Developer >= 0: // so is the last of the initial developer group
		t.at.Messages = t.at.Messages[:len(t.at.Messages)-1]
		fallthrough
	case t.leading:
		t.at.Developer = end
		t.at.Messages = append(t.at.Messages, end)
	case role == "user" || role == "tool":
		t.at.Messages = append(t.at.Messages, end)
	}
}

// message adds a message with a role and a content, and the rest of its members.
// path names it in errors: "messages[0]".
func (t *transcript) message(m object, path string, own ...string) *apiError {
	role := m.str("role")
	first := len(t.blocks)
	parts, ok := contentBlocks(m["content"])
	if !ok {
		return refuseParam(path+".content", "invalid_type", "Invalid type for '%s.content': expected a string or an array of objects.", path)
	}
	for i, part := range parts {
		if e := t.part(role, part, fmt.Sprintf("%s.content[%d]", path, i)); e != nil {
			return e
		}
	}
	if rest := m.without(append(own, "role", "content")...); len(rest) > 0 || len(t.blocks) == first {
		t.add(block{kind: role + "/rest", text: canonical(rest)})
	}
	t.blocks[first].kind = "message " + t.blocks[first].kind
	t.endItem(role)
	return nil
}

// The types of content part that hold text, and those that may carry a
// breakpoint (2.4).
var (
	textParts = []string{"text", "input_text", "output_text"}
	markParts = []string{"text", "image_url", "input_audio", "file", "refusal", "input_text", "input_image", "input_file"}
)

func (t *transcript) part(role string, part object, path string) *apiError {
	kind := part.str("type")
	switch {
	case slices.Contains(textParts, kind):
		t.add(block{kind: role + "/text", text: []byte(part.str("text"))})
	case kind == "image_url" || kind == "input_image":
		t.add(imageBlock(role+"/image", part.without("prompt_cache_breakpoint")))
	default:
		t.add(block{kind: role + "/" + kind, text: canonical(part.without("prompt_cache_breakpoint"))})
	}
	return t.breakpoint(part, kind, path)
}

func (t *transcript) breakpoint(part object, kind, path string) *apiError {
	if !part.has("prompt_cache_breakpoint") {
		return nil
	}
	path += ".prompt_cache_breakpoint"
	if !t.model.Breakpoints() || !slices.Contains(markParts, kind) {
		return unknownParameter(path)
	}
	if part.obj("prompt_cache_breakpoint").str("mode") != "explicit" {
		return refuseParam(path, "invalid_value", "Invalid value for '%s.mode': expected 'explicit'.", path)
	}
	t.at.Explicit = append(t.at.Explicit, len(t.blocks)-1)
	return nil
}

func unknownParameter(path string) *apiError {
	return refuseParam(path, "unknown_parameter", "Unknown parameter: '%s'.", path)
}

// cacheOptions are the members of a request that steer its caching.
type cacheOptions struct {
	key        string
	implicit   bool
	prewarm    bool
	lifetime   time.Duration
	comparison string // id of the response to compare with, if a diagnosis is asked for
}

// maxCacheKey is the longest prompt_cache_key in characters.
const maxCacheKey = 64

// cacheOptionsOf reads them; responses says that the request is to Responses.
func cacheOptionsOf(body object, g gpt, responses bool) (cacheOptions, *apiError) {
	o := cacheOptions{key: body.str("prompt_cache_key"), implicit: true, lifetime: cache.Lifetime30m}
	if n := len([]rune(o.key)); n > maxCacheKey {
		return o, refuseParam("prompt_cache_key", "string_above_max_length",
			"Invalid 'prompt_cache_key': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", maxCacheKey, n)
	}
	if !g.Breakpoints() {
		return o.readOld(body, g)
	}
	options := body.obj("prompt_cache_options")
	o.implicit = options.str("mode") != "explicit"
	o.prewarm = options.flag("prewarm")
	if o.prewarm && !responses {
		return o, unknownParameter("prompt_cache_options.prewarm")
	}
	if o.comparison = options.str("comparison_response_id"); options.has("comparison_response_id") {
		switch {
		case !responses:
			return o, unknownParameter("prompt_cache_options.comparison_response_id")
		case o.comparison == "":
			return o, refuseParam("prompt_cache_options.comparison_response_id", "invalid_type", "Invalid type for 'prompt_cache_options.comparison_response_id': expected the id of a response.")
		}
	}
	switch ttl := options.str("ttl"); {
	case ttl == "12h" && responses && g.HalfDay():
		o.lifetime = cache.Lifetime12h
	case ttl != "" && ttl != "30m":
		return o, refuseParam("prompt_cache_options.ttl", "invalid_value", "Invalid value for 'prompt_cache_options.ttl': '%s' is not supported on this model.", ttl)
	}
	return o, nil
}

// readOld reads what models before GPT-5.6 know (2.5).
func (o cacheOptions) readOld(body object, g gpt) (cacheOptions, *apiError) {
	if body.has("prompt_cache_options") {
		return o, unknownParameter("prompt_cache_options")
	}
	o.lifetime = cache.Lifetime24h
	switch retention := body.str("prompt_cache_retention"); {
	case retention == "in_memory" && !g.DayOnly():
		o.lifetime = cache.LifetimeInMemory
	case retention != "" && retention != "24h":
		return o, refuseParam("prompt_cache_retention", "invalid_value", "Invalid value for 'prompt_cache_retention': '%s' is not supported on this model.", retention)
	}
	return o, nil
}

// keyed are the parameters that the cache key covers (facts/providers.md 2.6),
// without what is the default anyway. The service tier is among them since the
// provider's diagnosis names it as a reason, which it does since GPT-5.6.
func (g gpt) keyed(body object, format, effort, verbosity any) object {
	s := object{"format": format, "effort": effort, "verbosity": unless(verbosity, "medium")}
	if asObject(format).str("type") == "text" {
		s["format"] = nil
	}
	if v, ok := body["parallel_tool_calls"]; ok && v != true {
		s["parallel"] = v
	}
	if tier := tierOf(body); tier != nil && g.Breakpoints() {
		s["tier"] = *tier
	}
	return s
}

// tierOf returns the service tier that a request names, nil if it is the usual
// one.
func tierOf(body object) *string {
	switch tier := body.str("service_tier"); tier {
	case "auto", "default", "standard":
		return nil
	default:
		return optional(tier)
	}
}

// planPrompt finds what a request reads and writes. settings are the
// parameters, beside the prompt itself, that the cache key covers.
func (p *Provider) planPrompt(q *request, t *transcript, o cacheOptions, settings object) (*plan, digest) {
	every := int64(0)
	if !t.model.Breakpoints() {
		every = t.model.Interval()
	}
	ends, end, steps := measure(t.blocks, every)
	scope := cache.Scope("openai", q.tenant, t.model.Name, o.key, string(canonical(settings.without())))
	if t.model.Breakpoints() {
		t.at.Implicit = o.implicit
		return newPlan(p.cache.PlanBoundaries(scope, ends, t.at, o.lifetime, q.start), ends), end.Sum
	}
	return newPlan(p.cache.PlanSteps(scope, steps, end.Tokens, t.model.Minimum(), o.lifetime, q.start), nil), end.Sum
}
