package wire

import (
	"net/http"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// A format is how a dialect writes what a dialogue has. Its tools are written as
// the provider reads them: names in order and no space, so that a byte more is a
// byte more.
type format struct {
	name   string
	family string // what the proxy calls the dialect
	model  string
	path   string
	kinds  []cache.Kind // of its models' caches

	open              string // behind the model's name
	toolOpen, toolEnd string // around the tool's description
	systemOpen        string // the text, and then
	systemEnd         string // with mark in place of MARK
	historyOpen       string
	systemMessage     bool   // the system prompt is a message of the history
	systemMark        string // in systemEnd
	lastOpen, lastEnd string // around the text of the last message

	// lifetimes are what asks for those that are not the default.
	asks []asked
}

// asked is how a lifetime is asked for: as a mark's words or as the request's.
type asked struct {
	kind        cache.Kind
	lifetime    time.Duration
	mark, extra string
}

const plainMark = `{"type":"ephemeral"}`

var formats = []format{
	{
		name: "anthropic", family: "anthropic", model: "claude-opus-5", path: "/v1/messages", kinds: []cache.Kind{cache.ByMarks},
		open:     `,"max_tokens":1024`,
		toolOpen: `,"tools":[{"description":"`, toolEnd: `","input_schema":{"type":"object"},"name":"work"}]`,
		systemOpen: `,"system":[{"type":"text","text":"`, systemEnd: `","cache_control":MARK}]`,
		historyOpen: `,"messages":[`,
		lastOpen:    `{"role":"user","content":[{"type":"text","text":"`, lastEnd: `","cache_control":MARK}]}`,
		asks: []asked{
			{kind: cache.ByMarks, lifetime: cache.Lifetime5m, mark: plainMark},
			{kind: cache.ByMarks, lifetime: cache.Lifetime1h, mark: `{"type":"ephemeral","ttl":"1h"}`},
		},
	},
	{
		name: "openai-chat", family: "openai-chat", model: "gpt-6-sol", path: "/v1/chat/completions", kinds: []cache.Kind{cache.ByBoundaries, cache.BySteps},
		open:     `,"max_completion_tokens":1024`,
		toolOpen: `,"tools":[{"function":{"description":"`, toolEnd: `","name":"work","parameters":{"type":"object"}},"type":"function"}]`,
		historyOpen: `,"messages":[`, systemMessage: true,
		systemOpen: `{"role":"system","content":"`, systemEnd: `"},`,
		lastOpen: `{"role":"user","content":"`, lastEnd: `"}`,
		asks: openaiAsks,
	},
	{
		name: "openai-responses", family: "openai-responses", model: "gpt-6-sol", path: "/v1/responses", kinds: []cache.Kind{cache.ByBoundaries, cache.BySteps},
		open:     `,"max_output_tokens":1024,"store":false`,
		toolOpen: `,"tools":[{"description":"`, toolEnd: `","name":"work","parameters":{"type":"object"},"type":"function"}]`,
		systemOpen: `,"instructions":"`, systemEnd: `"`,
		historyOpen: `,"input":[`,
		lastOpen:    `{"role":"user","content":"`, lastEnd: `"}`,
		asks: openaiAsks,
	},
}

var openaiAsks = []asked{
	{kind: cache.ByBoundaries, lifetime: cache.Lifetime30m},
	{kind: cache.BySteps, lifetime: cache.Lifetime24h},
	{kind: cache.BySteps, lifetime: cache.LifetimeInMemory, extra: `,"prompt_cache_retention":"in_memory"`},
}

// ask finds how a lifetime is asked for.
func (f *format) ask(kind cache.Kind, lifetime time.Duration) (asked, bool) {
	at := slices.IndexFunc(f.asks, func(a asked) bool { return a.kind == kind && a.lifetime == lifetime })
	if at < 0 {
		return asked{}, false
	}
	return f.asks[at], true
}

// authorize signs a request with a key.
func (f *format) authorize(h http.Header, key string) {
	if f.family == "anthropic" {
		h.Set("X-Api-Key", key)
		h.Set("Anthropic-Version", "2023-06-01")
		return
	}
	h.Set("Authorization", "Bearer "+key)
}
