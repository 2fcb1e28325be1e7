package provider

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// diagnosable is a request to either API that has each part which a later one
// may change.
func diagnosable() (messages, responses object) {
	messages = object{
		"model": sonnet, "max_tokens": 100, "cache_control": object{"type": "ephemeral"},
		"tools":    []object{{"name": "f", "input_schema": object{}}, {"name": "g", "input_schema": object{}}},
		"system":   []object{text("s", 1000), text("t", 200)},
		"messages": []object{user(sized("a", 1000)), message("assistant", text("b", 100)), user(sized("c", 100))},
	}
	responses = object{
		"model": sol, "prompt_cache_key": "k", "instructions": sized("s", 1000),
		"tools": []object{{"type": "function", "name": "f", "parameters": object{}}, {"type": "function", "name": "g", "parameters": object{}}},
		"input": []object{said("user", "a", 1000), said("assistant", "b", 100), said("user", "c", 100)},
	}
	return messages, responses
}

const askedOf = "anthropic-beta"

// diagnosed sends a request that names the answer of another and returns what it
// is told, and the answer's id.
func (c *client) diagnosed(path string, body object, previous any, betas ...string) (diagnosis any, id string) {
	c.Helper()
	ask := edited(body, func(o object) {
		if path == "/v1/messages" {
			o["diagnostics"] = object{"previous_message_id": previous}
			return
		}
		options := object{}
		for k, v := range o.obj("prompt_cache_options") {
			options[k] = v
		}
		if previous != nil {
			options["comparison_response_id"] = previous
		}
		o["prompt_cache_options"] = options
	})
	got := c.post(path, ask, askedOf, strings.Join(append(betas, diagnosisBeta), ", "))
	if path == "/v1/messages" {
		d, there := got["diagnostics"]
		if !there {
			c.Errorf("a diagnosis was asked for, and the answer has none: %v", got)
		}
		return d, got.str("id")
	}
	return got["prompt_cache_diagnostics"], got.str("id")
}

// reasonIn is the word of a diagnosis, with the type before a reason.
func reasonIn(diagnosis any) string {
	o := asObject(diagnosis)
	if r := o.obj("cache_miss_reason"); r != nil {
		return r.str("type")
	}
	return strings.TrimSpace(o.str("type") + " " + o.str("reason"))
}

func inList(name string, change func(l []any) []any) func(object) {
	return func(o object) { o[name] = change(o.list(name)) }
}

func set(name string, v any) func(object) { return func(o object) { o[name] = v } }

func TestMessagesDiagnosis(t *testing.T) {
	base, _ := diagnosable()
	for _, test := range []struct {
		name   string
		change func(object)
		want   string
		betas  []string
	}{
		{"the same again", func(object) {}, "", nil},
		{"appended", inList("messages", func(l []any) []any { return append(l, message("assistant", text("d", 10)), user("more")) }), "", nil},
		{"a block appended", inList("messages", func(l []any) []any { l[2] = message("user", text("c", 100), text("d", 10)); return l }), "", nil},
		{"marks moved", func(o object) {
			delete(o, "cache_control")
			asObject(o.list("tools")[1])["cache_control"] = object{"type": "ephemeral"}
		}, "", nil},
		{"text as a block", inList("messages", func(l []any) []any { l[0] = message("user", text("a", 1000)); return l }), "", nil},
		{"temperature", set("temperature", 0.5), "", nil},
		{"the default effort", set("output_config", object{"effort": "high"}), "", nil},
		{"automatic tool choice", set("tool_choice", object{"type": "auto"}), "", nil},
		{"model", set("model", "claude-sonnet-5"), "model_changed", nil},
		{"tool added", inList("tools", func(l []any) []any { return append(l, object{"name": "h", "input_schema": object{}}) }), "tools_changed", nil},
		{"tool removed", inList("tools", func(l []any) []any { return l[:1] }), "tools_changed", nil},
		{"no tools", func(o object) { delete(o, "tools") }, "tools_changed", nil},
		{"tools reordered", inList("tools", func(l []any) []any { slices.Reverse(l); return l }), "tools_changed", nil},
		{"system edited", inList("system", func(l []any) []any { l[1] = text("z", 200); return l }), "system_changed", nil},
		{"system longer", inList("system", func(l []any) []any { return append(l, text("z", 200)) }), "system_changed", nil},
		{"no system", func(o object) { delete(o, "system") }, "system_changed", nil},
		{"tools before system", func(o object) { delete(o, "tools"); delete(o, "system") }, "tools_changed", nil},
		{"message edited", inList("messages", func(l []any) []any { l[0] = user("other"); return l }), "messages_changed", nil},
		{"message dropped", inList("messages", func(l []any) []any { return l[2:] }), "messages_changed", nil},
		{"rewound", inList("messages", func(l []any) []any { return l[:1] }), "messages_changed", nil},
		{"tool choice", set("tool_choice", object{"type": "any"}), "unavailable", nil},
		{"thinking", set("thinking", object{"type": "adaptive"}), "unavailable", nil},
		{"effort", set("output_config", object{"effort": "low"}), "unavailable", nil},
		{"context management", set("context_management", object{"edits": []any{}}), "unavailable", nil},
		{"betas", func(object) {}, "unavailable", []string{"other-2026-01-01"}},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", test.name, stream), func(t *testing.T) {
				c := start(t, Options{})
				first, id := c.diagnosed("/v1/messages", base, nil)
				if first != nil {
					t.Errorf("the first request is told %v, want null", first)
				}
				body := edited(base, test.change)
				if stream {
					c.diagnosedInStream(body, id, test.want, test.betas)
					return
				}
				got, _ := c.diagnosed("/v1/messages", body, id, test.betas...)
				if reasonIn(got) != test.want {
					t.Errorf("told %v, want %q", got, test.want)
				}
			})
		}
	}
}

// diagnosedInStream checks what stands in message_start.
func (c *client) diagnosedInStream(body object, previous, want string, betas []string) {
	c.Helper()
	body = edited(body, func(o object) {
		o["stream"], o["diagnostics"] = true, object{"previous_message_id": previous}
	})
	_, raw := c.call("POST", "/v1/messages", body, askedOf, strings.Join(append(betas, diagnosisBeta), ", "))
	data, _, _ := strings.Cut(string(raw), "\n\n")
	_, data, _ = strings.Cut(data, "data: ")
	start := decodeObject(c, []byte(data)).obj("message")
	if d, there := start["diagnostics"]; !there || reasonIn(d) != want {
		c.Errorf("message_start has %v, want a diagnosis of %q", start, want)
	}
	if n := strings.Count(string(raw), `"diagnostics"`); n != 1 {
		c.Errorf("the stream has %d diagnoses, want the one in message_start", n)
	}
}

// The count is what lies behind the earliest difference; what is no change has
// none.
func TestMessagesDiagnosisCounts(t *testing.T) {
	c := start(t, Options{})
	base, _ := diagnosable()
	_, id := c.diagnosed("/v1/messages", base, nil)
	total := c.post("/v1/messages", base).obj("usage")
	all := inputOf(t, total).Input()
	for name, test := range map[string]struct {
		change func(object)
		behind int64 // tokens before the difference
	}{
		"model":   {set("model", "claude-sonnet-5"), 0},
		"system":  {inList("system", func(l []any) []any { l[1] = text("z", 200); return l }), all - 1400},
		"message": {inList("messages", func(l []any) []any { l[2] = user(sized("z", 100)); return l }), all - 100},
	} {
		got, _ := c.diagnosed("/v1/messages", edited(base, test.change), id)
		if n, _ := asObject(got).obj("cache_miss_reason").num("cache_missed_input_tokens"); n != all-test.behind {
			t.Errorf("%s: %v, want %d tokens missed", name, got, all-test.behind)
		}
	}
	got, _ := c.diagnosed("/v1/messages", with(base, "tool_choice", object{"type": "any"}), id)
	want := object{"cache_miss_reason": map[string]any{"type": "unavailable"}}
	if diff := cmp.Diff(want, asObject(got)); diff != "" {
		t.Errorf("unavailable (-want +got)\n%s", diff)
	}
}

// Nobody learns of another tenant's requests, nor of those that did not ask.
func TestDiagnosisFindsOnlyItsOwn(t *testing.T) {
	c := start(t, Options{})
	messages, responses := diagnosable()
	_, mine := c.diagnosed("/v1/messages", messages, nil)
	unasked := c.post("/v1/messages", with(messages, "temperature", 0.1)).str("id")
	for name, f := range map[string]struct {
		c  *client
		id string
	}{"no such": {c, "msg_0"}, "another tenant's": {c.as("key-two"), mine}, "one that did not ask": {c, unasked}} {
		if got, _ := f.c.diagnosed("/v1/messages", messages, f.id); reasonIn(got) != "previous_message_not_found" {
			t.Errorf("%s: %v, want previous_message_not_found", name, got)
		}
	}
	_, mine = c.diagnosed("/v1/responses", responses, nil)
	short := c.post("/v1/responses", with(responses, "max_output_tokens", 1)).str("id")
	for name, f := range map[string]struct {
		c  *client
		id string
	}{"no such": {c, "resp_0"}, "another tenant's": {c.as("key-two"), mine}, "one that was not completed": {c, short}} {
		if got, _ := f.c.diagnosed("/v1/responses", responses, f.id); reasonIn(got) != "comparison_response_not_found" {
			t.Errorf("%s: %v, want comparison_response_not_found", name, got)
		}
	}
	if got := c.post("/v1/responses", responses)["prompt_cache_diagnostics"]; got != nil {
		t.Errorf("not asked, yet told %v", got)
	}
	if got, there := c.post("/v1/messages", messages)["diagnostics"]; there {
		t.Errorf("not asked, yet told %v", got)
	}
}

func TestDiagnosisRefusals(t *testing.T) {
	c := start(t, Options{})
	messages, responses := diagnosable()
	beta := []string{askedOf, diagnosisBeta}
	ask := func(v any) object { return object{"previous_message_id": v} }
	compare := func(v any) object { return object{"comparison_response_id": v} }
	for _, test := range []struct {
		name, path string
		body       object
		header     []string
		want       string
	}{
		{"without the beta", "/v1/messages", with(messages, "diagnostics", ask("msg_1")), nil, "diagnostics: Extra inputs are not permitted"},
		{"with another beta", "/v1/messages", with(messages, "diagnostics", ask("msg_1")), []string{askedOf, "x,y"}, "diagnostics: Extra inputs"},
		{"no object", "/v1/messages", with(messages, "diagnostics", "msg_1"), beta, "diagnostics: Input should be an object"},
		{"no string", "/v1/messages", with(messages, "diagnostics", ask(1)), beta, "diagnostics.previous_message_id: Input should be a valid string"},
		{"in Chat", "/v1/chat/completions", with(chat(sol, user("a")), "prompt_cache_options", compare("resp_1")), nil, "Unknown parameter: 'prompt_cache_options.comparison_response_id'."},
		{"on an older model", "/v1/responses", with(with(responses, "model", "gpt-5.5"), "prompt_cache_options", compare("resp_1")), nil, "Unknown parameter: 'prompt_cache_options'."},
		{"no id", "/v1/responses", with(responses, "prompt_cache_options", compare(1)), nil, "Invalid type for 'prompt_cache_options.comparison_response_id'"},
	} {
		if got := c.refused(test.path, test.body, test.header...); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestResponsesDiagnosis(t *testing.T) {
	_, base := diagnosable()
	for _, test := range []struct {
		name   string
		change func(object)
		after  time.Duration
		want   string
	}{
		{"the same again", func(object) {}, 0, "cache_hit"},
		{"appended", inList("input", func(l []any) []any { return append(l, said("assistant", "d", 10), user("more")) }), 0, "cache_hit"},
		{"temperature", set("temperature", 0.5), 0, "cache_hit"},
		{"the usual verbosity", set("text", object{"verbosity": "medium", "format": object{"type": "text"}}), 0, "cache_hit"},
		{"the usual tier", set("service_tier", "auto"), 0, "cache_hit"},
		{"model", set("model", "gpt-6-sol"), 0, "cache_miss model_changed"},
		{"key", set("prompt_cache_key", "l"), 0, "cache_miss prompt_cache_key_changed"},
		{"no key", func(o object) { delete(o, "prompt_cache_key") }, 0, "cache_miss prompt_cache_key_changed"},
		{"tier", set("service_tier", "flex"), 0, "cache_miss service_tier_changed"},
		{"tools", inList("tools", func(l []any) []any { slices.Reverse(l); return l }), 0, "cache_miss tools_changed"},
		{"format", set("text", object{"format": object{"type": "json_object"}}), 0, "cache_miss text_format_changed"},
		{"effort", set("reasoning", object{"effort": "high"}), 0, "cache_miss reasoning_effort_changed"},
		{"verbosity", set("text", object{"verbosity": "low"}), 0, "cache_miss verbosity_changed"},
		{"instructions", set("instructions", sized("z", 1000)), 0, "cache_miss input_changed"},
		{"input edited", inList("input", func(l []any) []any { l[0] = said("user", "z", 1000); return l }), 0, "cache_miss input_changed"},
		{"input dropped", inList("input", func(l []any) []any { return l[2:] }), 0, "cache_miss input_changed"},
		{"compacted", inList("input", func(l []any) []any {
			return []any{object{"type": "compaction", "encrypted_content": "x"}, user("go on")}
		}), 0, "cache_miss context_compacted"},
		{"the model first", func(o object) { o["model"], o["tools"], o["instructions"] = "gpt-6-sol", []any{}, "x" }, 0, "cache_miss model_changed"},
		{"parallel calls", set("parallel_tool_calls", false), 0, "unavailable"},
		{"boundaries of another mode", set("prompt_cache_options", object{"mode": "explicit"}), 0, "unavailable"},
		{"expired", func(object) {}, 31 * time.Minute, "unavailable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			clock := newClock()
			c := start(t, Options{Now: clock.Now})
			_, id := c.diagnosed("/v1/responses", base, nil)
			clock.advance(test.after)
			got, _ := c.diagnosed("/v1/responses", edited(base, test.change), id)
			if reasonIn(got) != test.want {
				t.Errorf("told %v, want %q", got, test.want)
			}
			missed, counted := asObject(got).num("cache_missed_tokens")
			reusable, _ := asObject(got).num("comparison_reusable_tokens")
			if miss := strings.HasPrefix(test.want, "cache_miss"); miss != counted || missed > reusable {
				t.Errorf("told %v: counts are there exactly for a miss, and no more is missed than was there", got)
			}
		})
	}
}

// In a stream only the complete response has the diagnosis; and how much is
// missed is what the one before left and this one did not read.
func TestResponsesDiagnosisInStream(t *testing.T) {
	c := start(t, Options{})
	_, base := diagnosable()
	first := c.post("/v1/responses", base)
	left, _ := first.obj("usage").obj("input_tokens_details").num("cache_write_tokens")
	_, raw := c.call("POST", "/v1/responses", edited(base, func(o object) {
		o["stream"], o["service_tier"] = true, "flex"
		o["prompt_cache_options"] = object{"comparison_response_id": first.str("id")}
	}))
	if n := strings.Count(string(raw), `"prompt_cache_diagnostics"`); n != 1 {
		t.Fatalf("the stream has %d diagnoses, want 1: %s", n, raw)
	}
	_, data, _ := strings.Cut(string(raw), "event: response.completed\ndata: ")
	data, _, _ = strings.Cut(data, "\n\n")
	done := decodeObject(t, []byte(data)).obj("response")
	d := done.obj("prompt_cache_diagnostics")
	reusable, _ := d.num("comparison_reusable_tokens")
	missed, _ := d.num("cache_missed_tokens")
	if left == 0 || reusable != left || missed != left || d.str("reason") != "service_tier_changed" {
		t.Errorf("told %v, want all of %d tokens missed for service_tier_changed", d, left)
	}
	if done.str("service_tier") != "flex" {
		t.Errorf("service_tier = %v, want flex", done["service_tier"])
	}
}

// Prints are bounded, and the oldest go first.
func TestDiagnosisIsBounded(t *testing.T) {
	p := newPrints[int]()
	for i := range maxPrints + 10 {
		p.add("t", fmt.Sprint(i), i)
		p.add("t", fmt.Sprint(i), i) // the same request again
	}
	_, oldest := p.get("t", "9")
	_, kept := p.get("t", "10")
	if oldest || !kept || len(p.kept) != maxPrints || len(p.order) != maxPrints {
		t.Errorf("%d kept of %d ordered; the oldest: %v, the next: %v", len(p.kept), len(p.order), oldest, kept)
	}
}
