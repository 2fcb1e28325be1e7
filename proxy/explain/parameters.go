package explain

import (
	"cmp"
	"strings"
)

// A partName tells the header's sections apart.
type partName byte

const (
	inTools partName = iota
	inSystem
	inParameters
)

// A weight says whether a parameter reaches the cache's key.
type weight byte

const (
	undocumented weight = iota // nobody says; it is named only if nothing else differs
	matters
	ignored
)

// A rule is what is known of one parameter.
type rule struct {
	weight weight
	usual  string // its default as written: saying it is the same as leaving it out
}

// A setting is one parameter as it was set.
type setting struct {
	name, value string
	at          int // where it begins in the section's bytes
	weight      weight
}

// open are the objects whose members are parameters of their own.
var open = map[string]bool{"thinking": true, "output_config": true, "text": true, "reasoning": true, "prompt_cache_options": true}

// lifted are the names of cache options that stand beside the other parameters,
// because the id that stood with them is none (dialect.Request.ParameterSpans).
var lifted = map[string]string{
	"mode":    "prompt_cache_options.mode",
	"ttl":     "prompt_cache_options.ttl",
	"prewarm": "prompt_cache_options.prewarm",
}

// anthropicParameters: facts/providers.md 1.4; output_config.format and its older
// spelling put a prompt of the provider's own into the system slot (vendor's page
// on structured outputs). block_binding is no edit (1.7). A top-level
// cache_control is a mark.
var anthropicParameters = map[string]rule{
	"thinking.type":             {matters, ""},
	"thinking.budget_tokens":    {matters, ""},
	"thinking.block_binding":    {ignored, ""},
	"thinking.display":          {ignored, ""},
	"output_config.effort":      {matters, `"high"`},
	"output_config.format":      {matters, ""},
	"output_format":             {matters, ""},
	"tool_choice":               {matters, `{"type":"auto"}`},
	"speed":                     {matters, `"standard"`},
	"model":                     {ignored, ""}, // compared by itself
	"max_tokens":                {ignored, ""},
	"temperature":               {ignored, ""},
	"top_p":                     {ignored, ""},
	"top_k":                     {ignored, ""},
	"stop_sequences":            {ignored, ""},
	"stream":                    {ignored, ""},
	"metadata":                  {ignored, ""},
	"service_tier":              {ignored, ""},
	"cache_control":             {ignored, ""},
	"diagnostics":               {ignored, ""},
	"fallback_credit_token":     {ignored, ""},
	"safeguards":                {ignored, ""},
	"output_config.task_budget": {undocumented, ""},
	"context_management":        {undocumented, ""},
	"inference_geo":             {undocumented, ""},
	"container":                 {undocumented, ""},
	"mcp_servers":               {matters, ""}, // they are tools
}

// openaiParameters: facts/providers.md 2.4, 2.6. tool_choice is the vendor's
// advice for changing tools without losing the cache. Lifetimes do not belong to
// a key, the mode of the boundaries does: what one wrote the other does not find.
var openaiParameters = map[string]rule{
	"parallel_tool_calls":          {matters, "true"},
	"text.format":                  {matters, `{"type":"text"}`},
	"text.verbosity":               {matters, `"medium"`},
	"response_format":              {matters, `{"type":"text"}`},
	"verbosity":                    {matters, `"medium"`},
	"reasoning.effort":             {matters, ""},
	"reasoning_effort":             {matters, ""},
	"prompt_cache_options.mode":    {matters, `"implicit"`},
	"prompt_cache_options.ttl":     {ignored, ""},
	"prompt_cache_options.prewarm": {ignored, ""},
	"prompt_cache_retention":       {ignored, ""},
	"prompt":                       {matters, ""}, // a stored prompt, in front of all input (2.2)
	"reasoning.summary":            {ignored, ""},
	"reasoning.generate_summary":   {ignored, ""},
	"model":                        {ignored, ""},
	"max_tokens":                   {ignored, ""},
	"max_completion_tokens":        {ignored, ""},
	"max_output_tokens":            {ignored, ""},
	"max_tool_calls":               {ignored, ""},
	"temperature":                  {ignored, ""},
	"top_p":                        {ignored, ""},
	"top_logprobs":                 {ignored, ""},
	"logprobs":                     {ignored, ""},
	"logit_bias":                   {ignored, ""},
	"frequency_penalty":            {ignored, ""},
	"presence_penalty":             {ignored, ""},
	"n":                            {ignored, ""},
	"seed":                         {ignored, ""},
	"stop":                         {ignored, ""},
	"store":                        {ignored, ""},
	"stream":                       {ignored, ""},
	"stream_options":               {ignored, ""},
	"include":                      {ignored, ""},
	"background":                   {ignored, ""},
	"tool_choice":                  {ignored, ""},
	"metadata":                     {ignored, ""},
	"user":                         {ignored, ""},
	"safety_identifier":            {ignored, ""},
	"prompt_cache_key":             {ignored, ""},      // compared by itself
	"service_tier":                 {undocumented, ""}, // the provider's diagnosis knows it as a cause (2.6)
	"truncation":                   {undocumented, ""},
	"context_management":           {undocumented, ""},
}

// settingsOf reads the parameters, but for those at their default.
func settingsOf(b []byte, kind ruleKind) []setting {
	var out []setting
	add := func(name string, m member) {
		r := ruleFor(name, kind)
		if value := string(m.value.of(b)); value != r.usual && value != "null" {
			out = append(out, setting{name, value, m.from, r.weight})
		}
	}
	for _, m := range membersIn(b, 0, len(b)) {
		inner := membersOf(b, m.value)
		if !open[m.name] || inner == nil {
			add(cmp.Or(lifted[m.name], m.name), m)
			continue
		}
		for _, i := range inner {
			add(m.name+"."+i.name, i)
		}
	}
	return out
}

// ruleFor: hosts of OpenAI's dialects that serve Claude take OpenAI's names.
func ruleFor(name string, kind ruleKind) rule {
	if kind == byMarks {
		if r, ok := anthropicParameters[name]; ok {
			return r
		}
	}
	return openaiParameters[name]
}

// settingValue is one parameter as written, empty if it is not set.
func settingValue(b []byte, kind ruleKind, name string) string {
	for _, s := range settingsOf(b, kind) {
		if s.name == name {
			return strings.Trim(s.value, `"`)
		}
	}
	return ""
}

// A change of one parameter.
type settingChange struct {
	name, was, is string
	at            int // in the bytes of the newer one; -1 if it is not in them
	weight        weight
}

// changedSetting finds the first parameter that changed, and that matters if one does.
func changedSetting(before, after []setting) (settingChange, bool) {
	var found settingChange
	ok := false
	keep := func(c settingChange) {
		if c.weight != ignored && (!ok || found.weight == undocumented && c.weight == matters) {
			found, ok = c, true
		}
	}
	old := map[string]string{}
	for _, s := range before {
		old[s.name] = s.value
	}
	for _, s := range after {
		was, had := old[s.name]
		delete(old, s.name)
		if !had || was != s.value {
			keep(settingChange{s.name, was, s.value, s.at, s.weight})
		}
	}
	for _, s := range before {
		if was, gone := old[s.name]; gone {
			keep(settingChange{s.name, was, "", -1, s.weight})
		}
	}
	return found, ok
}

// quotable reports whether a parameter's values may be shown: those of a
// parameter that is known, and numbers and the like. Others may hold credentials,
// as mcp_servers does.
func (c settingChange) quotable() bool {
	if c.name == "mcp_servers" {
		return false
	}
	_, known := anthropicParameters[c.name]
	_, too := openaiParameters[c.name]
	bare := func(s string) bool { return s == "" || !strings.ContainsAny(s[:1], "\"{[") }
	return known || too || bare(c.was) && bare(c.is)
}
