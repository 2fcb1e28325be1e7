package proxy_test

import (
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/proxy/explain"
)

func byClient(cause, section string) want { return want{cause, explain.ByClient, section} }

var (
	tools  = byClient(explain.ToolsChanged, explain.SectionTools)
	system = byClient(explain.SystemChanged, explain.SectionSystem)
)

// says replaces the session's number in the system slot from the start, so that
// the second request can say another.
func says(what string) func(*talk) { return inSystem("36ee5", what) }

func inSystem(old, new string) func(*talk) {
	return func(c *talk) {
		for i := range c.system {
			c.system[i] = strings.Replace(c.system[i], old, new, 1)
		}
	}
}

// headerCauses are injected in front of the history.
var headerCauses = []cause{
	{name: "another model", in: all, change: func(c *talk) {
		c.model = map[string]string{"claude-opus-5-5": "claude-opus-5", "gpt-5.6-sol": "gpt-6-sol", "gpt-5.4": "gpt-5.2"}[c.model]
	},
		want: byClient(explain.ModelChanged, explain.SectionModel), detail: "→"},
	{name: "another host", in: all, change: func(c *talk) { c.host = "api.other.example" },
		want: want{explain.UpstreamChanged, explain.ByUpstream, explain.SectionHost}, detail: "api.example → api.other.example"},
	{name: "another credential", in: all, change: func(c *talk) { c.account = "other" },
		want: byClient(explain.UpstreamChanged, explain.SectionAccount)},
	{name: "another key", in: gpts, before: func(c *talk) { c.key = "k1" }, change: func(c *talk) { c.key = "k2" },
		want: byClient(explain.KeyChanged, explain.SectionKey), detail: "k1 → k2"},
	{name: "no key any more", in: gpts, before: func(c *talk) { c.key = "k1" }, change: func(c *talk) { c.key = "" },
		want: byClient(explain.KeyChanged, explain.SectionKey), detail: "k1 → none"},
	{name: "a key at last", in: sols, change: func(c *talk) { c.key = "k1" },
		want: byClient(explain.KeyChanged, explain.SectionKey), detail: "none → k1"},

	{name: "tool added", in: all, change: func(c *talk) { c.tools = append(c.tools, tool{"fetch", "Fetches."}) }, want: tools, detail: "added fetch", at: `"fetch"`},
	{name: "tool added in front", in: all, change: func(c *talk) { c.tools = slices.Insert(c.tools, 0, tool{"fetch", "Fetches."}) }, want: tools, detail: "added fetch", at: `"fetch"`},
	{name: "tool removed", in: all, change: func(c *talk) { c.tools = slices.Delete(c.tools, 1, 2) }, want: tools, detail: "removed write_file", at: `"run"`},
	{name: "last tool removed", in: all, change: func(c *talk) { c.tools = c.tools[:2] }, want: tools, detail: "removed run"},
	{name: "all tools removed", in: all, change: func(c *talk) { c.tools = nil }, want: tools, detail: "removed read_file, write_file, run", gone: true},
	{name: "tools reordered", in: all, change: func(c *talk) { slices.Reverse(c.tools) }, want: tools, detail: "reordered", at: `"run"`},
	{name: "tool edited", in: all, change: func(c *talk) { c.tools[1].says = "Replaces a file." }, want: tools, detail: "edited write_file", at: "Replaces"},
	{name: "web search switched on", in: claudes, change: func(c *talk) {
		c.tools = append(c.tools, tool{"web_search", `{"type":"web_search_20260209","name":"web_search"}`})
	}, want: tools, detail: "added web_search", at: "web_search_2026"},

	{name: "date", in: all, before: says("2026-11-30"), change: inSystem("2026-11-30", "2026-12-01"), want: system, detail: "a date, 2026-11-30 → 2026-12-01", at: "2-01"},
	{name: "time", in: all, before: says("12:00:01"), change: inSystem("12:00:01", "12:00:21"), want: system, detail: "a time, 12:00:01 → 12:00:21", at: "21"},
	{name: "UUID", in: all, before: says("0198c5a4-7f2e-7c1b-9d3e-aaaaaaaaaaaa"), change: inSystem("9d3e-aaaaaaaaaaaa", "9d3e-bbbbbbbbbbbb"), want: system, detail: "a UUID", at: "bbbbbbbbbbbb"},
	{name: "counter", in: all, before: says("41"), change: inSystem(" 41 ", " 42 "), want: system, detail: "a counter, 41 → 42", at: "2 of"},
	{name: "system edited", in: all, change: inSystem("small steps", "large steps"), want: system, detail: "system[1]", at: "large"},
	{name: "system edited at once", in: all, change: inSystem("You are a careful", "You were a careful"), want: system, detail: "system[0]", at: "were"},
	{name: "system text added", in: all, change: func(c *talk) { c.system = append(c.system, words("Be brief.", 20)) }, want: system, detail: "system[2] was added", at: "Be brief"},
	{name: "system text removed", in: all, change: func(c *talk) { c.system = c.system[:1] }, want: system, detail: "gone", gone: true},
	{name: "no system", in: all, change: func(c *talk) { c.system = nil }, want: system, detail: "gone", gone: true},

	{name: "prefix in one epoch", in: all, before: func(c *talk) { c.prefix = words("rules-v1", 60) }, change: func(c *talk) { c.prefix = words("rules-v2", 60) },
		want: want{explain.PrefixChanged, explain.ByPreface, explain.SectionPrefix}, detail: "in one epoch"},
	{name: "prefix gone", in: new3, before: func(c *talk) { c.prefix = words("rules-v1", 60) }, change: func(c *talk) { c.prefix = "" },
		want: want{explain.PrefixChanged, explain.ByPreface, explain.SectionPrefix}, detail: "rules-v1 → none"},
	{name: "prefix of a new epoch", in: new3, before: func(c *talk) { c.prefix = words("rules-v1", 60) }, change: func(c *talk) { c.prefix, c.epoch = words("rules-v2", 60), 2 },
		want: want{explain.PrefixChanged, explain.ByContributor, explain.SectionPrefix}, detail: "in a new epoch"},
}

func set(member string) func(*talk) { return func(c *talk) { c.set(member) } }

// parameterCauses change a parameter that is part of the cache's key.
var parameterCauses = []cause{
	parameter("tool_choice", claudes, set(`"tool_choice":{"type":"any"}`), unsaid),
	parameter("disable_parallel_tool_use", claudes, set(`"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`), unsaid),
	parameter("thinking", claudes, set(`"thinking":{"type":"adaptive"}`), unsaid),
	parameter("effort", claudes, set(`"output_config":{"effort":"low"}`), unsaid),
	parameter("speed", claudes, set(`"speed":"fast"`), unsaid),
	parameter("effort", only(gpts, chat), set(`"reasoning_effort":"high"`), ""),
	parameter("effort", only(gpts, responses), set(`"reasoning":{"effort":"high"}`), "reasoning_effort_changed"),
	parameter("verbosity", only(gpts, chat), set(`"verbosity":"low"`), ""),
	parameter("verbosity", only(gpts, responses), set(`"text":{"verbosity":"low"}`), "verbosity_changed"),
	parameter("json_object", only(gpts, chat), set(`"response_format":{"type":"json_object"}`), ""),
	parameter("json_object", only(gpts, responses), set(`"text":{"format":{"type":"json_object"}}`), "text_format_changed"),
	parameter("parallel_tool_calls", gpts, set(`"parallel_tool_calls":false`), unsaid),
	parameter("service_tier", sols, set(`"service_tier":"flex"`), "service_tier_changed"),
	parameter("prompt_cache_options.mode", sols, func(c *talk) {
		c.set(`"prompt_cache_options":{"mode":"explicit"}`)
		c.marksAt[len(c.turns)-1] = true
	}, unsaid),
	{name: "thinking budget", in: claudes, before: set(`"thinking":{"type":"enabled","budget_tokens":1024}`), change: func(c *talk) {
		c.params[0] = strings.Replace(c.params[0], "1024", "2048", 1)
	}, want: byClient(explain.ParameterChanged, explain.SectionParameters), detail: "thinking.budget_tokens 1024 → 2048", at: "2048", said: unsaid},
}

// parameter is the case of a parameter that is set in the second request.
func parameter(name string, in []flavor, change func(*talk), said string) cause {
	detail := name
	if name == "disable_parallel_tool_use" {
		detail = "tool_choice"
	}
	return cause{name: "parameter " + name, in: in, change: change, want: byClient(explain.ParameterChanged, explain.SectionParameters), detail: detail, said: said}
}

// only are the flavors of one dialect.
func only(in []flavor, dialect string) []flavor {
	return slices.DeleteFunc(slices.Clone(in), func(f flavor) bool { return f.dialect != dialect })
}
