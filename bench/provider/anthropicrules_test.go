package provider

import (
	"fmt"
	"strings"
	"testing"
)

const opus = "claude-opus-5-5"

func user(text string) object      { return object{"role": "user", "content": text} }
func assistant(text string) object { return object{"role": "assistant", "content": text} }
func systemTurn(text string) object {
	return object{"role": "system", "content": text}
}

func toolUse(id string) object {
	return object{"type": "tool_use", "id": id, "name": "f", "input": object{}}
}

func toolResult(id string) object {
	return object{"type": "tool_result", "tool_use_id": id, "content": "done"}
}

var aMark = object{"type": "ephemeral"}

func TestAnthropicRefusals(t *testing.T) {
	c := start(t, Options{})
	with := func(model string, messages ...object) object { return ask(model, nil, messages...) }
	for _, test := range []struct {
		name string
		body any
		want string
	}{
		{"no JSON", []byte("{"), "The request body is not valid JSON"},
		{"trailing data", []byte(`{} {}`), "The request body is not valid JSON"},
		{"no model", object{"max_tokens": 1, "messages": []object{user("a")}}, "model: Field required"},
		{"no max_tokens", object{"model": opus, "messages": []object{user("a")}}, "max_tokens: Field required"},
		{"no messages", object{"model": opus, "max_tokens": 1}, "messages: Field required"},
		{"messages is a number", object{"model": opus, "max_tokens": 1, "messages": 3}, "messages: Input should be a valid list"},
		{"empty messages", object{"model": opus, "max_tokens": 1, "messages": []any{}}, "messages: at least one message is required"},
		{"a message is no object", object{"model": opus, "max_tokens": 1, "messages": []any{"a"}}, "messages.0: Input should be an object"},
		{"a block is no object", object{"model": opus, "max_tokens": 1, "messages": []any{object{"role": "user", "content": []any{1}}}}, "messages.0: Input should be an object"},
		{"unknown role", with(opus, object{"role": "tool", "content": "x"}), "messages.0.role: Input should be"},
		{"empty content", with(opus, user("a"), user("")), "messages.1: all messages must have non-empty content"},
		{"empty text block", with(opus, message("user", object{"type": "text", "text": ""})), "messages: text content blocks must be non-empty"},
		{"five marks", ask(opus, []object{text("s", 10, "5m")}, message("user", text("a", 10, "5m"), text("a", 10, "5m"), text("a", 10, "5m"), text("a", 10, "5m"))),
			"A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{"four marks and the automatic one", edited(with(opus, message("user", text("a", 10, "5m"), text("a", 10, "5m"), text("a", 10, "5m"), text("a", 10, "5m"), text("b", 10))),
			func(o object) { o["cache_control"] = aMark }), "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{"long after short", ask(opus, []object{text("s", 10, "5m")}, message("user", text("a", 10), text("b", 10, "1h"))),
			"messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."},
		{"long after short in system", ask(opus, []object{text("s", 10, "5m"), text("t", 10, "1h")}, user("a")), "system.1.cache_control.ttl: a ttl='1h'"},
		{"unknown ttl", with(opus, message("user", text("a", 10, "2h"))), "messages.0.content.0.cache_control"},
		{"mark on an empty text", with(opus, message("user", object{"type": "text", "text": "", "cache_control": aMark})),
			"messages.0.content.0: cache_control cannot be set for empty text blocks"},
		{"mark on thinking", with(opus, user("a"), message("assistant", object{"type": "thinking", "thinking": "x", "signature": "y", "cache_control": aMark}), user("b")),
			"messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"},
		{"mark on a middle child", with(opus, user("a"), message("assistant", toolUse("t")), message("user",
			object{"type": "tool_result", "tool_use_id": "t", "content": []object{text("a", 10, "5m"), text("b", 10)}})), "messages.2.content.0.content.0.cache_control"},
		{"prefill on 4.6", with(sonnet, user("a"), assistant("b")), "This model does not support assistant message prefill. The conversation must end with a user message."},
		{"system first", with(opus, systemTurn("s"), user("a")), "messages.0: the first message cannot have role 'system'"},
		{"system after assistant", with(opus, user("a"), assistant("b"), systemTurn("s")), "messages.2: a 'system' message must follow a user turn"},
		{"system before user", with(opus, user("a"), systemTurn("s"), user("b")), "messages.1: a 'system' message must be last"},
		{"system on an older model", with("claude-sonnet-5", user("a"), systemTurn("s")), "messages.1: role 'system' is not supported on this model"},
		{"system between use and result", with(opus, user("a"), message("assistant", toolUse("t")), systemTurn("s"), message("user", toolResult("t"))), "messages.2: a 'system' message must follow a user turn"},
		{"result without use", with(opus, user("a"), message("user", toolResult("toolu_1"))),
			"messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		{"use without result", with(opus, user("a"), message("assistant", toolUse("toolu_1")), user("b")),
			"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{"forced tool on Fable 5.1", edited(with("claude-fable-5-1", user("a")), func(o object) { o["tool_choice"] = object{"type": "any"} }), "tool_choice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := c.refused("/v1/messages", test.body); !strings.HasPrefix(got, test.want) {
				t.Errorf("message %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnthropicAccepts(t *testing.T) {
	c := start(t, Options{})
	for _, test := range []struct {
		name string
		body object
	}{
		{"string content", ask(opus, nil, user("a"))},
		{"string system", object{"model": opus, "max_tokens": 1, "system": "s", "messages": []object{user("a")}}},
		{"consecutive user messages", ask(opus, nil, user("a"), user("b"))},
		{"assistant first", ask(opus, nil, assistant("a"), user("b"))},
		{"prefill on an older model", ask("claude-sonnet-4-5", nil, user("a"), assistant("b"))},
		{"system last", ask(opus, nil, user("a"), systemTurn("s"))},
		{"two system messages before assistant", ask(opus, nil, user("a"), systemTurn("s"), systemTurn("t"), assistant("b"), user("c"))},
		{"system after a server tool", ask(opus, nil, user("a"), message("assistant", object{"type": "web_search_tool_result", "content": []any{}}), systemTurn("s"))},
		{"effort alone, anywhere", ask(opus, nil, object{"role": "system", "content": []any{}, "output_config": object{"effort": "low"}}, user("a"))},
		{"result over two messages", ask(opus, nil, user("a"), message("assistant", toolUse("t"), toolUse("u")), message("user", toolResult("t")), message("user", toolResult("u"), text("b", 10)))},
		{"four marks", ask(opus, []object{text("s", 10, "1h"), text("t", 10, "1h")}, message("user", text("a", 10, "5m"), text("b", 10, "5m")))},
		{"unknown model", ask("some-model", nil, user("a"), assistant("b"))},
		{"unknown members", edited(ask(opus, nil, user("a")), func(o object) { o["whatever"] = object{"x": 1} })},
	} {
		t.Run(test.name, func(t *testing.T) {
			if answer := c.post("/v1/messages", test.body); answer.str("role") != "assistant" {
				t.Errorf("answer %v, want a message of the assistant", answer)
			}
		})
	}
}

func TestAnthropicErrorShape(t *testing.T) {
	c := start(t, Options{}).as("")
	resp, raw := c.call("POST", "/v1/messages", ask(opus, nil, user("a")))
	o := decodeObject(t, raw)
	if resp.StatusCode != 401 || o.str("type") != "error" || o.obj("error").str("type") != "authentication_error" {
		t.Errorf("without a key = %d %s, want 401 authentication_error", resp.StatusCode, raw)
	}
	if id := resp.Header.Get("request-id"); id == "" || id != o.str("request_id") {
		t.Errorf("request-id %q, request_id %q: want the same", id, o.str("request_id"))
	}
	for status, kind := range anthropicKinds {
		resp, raw := c.as("k").call("POST", "/v1/messages", []byte("{}"), "x-provider-fault", fmt.Sprintf("status=%d,retry-after=7", status))
		got := decodeObject(t, raw).obj("error").str("type")
		if resp.StatusCode != status || got != kind || resp.Header.Get("retry-after") != "7" {
			t.Errorf("fault %d = %d %q retry-after %q, want %q and 7", status, resp.StatusCode, got, resp.Header.Get("retry-after"), kind)
		}
	}
}

func TestAnthropicToolTurns(t *testing.T) {
	c := start(t, Options{})
	body := ask(opus, nil, user("please CALL_TOOL nobody, CALL_TOOL f, then CALL_TOOL g and CALL_TOOL f"))
	body["tools"] = []object{
		{"name": "f", "input_schema": object{"type": "object", "required": []any{"path"}, "properties": object{"path": object{"type": "string"}}}},
		{"name": "g", "input_schema": object{"type": "object"}},
	}
	var called []string
	history := body["messages"].([]object)
	for range 4 {
		answer := c.post("/v1/messages", body)
		call := asObject(answer.list("content")[0])
		if answer.str("stop_reason") != "tool_use" {
			called = append(called, answer.str("stop_reason"))
			break
		}
		called = append(called, call.str("name")+string(canonical(call["input"])))
		history = append(history, object{"role": "assistant", "content": answer["content"]}, message("user", toolResult(call.str("id"))))
		body["messages"] = history
	}
	if got, want := strings.Join(called, " "), `f{"path":"simulated"} g{} f{"path":"simulated"} end_turn`; got != want {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestAnthropicOutputLimitAndSchema(t *testing.T) {
	c := start(t, Options{})
	short := ask(opus, nil, user("a"))
	short["max_tokens"] = 1
	if answer := c.post("/v1/messages", short); answer.str("stop_reason") != "max_tokens" || len(asObject(answer.list("content")[0]).str("text")) != 4 {
		t.Errorf("answer within 1 token = %v, want 4 bytes and max_tokens", answer)
	}
	titled := ask(opus, nil, user("a"))
	titled["output_config"] = object{"format": object{"type": "json_schema", "schema": object{"type": "object", "required": []any{"title"}, "properties": object{"title": object{"type": "string"}}}}}
	answer := c.post("/v1/messages", titled)
	if got := asObject(answer.list("content")[0]).str("text"); got != `{"title":"simulated"}` {
		t.Errorf("answer to a schema = %q, want an object with a title", got)
	}
}
