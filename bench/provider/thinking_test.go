package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// thoughtful is a request whose answer begins with a thinking block.
func thoughtful(model string) object {
	return object{
		"model": model, "max_tokens": 1000, "thinking": object{"type": "adaptive"},
		"system":   "be brief",
		"tools":    []any{object{"name": "f", "description": "d", "input_schema": object{"type": "object", "a": 1}}},
		"messages": []any{user("first"), assistant("yes"), user("second")},
	}
}

// continued returns the request that carries on after an answer.
func continued(o, answer object) object {
	return edited(o, func(o object) {
		o["messages"] = append(o.list("messages"), object{"role": "assistant", "content": answer["content"]}, user("third"))
	})
}

func firstContent(o object, i int, content any) {
	asObject(o.list("messages")[i])["content"] = content
}

func TestThinkingIsBoundToWhatCameBefore(t *testing.T) {
	const bound = "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. " +
		"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	for _, test := range []struct {
		name   string
		change func(object)
		want   string
	}{
		{"nothing", func(object) {}, ""},
		{"appended", func(o object) { o["messages"] = append(o.list("messages"), user("fourth")) }, ""},
		{"system as blocks", func(o object) { o["system"] = []any{object{"type": "text", "text": "be brief"}} }, ""},
		{"content as blocks, marked", func(o object) {
			firstContent(o, 0, []any{object{"text": "first", "type": "text", "cache_control": aMark}})
		}, ""},
		{"other parameters", func(o object) { o["temperature"], o["max_tokens"], o["stream"] = 1, 5, true }, ""},
		{"tool marked", func(o object) { asObject(o.list("tools")[0])["cache_control"] = aMark }, ""},
		{"system changed", func(o object) { o["system"] = "be long" }, bound},
		{"system gone", func(o object) { delete(o, "system") }, bound},
		{"tool changed", func(o object) { asObject(o.list("tools")[0])["description"] = "e" }, bound},
		{"tools gone", func(o object) { delete(o, "tools") }, bound},
		{"message edited", func(o object) { firstContent(o, 0, "other") }, bound},
		{"message removed", func(o object) { o["messages"] = o.list("messages")[2:] },
			strings.Replace(bound, "messages.3", "messages.1", 1)},
		{"message inserted", func(o object) { o["messages"] = append([]any{user("opener")}, o.list("messages")...) },
			strings.Replace(bound, "messages.3", "messages.4", 1)},
		{"text block added", func(o object) { firstContent(o, 2, []any{text("a", 10), text("b", 10)}) }, bound},
		{"messages swapped", func(o object) { m := o.list("messages"); m[0], m[2] = m[2], m[0] }, bound},
		{"thinking text changed", func(o object) {
			asObject(asObject(o.list("messages")[3]).list("content")[0])["thinking"] = "other"
		}, "messages.3.content.0: Invalid `signature` in `thinking` block"},
		{"foreign signature", func(o object) {
			asObject(asObject(o.list("messages")[3]).list("content")[0])["signature"] = "RXJvbg=="
		}, "messages.3.content.0: Invalid `signature` in `thinking` block"},
		{"thinking removed", func(o object) {
			m := asObject(o.list("messages")[3])
			m["content"] = m.list("content")[1:]
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, Options{})
			first := thoughtful(opus)
			next := edited(continued(first, c.post("/v1/messages", first)), test.change)
			for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
				resp, raw := c.call("POST", path, next)
				got := ""
				if resp.StatusCode != 200 {
					got = decodeObject(t, raw).obj("error").str("message")
				}
				if got != test.want {
					t.Errorf("%s = %d %q, want %q", path, resp.StatusCode, got, test.want)
				}
			}
		})
	}
}

func TestThinkingBindsOnTheModelsThatDo(t *testing.T) {
	for model, binds := range map[string]bool{
		"claude-fable-5-1": true, "claude-fable-5-2": true, "claude-opus-5-5": true, "claude-sonnet-5-5": true, "claude-haiku-5-5-20261001": true,
		"claude-fable-5": false, "claude-mythos-5-1": false, "claude-opus-5": false, "claude-sonnet-5": false, "claude-opus-4-8": false, "some-model": false,
	} {
		c := start(t, Options{})
		first := thoughtful(model)
		next := edited(continued(first, c.post("/v1/messages", first)), func(o object) { o["system"] = "changed" })
		resp, raw := c.call("POST", "/v1/messages", next)
		if got := strings.Contains(string(raw), "bound to a different conversation"); got != binds {
			t.Errorf("%s: status %d, bound = %v, want %v", model, resp.StatusCode, got, binds)
		}
	}
}

func TestThinkingTurnsChain(t *testing.T) {
	c := start(t, Options{})
	body := thoughtful(opus)
	for range 3 {
		body = continued(body, c.post("/v1/messages", body))
	}
	dropped := edited(body, func(o object) { // a middle thinking block
		m := asObject(o.list("messages")[5])
		m["content"] = m.list("content")[1:]
	})
	if got := c.refused("/v1/messages", dropped); !strings.HasPrefix(got, "messages.7.content.0: Invalid `signature`") {
		t.Errorf("without the middle thinking block: %q, want a refusal at messages.7", got)
	}
}

func TestThinkingDropBlock(t *testing.T) {
	c := start(t, Options{})
	first := thoughtful(opus)
	next := edited(continued(first, c.post("/v1/messages", first)), func(o object) {
		o["system"] = "changed"
		o["thinking"] = object{"type": "adaptive", "block_binding": object{"prefix_mismatch_behavior": "drop_block"}}
	})
	if got := c.refused("/v1/messages", next); got != "thinking.block_binding: Extra inputs are not permitted" {
		t.Errorf("without the beta: %q, want a refusal of the field", got)
	}
	answer := c.post("/v1/messages", next, "anthropic-beta", "other-beta, "+bindingBeta)
	want := []any{map[string]any{"type": "thinking_dropped", "path": "messages.3.content.0", "reason": "prefix_binding_mismatch"}}
	if diff := cmp.Diff(want, answer.list("input_transformations")); diff != "" {
		t.Errorf("input_transformations (-want +got)\n%s", diff)
	}
	unchanged := c.post("/v1/messages", first, "anthropic-beta", bindingBeta)
	if got, ok := unchanged["input_transformations"].([]any); !ok || len(got) != 0 {
		t.Errorf("input_transformations = %v, want an empty list", unchanged["input_transformations"])
	}
}

func TestThinkingOfAnotherModelOrAccountIsDropped(t *testing.T) {
	for _, test := range []struct {
		name, model, key, reason string
	}{
		{"another model", "claude-fable-5-2", "key-one", mismatchModel},
		{"another account", "claude-sonnet-5-5", "key-two", mismatchAccount},
		{"the same", "claude-sonnet-5-5", "key-one", ""},
	} {
		c := start(t, Options{})
		first := thoughtful("claude-sonnet-5-5")
		next := continued(first, c.post("/v1/messages", first))
		next["model"] = test.model
		answer := c.as(test.key).post("/v1/messages", next, "anthropic-beta", bindingBeta)
		got := ""
		for _, change := range objects(answer.list("input_transformations")) {
			got = change.str("reason")
		}
		if got != test.reason {
			t.Errorf("%s: reason %q, want %q", test.name, got, test.reason)
		}
	}
}

// A compaction stands for the messages before it: they may go.
func TestThinkingSurvivesCompaction(t *testing.T) {
	c := start(t, Options{})
	first := thoughtful(opus)
	first["messages"] = []any{user("old"), message("assistant", object{"type": "compaction", "content": "summary"}), user("second")}
	next := edited(continued(first, c.post("/v1/messages", first)), func(o object) { o["messages"] = o.list("messages")[1:] })
	c.post("/v1/messages", next)
	next["system"] = "changed"
	c.refused("/v1/messages", next)
}

func TestSignatureParses(t *testing.T) {
	m := &messagesRequest{name: opus, tenant: "t"}
	sig := m.sign("text", digest{1})
	if got, ok := parseSignature(sig.String()); !ok || got != sig {
		t.Errorf("parseSignature(%q) = %v, %v, want it back", sig, got, ok)
	}
	if b, err := json.Marshal(sig.String()); err != nil || len(b) < signatureSize {
		t.Errorf("signature %s: %v", b, err)
	}
}
