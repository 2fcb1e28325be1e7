package dialect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/dialect/dialecttest"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// history reads a list of messages in a dialect's smallest body.
func history(t *testing.T, name, messages string) *dialect.Request {
	t.Helper()
	list := "messages"
	if name == "openai-responses" {
		list = "input"
	}
	return dialecttest.Read(t, get(t, name), dialect.Turn, []byte(`{"`+list+`":[`+messages+`]}`))
}

func last(r *dialect.Request) lineage.Point { return r.History[len(r.History)-1] }

func TestLineageIgnores(t *testing.T) {
	f := func(name, a, b string) {
		t.Helper()
		if ra, rb := history(t, name, a), history(t, name, b); !cmp.Equal(ra.History, rb.History) {
			t.Errorf("%s: History of %s = %v, want that of %s, %v", name, a, ra.History, b, rb.History)
		}
	}
	const mark = `"cache_control":{"type":"ephemeral"}`
	for _, block := range []string{`{` + mark + `,"type":"x","n":1}`, `{"type":"x",` + mark + `,"n":1}`, `{"type":"x","n":1,` + mark + `}`, `{ "type":"x" , "n":1 }`} {
		f("anthropic", `{"role":"user","content":[`+block+`]}`, `{"role":"user","content":[{"type":"x","n":1}]}`)
	}
	f("anthropic", `{"role":"user","content":"a",`+mark+`}`, `{"role":"user","content":[{"text":"a","type":"text"}]}`)
	f("anthropic",
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r",`+mark+`}]}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}`)
	f("anthropic",
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":1,`+mark+`}]}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":1}]}]}`)
	f("openai-chat", `{"role":"assistant","content":null,"tool_calls":[]}`, `{"role":"assistant","tool_calls":[]}`)
	f("openai-chat", `{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r","prompt_cache_breakpoint":{}}]}`, `{"role":"tool","tool_call_id":"c","content":"r"}`)
	f("openai-responses", `{"type":"message","id":"m1","role":"user","content":"a"}`, `{"role":"user","content":[{"type":"input_text","text":"a"}],"id":"m2"}`)
	f("openai-responses",
		`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"r","prompt_cache_breakpoint":{}}]}`,
		`{"type":"function_call_output","call_id":"c","output":"r"}`)
}

func TestLineageTellsApart(t *testing.T) {
	f := func(name, a, b string) {
		t.Helper()
		if ra, rb := history(t, name, a), history(t, name, b); last(ra) == last(rb) {
			t.Errorf("%s: History of %s ends in %v, want another end than that of %s", name, a, last(ra), b)
		}
	}
	for _, name := range dialect.Names() {
		f(name, `{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`)
		f(name, `{"role":"user","content":"a"}`, `{"role":"assistant","content":"a"}`)
		f(name, `{"role":"user","content":"a"}`, `{"role":"user","content":"a"},{"role":"user","content":"a"}`)
		f(name, `{"role":"user","content":"ab"}`, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)
		f(name, `{"role":"user","content":"a"}`, `{"role":"user","content":[{"type":"text","text":"a","citations":[]}]}`)
		f(name, `{"role":"user","content":"a"}`, `{"role":"user","content":[{"type":"refusal","text":"a"}]}`)
		f(name, `{"role":"user","content":[]}`, `{"role":"user","content":[""]}`)
		f(name, `{"role":"user","content":[{"a":{"b":1}}]}`, `{"role":"user","content":[{"a":{"b":2}}]}`)
		f(name, `"a"`, `"b"`)
	}
	// A tool's argument may have the name of a mark.
	f("anthropic", `{"role":"assistant","content":[{"type":"tool_use","input":{"cache_control":1}}]}`, `{"role":"assistant","content":[{"type":"tool_use","input":{"cache_control":2}}]}`)
	// Content nested deeper than is looked at still counts.
	f("anthropic",
		`{"role":"user","content":[{"type":"tool_result","content":[{"type":"search_result","content":[{"type":"text","text":"a"}]}]}]}`,
		`{"role":"user","content":[{"type":"tool_result","content":[{"type":"search_result","content":[{"type":"text","text":"b"}]}]}]}`)
	f("openai-chat", `{"role":"user","content":[{"content":["a"]}]}`, `{"role":"user","content":[{"content":["b"]}]}`)
	f("openai-responses", `{"type":"item_reference","id":"a"}`, `{"type":"item_reference","id":"b"}`)
	f("openai-responses", `{"type":"function_call","call_id":"a"}`, `{"type":"function_call","call_id":"b"}`)
}

// TestMarksAreCountedOnce: every mark of a body, wherever it stands, and no
// null or argument with the name of one.
func TestMarksAreCountedOnce(t *testing.T) {
	f := func(name, body string, want int) {
		t.Helper()
		if r := dialecttest.Read(t, get(t, name), dialect.Turn, []byte(body)); r.Marks != want {
			t.Errorf("%s: marks of %s = %d, want %d", name, body, r.Marks, want)
		}
	}
	const m = `"cache_control":{"type":"ephemeral"}`
	f("anthropic", `{`+m+`,"system":[{"type":"text","text":"s",`+m+`}],"tools":[{"name":"t",`+m+`}],"messages":[{"role":"user","content":[{"type":"text","text":"a",`+m+`},{"type":"image",`+m+`},{"type":"tool_result","content":[{"type":"text","text":"r",`+m+`}]}]}]}`, 6)
	f("anthropic", `{"cache_control":null,"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":null},{"type":"tool_use","input":{`+m+`}}]}]}`, 0)
	f("openai-chat", `{"messages":[{"role":"system","content":[{"type":"text","text":"s",`+m+`}]},{"role":"user","content":[{"type":"image_url","prompt_cache_breakpoint":{"mode":"explicit"}}]}],"tools":[{`+m+`}]}`, 3)
	f("openai-responses", `{"input":[{"role":"developer","content":[{"type":"input_text","text":"s","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"q"}]}`, 1)
}

// TestSameThreadInTheCases: what clients did to a history between two turns,
// as seen, leaves thread and prompt what they were.
func TestSameThreadInTheCases(t *testing.T) {
	read := func(name, c string) *dialect.Request {
		t.Helper()
		return dialecttest.Read(t, get(t, name), dialect.Turn, dialecttest.Find(t, name, c).Body)
	}
	extends := func(name, before, after string) {
		t.Helper()
		a, b := read(name, before), read(name, after)
		if n := len(a.History); len(b.History) < n || !cmp.Equal(a.History, b.History[:n]) {
			t.Errorf("History of %s = %v, want it to extend %s, %v", after, b.History, before, a.History)
		}
		if a.FirstPrompt != b.FirstPrompt {
			t.Errorf("FirstPrompt of %s = %v, want that of %s, %v", after, b.FirstPrompt, before, a.FirstPrompt)
		}
	}
	extends("anthropic", "claude_code_first", "claude_code_later")
	extends("anthropic", "opencode_first", "opencode_partial")
	extends("openai-chat", "opencode_first", "opencode_later")
	extends("openai-responses", "codex_first", "codex_later")
	extends("openai-responses", "codex_later", "codex_other_ids")
	extends("openai-responses", "string_input", "list_as_string_input")

	if a, b := read("anthropic", "qwen_first"), read("anthropic", "qwen_resumed"); a.FirstPrompt != b.FirstPrompt || a.History[0] != b.History[0] {
		t.Errorf("Qwen resumed: prompt %v and history %v, want %v and %v", b.FirstPrompt, b.History[:1], a.FirstPrompt, a.History)
	}
	if a, b := read("anthropic", "claude_code_title"), read("anthropic", "claude_code_first"); a.FirstPrompt != b.FirstPrompt {
		t.Errorf("FirstPrompt of a title request = %v, want that of its session, %v", a.FirstPrompt, b.FirstPrompt)
	}
}

// TestFirstPromptOfRemindersOnly: the first message stands for the prompt, in
// either shape.
func TestFirstPromptOfRemindersOnly(t *testing.T) {
	const text = `<system-reminder>x</system-reminder>`
	a := history(t, "openai-responses", `{"role":"user","content":"`+text+`"}`)
	b := dialecttest.Read(t, get(t, "openai-responses"), dialect.Turn, []byte(`{"input":"`+text+`"}`))
	if a.FirstPrompt.IsZero() || a.FirstPrompt != b.FirstPrompt {
		t.Errorf("FirstPrompt of reminders = %v as a list and %v as a string, want one that is not zero", a.FirstPrompt, b.FirstPrompt)
	}
	first := `{"role":"user","content":"` + text + `"}`
	c, d := history(t, "anthropic", first), history(t, "anthropic", first+`,{"role":"user","content":[{"type":"tool_result","content":"r"}]}`)
	if c.FirstPrompt != d.FirstPrompt {
		t.Errorf("FirstPrompt with a tool result = %v, want %v as without", d.FirstPrompt, c.FirstPrompt)
	}
	if c := history(t, "openai-chat", `{"role":"assistant","content":"hi"}`); !c.FirstPrompt.IsZero() {
		t.Errorf("FirstPrompt without a user = %v, want none", c.FirstPrompt)
	}
}
