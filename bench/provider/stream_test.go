package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sseEvent is an event as a client reads it.
type sseEvent struct{ name, data string }

// readStream parses an event stream by the rules of WHATWG, any line ends.
func readStream(raw []byte) []sseEvent {
	var out []sseEvent
	var e sseEvent
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(raw))
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if e.data != "" {
				out = append(out, e)
			}
			e = sseEvent{}
		case field == "event":
			e.name = value
		case field == "data":
			e.data += value
		}
	}
	return out
}

// bothWays sends a request whole and streamed, each to a provider of its own
// where the same requests came before, and returns both answers.
func bothWays(t *testing.T, path string, body object, before ...object) (whole object, stream []sseEvent) {
	t.Helper()
	for _, streamed := range []bool{false, true} {
		c := start(t, Options{Now: newClock().Now})
		for _, b := range before {
			c.post(path, b)
		}
		_, raw := c.call("POST", path, with(body, "stream", streamed))
		if streamed {
			return whole, readStream(raw)
		}
		whole = decodeObject(t, raw)
	}
	return nil, nil
}

func TestInvariant4_AnthropicStreamIsTheWholeAnswer(t *testing.T) {
	warm := ask(opus, []object{text("s", 1000, "1h")}, user("x"))
	body := ask(opus, []object{text("s", 1000, "1h")}, message("user", text("a", 500, "5m"), object{"type": "text", "text": "CALL_TOOL f"}))
	body["max_tokens"] = 1000
	tooled := with(body, "tools", []object{{"name": "f", "input_schema": object{"type": "object", "required": []any{"a"}}}})
	for name, body := range map[string]object{"text": body, "thinking": with(body, "thinking", object{"type": "adaptive"}), "tool": with(tooled, "thinking", object{"type": "adaptive"})} {
		t.Run(name, func(t *testing.T) {
			whole, stream := bothWays(t, "/v1/messages", body, warm)
			if diff := cmp.Diff(anonymous(whole, "content"), anonymous(assembleMessage(t, stream), "content")); diff != "" {
				t.Errorf("answer (-whole +stream)\n%s", diff)
			}
			if whole.obj("usage")["cache_read_input_tokens"] != json.Number("1000") && name != "tool" {
				t.Errorf("usage %v, want 1000 read", whole["usage"])
			}
		})
	}
}

// assembleMessage puts a Messages stream together as the SDKs do.
func assembleMessage(t *testing.T, stream []sseEvent) object {
	t.Helper()
	var m object
	var names []string
	partial := ""
	for _, e := range stream {
		d := decodeObject(t, []byte(e.data))
		if e.name != d.str("type") {
			t.Errorf("event %q has type %q", e.name, d.str("type"))
		}
		names = append(names, e.name)
		switch e.name {
		case "message_start":
			m = d.obj("message")
			if m.obj("usage")["cache_read_input_tokens"] == nil {
				t.Errorf("message_start has no cache usage: %s", e.data)
			}
		case "content_block_start":
			m["content"] = append(m.list("content"), d["content_block"])
			partial = ""
		case "content_block_delta":
			b, delta := asObject(m.list("content")[indexOf(t, d)]), d.obj("delta")
			for _, field := range []string{"text", "thinking", "signature"} {
				if s, ok := delta[field].(string); ok {
					b[field] = b.str(field) + s
				}
			}
			if s, ok := delta["partial_json"].(string); ok {
				partial += s
				b["input"] = nil
				if o, err := parseObject([]byte(partial)); err == nil {
					b["input"] = map[string]any(o)
				}
			}
		case "message_delta":
			m["stop_reason"], m["usage"] = d.obj("delta")["stop_reason"], d["usage"]
		}
	}
	if got := strings.Join(names[:2], " "); got != "message_start ping" || names[len(names)-1] != "message_stop" {
		t.Errorf("events %v, want message_start, ping, …, message_stop", names)
	}
	return m
}

func indexOf(t *testing.T, d object) int {
	t.Helper()
	n, ok := d.num("index")
	if !ok {
		t.Fatalf("event without index: %v", d)
	}
	return int(n)
}

func TestInvariant4_ChatStreamIsTheWholeAnswer(t *testing.T) {
	warm := chat(sol, said("developer", "d", 2000), said("user", "x", 100))
	plain := chat(sol, said("developer", "d", 2000), user("CALL_TOOL f"))
	plain["stream_options"] = object{"include_usage": true}
	tools := []object{{"type": "function", "function": object{"name": "f", "parameters": object{"type": "object", "required": []any{"a"}}}}}
	for name, body := range map[string]object{"text": plain, "tool": with(plain, "tools", tools)} {
		t.Run(name, func(t *testing.T) {
			whole, stream := bothWays(t, "/v1/chat/completions", body, warm)
			want := asObject(whole.list("choices")[0])
			content, arguments, finish, usage := "", "", "", any(nil)
			for i, e := range stream[:len(stream)-1] {
				d := decodeObject(t, []byte(e.data))
				if d.str("object") != "chat.completion.chunk" || d["created"] != whole["created"] {
					t.Errorf("chunk %d is %s", i, e.data)
				}
				if _, has := d["usage"]; !has {
					t.Errorf("chunk %d has no usage member, want null until the last", i)
				}
				if last := i == len(stream)-2; last != (d["usage"] != nil) || last != (len(d.list("choices")) == 0) {
					t.Errorf("chunk %d of %d: usage %v with %d choices", i, len(stream), d["usage"], len(d.list("choices")))
				}
				usage = d["usage"]
				for _, ch := range objects(d.list("choices")) {
					delta := ch.obj("delta")
					content += delta.str("content")
					finish += ch.str("finish_reason")
					for _, call := range objects(delta.list("tool_calls")) {
						arguments += call.obj("function").str("arguments")
					}
				}
			}
			if stream[len(stream)-1].data != "[DONE]" {
				t.Errorf("the stream ends in %q, want [DONE]", stream[len(stream)-1].data)
			}
			if diff := cmp.Diff(whole["usage"], usage); diff != "" {
				t.Errorf("usage (-whole +stream)\n%s", diff)
			}
			wantArguments := ""
			for _, call := range objects(want.obj("message").list("tool_calls")) {
				wantArguments = call.obj("function").str("arguments")
			}
			if content != want.obj("message").str("content") || arguments != wantArguments || finish != want.str("finish_reason") {
				t.Errorf("stream says %q, calls with %q, ends with %q; whole is %v", content, arguments, finish, want)
			}
		})
	}
}

func TestChatStreamHasNoUsageUnlessAsked(t *testing.T) {
	c := start(t, Options{})
	_, raw := c.call("POST", "/v1/chat/completions", with(chat(sol, user("a")), "stream", true))
	if strings.Contains(string(raw), "usage") {
		t.Errorf("stream without include_usage = %s, want no usage", raw)
	}
}

func TestInvariant4_ResponsesStreamIsTheWholeAnswer(t *testing.T) {
	warm := object{"model": sol, "instructions": sized("i", 1000), "input": []object{said("developer", "d", 2000), said("user", "x", 100)}}
	plain := object{"model": sol, "instructions": sized("i", 1000), "input": []object{said("developer", "d", 2000), user("CALL_TOOL f")}}
	reasoned := with(plain, "include", []any{"reasoning.encrypted_content"})
	tools := []object{{"type": "function", "name": "f", "parameters": object{"type": "object", "required": []any{"a"}}}}
	for name, body := range map[string]object{"text": plain, "reasoning": reasoned, "function": with(reasoned, "tools", tools),
		"custom": with(plain, "tools", []object{{"type": "custom", "name": "f"}})} {
		t.Run(name, func(t *testing.T) {
			whole, stream := bothWays(t, "/v1/responses", body, warm)
			var items []any
			deltas := ""
			for i, e := range stream {
				d := decodeObject(t, []byte(e.data))
				if n, ok := d.num("sequence_number"); !ok || int(n) != i || d.str("type") != e.name {
					t.Errorf("event %d: %s %s", i, e.name, e.data)
				}
				deltas += d.str("delta")
				if e.name == "response.output_item.done" {
					items = append(items, d["item"])
				}
			}
			end := decodeObject(t, []byte(stream[len(stream)-1].data))
			if stream[0].name != "response.created" || end.str("type") != "response.completed" {
				t.Errorf("stream from %s to %s, want response.created to response.completed", stream[0].name, end.str("type"))
			}
			if diff := cmp.Diff(end.obj("response")["output"], any(items)); diff != "" {
				t.Errorf("items (-response +events)\n%s", diff)
			}
			if diff := cmp.Diff(anonymous(whole, "output"), anonymous(end.obj("response"), "output")); diff != "" {
				t.Errorf("answer (-whole +stream)\n%s", diff)
			}
			if !strings.Contains(string(canonical(whole["output"])), string(canonical(deltas))) {
				t.Errorf("deltas make %q, the answer is %s", deltas, canonical(whole["output"]))
			}
		})
	}
}

// anonymous takes out the ids, also of the items, which are made from the body, which says stream.
func anonymous(o object, items string) any {
	return edited(o, func(o object) {
		delete(o, "id")
		for _, item := range objects(o.list(items)) {
			delete(item, "id")
			delete(item, "call_id")
		}
	})
}

func TestAnswersAreTheSameEachTime(t *testing.T) {
	for path, body := range map[string]object{
		"/v1/messages":         with(ask(opus, nil, user("a")), "thinking", object{"type": "adaptive"}),
		"/v1/chat/completions": chat(sol, user("a")),
		"/v1/responses":        {"model": sol, "input": "a"},
	} {
		var answers [2][]byte
		for i := range answers {
			_, answers[i] = start(t, Options{Now: newClock().Now}).call("POST", path, body)
		}
		if string(answers[0]) != string(answers[1]) {
			t.Errorf("%s: two answers to one request:\n%s\n%s", path, answers[0], answers[1])
		}
	}
}
