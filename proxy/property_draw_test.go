package proxy

import (
	"fmt"
	"strings"
)

// Texts that look like something else.
var oddTexts = []string{
	"", "hello", "caf\u00e9 \u4e2d\u6587 \U0001f600\U0001f468\u200d\U0001f4bb", `"messages":[{"role":"user"}]`, `}],"input":[`, "a/b\\c\"d", "\u0001\u001f\t\r\n\u2028\u2029\ufeff",
	"<system-reminder>be quiet</system-reminder>", "Team rules: be kind & <exact>. \u2713", "[{(\\", "null", "\u0000", "\ufffd\uffff\u007f",
	strings.Repeat("long text, ", 8),
}

func (w *scribe) odd() string { return pick(w.rng, oddTexts...) + pick(w.rng, oddTexts...) }

// maybe is true in so many of a hundred cases.
func (w *scribe) maybe(percent int) bool { return w.rng.IntN(100) < percent }

// tree draws any value, with names that mean something elsewhere.
func (w *scribe) tree(depth int) any {
	if depth == 0 || w.maybe(40) {
		return pick[any](w.rng, w.odd(), literal("1.0e2"), literal("-0"), literal("1E+400"), literal("123456789012345678901234567890"),
			literal("true"), literal("false"), nil, literal("0.1e-7"), list{}, object{})
	}
	if w.maybe(30) {
		var l list
		for range w.rng.IntN(4) {
			l = append(l, w.tree(depth-1))
		}
		return l
	}
	var o object
	for _, name := range []string{"messages", "role", "input", "system", "content", "type", "cache_control", "stream", "na me", "\u00fc", ""} {
		if w.maybe(20) {
			o = append(o, member{name, w.tree(depth - 1)})
		}
	}
	return w.shuffled(o)
}

func (w *scribe) shuffled(o object) object {
	w.rng.Shuffle(len(o), func(i, j int) { o[i], o[j] = o[j], o[i] })
	return o
}

// deep is a value of so many levels.
func deep(levels int) any {
	var v any = literal("1")
	for range levels {
		v = list{object{{"properties", v}}}
	}
	return v
}

// extras adds what any request may have.
func (w *scribe) extras(o object) object {
	for i := range w.rng.IntN(4) {
		o = append(o, member{fmt.Sprint("x_", i), w.tree(3)})
	}
	if w.maybe(60) {
		o = append(o, member{"stream", literal(pick(w.rng, "true", "false"))})
	}
	if w.maybe(5) {
		o = append(o, member{"x_deep", deep(w.rng.IntN(50))})
	}
	return w.shuffled(o)
}

// tools draws a list of tools, never empty: without tools a request may be a
// side request, which goes bare.
func (w *scribe) tools() list {
	var l list
	for i := range 1 + w.rng.IntN(3) {
		o := object{{"name", fmt.Sprint("tool_", i)}, {"description", w.odd()}, {"input_schema", object{{"type", "object"}, {"properties", w.tree(4)}}}}
		if w.maybe(20) {
			o = append(o, w.mark())
		}
		l = append(l, w.shuffled(o))
	}
	return l
}

func (w *scribe) mark() member {
	m := object{{"type", "ephemeral"}}
	if w.maybe(30) {
		m = append(m, member{"ttl", pick(w.rng, "5m", "1h")})
	}
	return member{"cache_control", m}
}

// member names the list of the history, now and then with escapes.
func (d *drawn) member(w *scribe, value any) member {
	if w.maybe(2) {
		d.odd = true
		return member{oddName(d.list), value}
	}
	return member{d.list, value}
}

func drawAnthropic(w *scribe) drawn {
	d := drawn{list: "messages"}
	var messages list
	for i := range w.rng.IntN(8) {
		messages = append(messages, w.shuffled(object{{"role", pick(w.rng, "user", "assistant")}, {"content", w.anthropicContent(i)}}))
	}
	d.bare = len(messages) == 0
	o := object{{"model", "claude-opus-4-8"}, {"max_tokens", literal("1024")}, {"tools", w.tools()}, d.member(w, messages)}
	switch w.rng.IntN(3) {
	case 0:
		o = append(o, member{"system", w.odd()})
	case 1:
		o = append(o, member{"system", list{object{{"type", "text"}, {"text", w.odd()}, w.mark()}}})
	}
	if w.maybe(20) {
		o = append(o, member{"thinking", object{{"type", "adaptive"}}}, w.mark())
	}
	if w.maybe(2) {
		o, d.bare = append(o, member{"previous_thread_event_id", "e1"}), true
	}
	d.tree = w.extras(o)
	return d
}

func (w *scribe) anthropicContent(i int) any {
	if w.maybe(40) {
		return w.odd()
	}
	var l list
	for range 1 + w.rng.IntN(3) {
		id := fmt.Sprint("toolu_", i)
		b := pick(w.rng,
			object{{"type", "text"}, {"text", w.odd()}},
			object{{"type", "thinking"}, {"thinking", w.odd()}, {"signature", "c2ln"}},
			object{{"type", "redacted_thinking"}, {"data", "eA=="}},
			object{{"type", "tool_use"}, {"id", id}, {"name", "tool_0"}, {"input", object{{"x", w.tree(4)}}}},
			object{{"type", "tool_result"}, {"tool_use_id", id}, {"content", list{object{{"type", "text"}, {"text", w.odd()}}}}},
			object{{"type", "image"}, {"source", object{{"type", "base64"}, {"data", "aGk="}}}})
		if w.maybe(10) {
			b = append(b, w.mark())
		}
		l = append(l, w.shuffled(b))
	}
	return l
}

func drawChat(w *scribe) drawn {
	d := drawn{list: "messages"}
	var messages list
	for range w.rng.IntN(3) {
		messages = append(messages, w.shuffled(object{{"role", pick(w.rng, "system", "developer")}, {"content", w.odd()}}))
	}
	d.lead = len(messages)
	for i := range w.rng.IntN(6) {
		m := pick(w.rng,
			object{{"role", "user"}, {"content", w.odd()}},
			object{{"role", "user"}, {"content", list{object{{"type", "text"}, {"text", w.odd()}}}}},
			object{{"role", "assistant"}, {"content", nil}, {"tool_calls", list{object{{"id", "c"}, {"function", object{{"name", "tool_0"}, {"arguments", w.odd()}}}}}}},
			object{{"role", "tool"}, {"tool_call_id", "c"}, {"content", w.odd()}})
		if i > 0 && w.maybe(10) { // in mid-conversation
			m = object{{"role", "system"}, {"content", w.odd()}}
		}
		messages = append(messages, w.shuffled(m))
	}
	d.bare = len(messages) == d.lead
	o := object{{"model", "gpt-5.5"}, {pick(w.rng, "tools", "functions"), w.tools()}, d.member(w, messages)}
	if w.maybe(40) {
		options := pick(w.rng, object{}, object{{"x", literal("1")}}, object{{"include_usage", literal(pick(w.rng, "true", "false"))}})
		o = append(o, member{"stream_options", options})
	}
	d.tree = w.extras(o)
	return d
}

func drawResponses(w *scribe) drawn {
	d := drawn{list: "input"}
	o := object{{"model", "gpt-6-sol"}, {"tools", w.tools()}}
	if w.maybe(50) {
		o = append(o, member{"instructions", w.odd()})
	}
	if w.maybe(30) {
		o = append(o, d.member(w, w.odd()))
	} else {
		o = append(o, d.member(w, d.items(w)))
	}
	if w.maybe(30) {
		o = append(o, member{"prompt_cache_options", pick[any](w.rng, object{}, nil, "odd", object{{"mode", "implicit"}, {"ttl", "30m"}},
			object{{"comparison_response_id", "resp_0"}, {"mode", "explicit"}})})
	}
	switch w.rng.IntN(40) {
	case 0:
		o, d.bare = append(o, member{"conversation", pick[any](w.rng, "conv_1", object{{"id", "conv_1"}})}), true
	case 1:
		o, d.bare = append(o, member{"previous_response_id", "resp_1"}), d.bare || d.lead == 0
	case 2:
		o, d.bare = append(o, member{"generate", literal("false")}), true
	}
	d.tree = w.extras(o)
	return d
}

func (d *drawn) items(w *scribe) (items list) {
	for range w.rng.IntN(3) {
		items = append(items, pick(w.rng,
			object{{"type", "message"}, {"role", "developer"}, {"content", list{object{{"type", "input_text"}, {"text", w.odd()}}}}},
			object{{"role", "system"}, {"content", w.odd()}},
			object{{"type", "additional_tools"}, {"role", "developer"}, {"tools", w.tools()}}))
	}
	d.lead = len(items)
	for range w.rng.IntN(6) {
		items = append(items, w.shuffled(pick(w.rng,
			object{{"role", "user"}, {"content", w.odd()}},
			object{{"type", "message"}, {"role", "assistant"}, {"content", list{object{{"type", "output_text"}, {"text", w.odd()}}}}},
			object{{"type", "reasoning"}, {"id", "rs_1"}, {"summary", list{}}, {"encrypted_content", "eA=="}},
			object{{"type", "function_call"}, {"call_id", "c"}, {"name", "tool_0"}, {"arguments", w.odd()}},
			object{{"type", "function_call_output"}, {"call_id", "c"}, {"output", w.odd()}})))
	}
	d.bare = len(items) == d.lead
	return items
}
