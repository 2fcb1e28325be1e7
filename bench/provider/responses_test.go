package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cached returns input and cached tokens of an answer of Responses.
func cached(answer object) [2]any {
	u := answer.obj("usage")
	return [2]any{u["input_tokens"], u.obj("input_tokens_details")["cached_tokens"]}
}

func TestResponsesChains(t *testing.T) {
	c := start(t, Options{})
	first := c.post("/v1/responses", object{"model": sol, "instructions": "be brief", "input": "one"})
	chained := c.post("/v1/responses", object{"model": sol, "instructions": "be brief", "input": "two", "previous_response_id": first.str("id")})
	whole := c.post("/v1/responses", object{"model": sol, "instructions": "be brief",
		"input": append(append([]any{user("one")}, first.list("output")...), user("two"))})
	if diff := cmp.Diff(spoken(whole), spoken(chained)); diff != "" || cached(whole)[0] != cached(chained)[0] {
		t.Errorf("the chain differs from the whole input (-whole +chain)\n%s", diff)
	}
	bare := c.post("/v1/responses", object{"model": sol, "input": "two", "previous_response_id": first.str("id")})
	if cached(bare)[0] == cached(chained)[0] {
		t.Errorf("instructions were carried over: both inputs are %v", cached(bare)[0])
	}
	items := decodeObject(t, second(c.call("GET", "/v1/responses/"+chained.str("id")+"/input_items", nil)))
	if got := asObject(items.list("data")[0]).str("content"); got != "two" || len(items.list("data")) != 1 {
		t.Errorf("input_items = %v, want the one message", items)
	}
	again := decodeObject(t, second(c.call("GET", "/v1/responses/"+first.str("id"), nil)))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("stored response (-sent +stored)\n%s", diff)
	}
}

// spoken returns what an answer of Responses says.
func spoken(answer object) any { return asObject(answer.list("output")[0])["content"] }

func second[A, B any](_ A, b B) B { return b }

func TestResponsesStoreIsPrivate(t *testing.T) {
	c := start(t, Options{})
	unstored := c.post("/v1/responses", object{"model": sol, "input": "one", "store": false})
	stored := c.post("/v1/responses", object{"model": sol, "input": "other"})
	for name, call := range map[string]struct {
		c  *client
		id string
	}{"store false": {c, unstored.str("id")}, "another tenant": {c.as("key-two"), stored.str("id")}, "no such": {c, "resp_0"}} {
		got := call.c.refused("/v1/responses", object{"model": sol, "input": "two", "previous_response_id": call.id})
		if !strings.HasPrefix(got, "Previous response with id '"+call.id+"' not found.") {
			t.Errorf("%s: %q, want not found", name, got)
		}
	}
}

func TestResponsesConversations(t *testing.T) {
	c := start(t, Options{})
	id := c.post("/v1/conversations", object{"items": []object{user("before")}}).str("id")
	first := c.post("/v1/responses", object{"model": sol, "input": "one", "conversation": id})
	next := c.post("/v1/responses", object{"model": sol, "input": "two", "conversation": object{"id": id}})
	whole := c.post("/v1/responses", object{"model": sol, "input": append(append([]any{user("before"), user("one")}, first.list("output")...), user("two"))})
	if cached(next)[0] != cached(whole)[0] {
		t.Errorf("input in the conversation %v, want %v", cached(next)[0], cached(whole)[0])
	}
	if got := c.refused("/v1/responses", object{"model": sol, "input": "x", "conversation": id, "previous_response_id": "resp_1"}); !strings.HasPrefix(got, "Mutually exclusive") {
		t.Errorf("both: %q, want mutually exclusive", got)
	}
	if resp, _ := c.call("POST", "/v1/responses", object{"model": sol, "input": "x", "conversation": "conv_9"}); resp.StatusCode != 404 {
		t.Errorf("unknown conversation: status %d, want 404", resp.StatusCode)
	}
}

func TestResponsesInputForms(t *testing.T) {
	c := start(t, Options{})
	const path = "/v1/responses/input_tokens"
	asString := c.post(path, object{"model": sol, "input": "hello"})
	asItems := c.post(path, object{"model": sol, "input": []object{message("user", object{"type": "input_text", "text": "hello"})}})
	withIDs := c.post(path, object{"model": sol, "input": []object{{"type": "message", "id": "msg_1", "status": "completed", "role": "user", "content": "hello"}}})
	if asString["input_tokens"] != asItems["input_tokens"] || asString["input_tokens"] != withIDs["input_tokens"] {
		t.Errorf("tokens %v, %v, %v: want the same", asString, asItems, withIDs)
	}
}

func TestResponsesToolTurnWithReasoning(t *testing.T) {
	c := start(t, Options{})
	body := object{"model": sol, "input": []any{user("CALL_TOOL f CALL_TOOL g")}, "include": []any{"reasoning.encrypted_content"}, "store": false,
		"tools": []any{object{"type": "function", "name": "f", "parameters": object{"type": "object"}}, object{"type": "custom", "name": "g"}}}
	var kinds []string
	for range 3 {
		answer := c.post("/v1/responses", body)
		next := append(body.list("input"), answer.list("output")...)
		for _, item := range objects(answer.list("output")) {
			kinds = append(kinds, item.str("type"))
			if id := item.str("call_id"); id != "" {
				next = append(next, map[string]any{"type": item.str("type") + "_output", "call_id": id, "output": "ok"})
			}
		}
		body = with(body, "input", next)
	}
	want := []string{"reasoning", "function_call", "reasoning", "custom_tool_call", "reasoning", "message"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("items (-want +got)\n%s", diff)
	}
}

func TestResponsesCompact(t *testing.T) {
	c := start(t, Options{})
	answer := c.post("/v1/responses/compact", object{"model": sol, "input": []object{user("a"), assistant("b"), user("c")}})
	output := answer.list("output")
	if answer.str("object") != "response.compaction" || len(output) != 3 || asObject(output[2]).str("type") != "compaction" {
		t.Errorf("compaction = %v, want two user messages and a compaction item", answer)
	}
	c.post("/v1/responses", object{"model": sol, "input": append(output, user("d"))})
}

func TestResponsesRefusals(t *testing.T) {
	c := start(t, Options{})
	in := func(items ...object) object { return object{"model": sol, "input": items} }
	call, out := object{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, object{"type": "function_call_output", "call_id": "c1", "output": "x"}
	for _, test := range []struct {
		name string
		body any
		want string
	}{
		{"no JSON", []byte("["), "We could not parse the JSON body"},
		{"no model", object{"input": "a"}, "Missing required parameter: 'model'."},
		{"no input", object{"model": sol}, "Missing required parameter: 'input'."},
		{"input is a number", object{"model": sol, "input": 1}, "Invalid type for 'input'"},
		{"item is no object", object{"model": sol, "input": []any{1}}, "Invalid type for 'input'"},
		{"role", in(object{"role": "robot", "content": "a"}), "Invalid value: 'robot'."},
		{"content is a number", in(object{"role": "user", "content": 1}), "Invalid type for 'input[0].content'"},
		{"output without call", in(out), "No tool call found for function call output with call_id c1."},
		{"call without output", in(call, user("a")), "No tool output found for function call c1."},
		{"reasoning last", in(user("a"), object{"type": "reasoning", "id": "rs_1"}), "Item 'rs_1' of type 'reasoning' was provided without its required following item."},
		{"reasoning torn off", in(object{"type": "reasoning", "id": "rs_1"}, user("a")), "Item 'rs_1' of type 'reasoning'"},
	} {
		if got := c.refused("/v1/responses", test.body); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	c.post("/v1/responses", in(user("a"), call, out))
}

func TestResponsesIncomplete(t *testing.T) {
	c := start(t, Options{})
	answer := c.post("/v1/responses", object{"model": sol, "input": "a", "max_output_tokens": 2})
	if answer.str("status") != "incomplete" || answer.obj("incomplete_details").str("reason") != "max_output_tokens" {
		t.Errorf("answer within 2 tokens = %v, want incomplete", answer)
	}
	_, raw := c.call("POST", "/v1/responses", object{"model": sol, "input": "a", "max_output_tokens": 2, "stream": true})
	if !strings.Contains(string(raw), "event: response.incomplete\n") {
		t.Errorf("stream within 2 tokens = %s, want response.incomplete", raw)
	}
}

func TestInvariant6_ResponsesStoreIsBounded(t *testing.T) {
	s := newResponseStore()
	for i := range 3 {
		s.put(storeKey{"t", string(rune('a' + i))}, &stored{size: maxStoredBytes / 2})
	}
	if _, e := s.get("t", "a"); e == nil || len(s.order) != 2 || s.bytes != maxStoredBytes {
		t.Errorf("the store holds %v with %d bytes, want the latest two", s.order, s.bytes)
	}
	s.put(storeKey{"t", "c"}, &stored{size: 1})
	if s.bytes != maxStoredBytes/2+1 {
		t.Errorf("after writing again the store counts %d bytes, want %d", s.bytes, maxStoredBytes/2+1)
	}
}

func TestOtherPaths(t *testing.T) {
	c := start(t, Options{})
	for _, test := range []struct {
		method, path string
		header       []string
		status       int
		want         string
	}{
		{"HEAD", "/api/hello", nil, 200, ""},
		{"GET", "/v1/models", nil, 200, `"gpt-5.6-sol"`},
		{"GET", "/v1/models?limit=1000", []string{"x-api-key", "k"}, 200, `"claude-opus-5-5"`},
		{"GET", "/v1/responses", []string{"connection", "upgrade", "upgrade", "websocket"}, 426, `"error"`},
		{"GET", "/v1/nothing", nil, 404, `"message":"Not found: GET /v1/nothing"`},
		{"POST", "/prefix/messages", nil, 400, `"request body is not valid JSON`},
		{"POST", "/anything/v1/chat/completions", nil, 400, `could not parse the JSON body`},
	} {
		resp, raw := c.call(test.method, test.path, nil, test.header...)
		if resp.StatusCode != test.status || !strings.Contains(string(raw), strings.TrimPrefix(test.want, `"request`)) {
			t.Errorf("%s %s = %d %s, want %d and %s", test.method, test.path, resp.StatusCode, raw, test.status, test.want)
		}
	}
	if resp, _ := c.as("").call("GET", "/v1/models", nil); resp.StatusCode != 401 {
		t.Errorf("models without a key = %d, want 401", resp.StatusCode)
	}
}
