package provider

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-9236c7ca/preface/bench/cache"
)

const (
	sol  = "gpt-5.6-sol"
	gpt5 = "gpt-5.4"
)

// said is a chat message of so many tokens.
func said(role, letter string, tokens int) object {
	return object{"role": role, "content": sized(letter, tokens)}
}

// pinned is a chat message that ends in an explicit breakpoint.
func pinned(role, letter string, tokens int) object {
	return message(role, object{"type": "text", "text": sized(letter, tokens), "prompt_cache_breakpoint": object{"mode": "explicit"}})
}

func chat(model string, messages ...object) object {
	return object{"model": model, "messages": messages}
}

// with returns a copy with one more member.
func with(o object, name string, v any) object {
	return edited(o, func(o object) { o[name] = v })
}

// chatted sends a chat request and returns its input classes.
func (c *client) chatted(body object) Tokens {
	c.Helper()
	var u chatUsage
	if err := json.Unmarshal(mustJSON(c.post("/v1/chat/completions", body)["usage"]), &u); err != nil {
		c.Fatal(err)
	}
	t := Tokens{CacheRead: u.Details.Cached}
	if u.Details.Written != nil {
		t.Write30m = *u.Details.Written
	}
	t.Fresh = u.Prompt - t.CacheRead - t.Write30m
	return t
}

func (c *client) wantChatted(what string, body object, want Tokens) {
	c.Helper()
	if diff := cmp.Diff(want, c.chatted(body)); diff != "" {
		c.Errorf("%s: input (-want +got)\n%s", what, diff)
	}
}

func TestOpenAICacheFollowsAConversation(t *testing.T) {
	c := start(t, Options{})
	dev, q1, a1, q2 := said("developer", "d", 1000), said("user", "a", 500), said("assistant", "b", 50), said("user", "c", 100)
	c.wantChatted("first", chat(sol, dev, q1), Tokens{Write30m: 1500})
	c.wantChatted("again", chat(sol, dev, q1), Tokens{CacheRead: 1500})
	c.wantChatted("next turn", chat(sol, dev, q1, a1, q2), Tokens{CacheRead: 1500, Write30m: 150})
	c.wantChatted("ends with the assistant", chat(sol, dev, q1, a1, q2, said("assistant", "e", 30)), Tokens{CacheRead: 1650, Fresh: 30})
	c.wantChatted("message extended", chat(sol, dev, said("user", "a", 501)), Tokens{Write30m: 1501})
}

// Another session with the same opening shares nothing that ends at a boundary
// of its own, unless a breakpoint ends the opening (facts/providers.md 2.4).
func TestOpenAICacheSharesOpeningsOnlyAtBreakpoints(t *testing.T) {
	c := start(t, Options{})
	open := func(opener object, q string) object {
		return chat(sol, said("developer", "d", 1000), opener, said("user", q, 500))
	}
	bare, marked := said("user", "o", 1000), pinned("user", "o", 1000)
	c.wantChatted("implicit", open(bare, "x"), Tokens{Write30m: 2500})
	c.wantChatted("implicit, other question", open(bare, "y"), Tokens{Write30m: 2500})
	c.wantChatted("with a breakpoint", open(marked, "z"), Tokens{Write30m: 2500})
	c.wantChatted("breakpoint, other question", open(marked, "w"), Tokens{CacheRead: 2000, Write30m: 500})
}

func TestOpenAICacheMinimum(t *testing.T) {
	c := start(t, Options{})
	c.wantChatted("below", chat(sol, said("user", "a", 1023)), Tokens{Fresh: 1023})
	c.wantChatted("below again", chat(sol, said("user", "a", 1023)), Tokens{Fresh: 1023})
	c.wantChatted("at", chat(sol, said("user", "a", 1024)), Tokens{Write30m: 1024})
	c.wantChatted("at again", chat(sol, said("user", "a", 1024)), Tokens{CacheRead: 1024})
}

func TestOpenAICacheLifetime(t *testing.T) {
	clock := newClock()
	c := start(t, Options{Now: clock.Now})
	body := chat(sol, said("user", "a", 2000))
	c.wantChatted("write", body, Tokens{Write30m: 2000})
	for range 2 {
		clock.advance(30*time.Minute - time.Second)
		c.wantChatted("alive", body, Tokens{CacheRead: 2000})
	}
	clock.advance(30 * time.Minute)
	c.wantChatted("dead", body, Tokens{Write30m: 2000})
}

func TestOpenAICacheScope(t *testing.T) {
	base := chat(sol, said("user", "a", 2000))
	for _, test := range []struct {
		name   string
		body   object
		shared bool
	}{
		{"same", base, true},
		{"model", with(base, "model", "gpt-6.2-sol"), false},
		{"prompt_cache_key", with(base, "prompt_cache_key", "k"), false},
		{"tools", with(base, "tools", []object{{"type": "function", "function": object{"name": "f"}}}), false},
		{"parallel_tool_calls", with(base, "parallel_tool_calls", false), false},
		{"the default of it", with(base, "parallel_tool_calls", true), true},
		{"effort", with(base, "reasoning_effort", "high"), false},
		{"verbosity", with(base, "verbosity", "low"), false},
		{"format", with(base, "response_format", object{"type": "json_object"}), false},
		{"temperature", with(base, "temperature", 0.1), true},
		{"content as parts", chat(sol, message("user", object{"type": "text", "text": sized("a", 2000)})), true},
		{"role", chat(sol, said("developer", "a", 2000)), false},
	} {
		c := start(t, Options{})
		c.chatted(base)
		if got := c.chatted(test.body).CacheRead > 0; got != test.shared {
			t.Errorf("%s: shared = %v, want %v", test.name, got, test.shared)
		}
		if got := c.as("key-two").chatted(base).CacheRead; got != 0 {
			t.Errorf("another organization read %d tokens, want 0", got)
		}
	}
}

func TestOpenAICacheModes(t *testing.T) {
	explicit := func(messages ...object) object {
		return with(chat(sol, messages...), "prompt_cache_options", object{"mode": "explicit"})
	}
	c := start(t, Options{})
	c.wantChatted("explicit without marks", explicit(said("user", "a", 2000)), Tokens{Fresh: 2000})
	c.wantChatted("again", explicit(said("user", "a", 2000)), Tokens{Fresh: 2000})
	c.wantChatted("explicit with a mark", explicit(pinned("user", "b", 2000), said("user", "c", 100)), Tokens{Write30m: 2000, Fresh: 100})
	c.wantChatted("implicit entries are lost", chat(sol, said("user", "d", 2000)), Tokens{Write30m: 2000})
	c.wantChatted("to explicit", explicit(said("user", "d", 2000)), Tokens{Fresh: 2000})
}

func TestOpenAICacheWritesFourTimes(t *testing.T) {
	for _, test := range []struct {
		mode string
		want []bool // which of five marks was written
		tail bool   // whether the end of the last message was
	}{
		{"implicit", []bool{true, true, true, false, false}, true},
		{"explicit", []bool{true, true, true, true, false}, false},
	} {
		c := start(t, Options{})
		options := object{"mode": test.mode}
		var opening []object
		for i := range 5 {
			opening = append(opening, pinned("user", string(rune('a'+i)), 2000))
		}
		body := chat(sol, append(opening, said("user", "z", 100))...)
		c.chatted(with(body, "prompt_cache_options", options))
		for i, want := range test.want {
			probe := chat(sol, append(append([]object{}, opening[:i+1]...), said("user", "y", 10))...)
			got := c.chatted(with(probe, "prompt_cache_options", object{"mode": "explicit"})).CacheRead == int64(2000*(i+1))
			if got != want {
				t.Errorf("%s: mark %d was written = %v, want %v", test.mode, i+1, got, want)
			}
			c = start(t, Options{}) // the probe wrote too
			c.chatted(with(body, "prompt_cache_options", options))
		}
		if got := c.chatted(body).CacheRead == 10100; got != test.tail {
			t.Errorf("%s: the end was written = %v, want %v", test.mode, got, test.tail)
		}
	}
}

// Parts of one message are no messages: what one boundary covers, the other does not.
func TestOpenAICacheTellsPartsFromMessages(t *testing.T) {
	c := start(t, Options{})
	part := func(n int) object { return object{"type": "text", "text": sized("a", n)} }
	c.wantChatted("two messages", chat(sol, message("user", part(2000)), message("user", part(100))), Tokens{Write30m: 2100})
	c.wantChatted("two parts", chat(sol, message("user", part(2000), part(100))), Tokens{Write30m: 2100})
}

// The ids of items are not shown to the model.
func TestOpenAICacheIgnoresItemIDs(t *testing.T) {
	c := start(t, Options{})
	body := func(id string) object {
		return object{"model": sol, "store": false, "input": []object{
			{"type": "message", "id": "msg_" + id, "role": "user", "content": sized("a", 2000)},
			{"type": "function_call", "id": "fc_" + id, "call_id": "c", "name": "f", "arguments": "{}"},
			{"type": "function_call_output", "id": "fco_" + id, "call_id": "c", "output": "x"}}}
	}
	first, next := c.post("/v1/responses", body("1")), c.post("/v1/responses", body("2"))
	if cached(next)[0] != cached(first)[0] || cached(next)[1] != cached(first)[0] {
		t.Errorf("with other ids %v of %v tokens were read, want all", cached(next)[1], cached(next)[0])
	}
}

// Boundaries are user messages, the last of a group of tool responses, and the
// last of the initial developer group; a later developer message is none.
func TestOpenAIEligibleMessages(t *testing.T) {
	for _, test := range []struct {
		name  string
		roles string
		want  []int
		dev   int
	}{
		{"a question", "ssu", []int{1, 2}, 1},
		{"a tool group", "uattau", []int{0, 3, 5}, -1},
		{"a later developer message", "duads", []int{0, 1}, 0},
		{"developers alone", "dd", []int{1}, 1},
		{"the assistant first", "adu", []int{2}, -1},
	} {
		tr := newTranscript(gptOf(sol), nil)
		for _, r := range test.roles {
			tr.add(block{kind: "x"})
			tr.endItem(map[rune]string{'s': "system", 'd': "developer", 'u': "user", 'a': "assistant", 't': "tool"}[r])
		}
		if diff := cmp.Diff(test.want, tr.at.Messages); diff != "" || tr.at.Developer != test.dev {
			t.Errorf("%s: boundaries %v, developer %d, want %v, %d", test.name, tr.at.Messages, tr.at.Developer, test.want, test.dev)
		}
	}
}

func TestOpenAIOlderModels(t *testing.T) {
	for _, test := range []struct {
		model      string
		tokens     int
		cachedSame int64 // of the same request
		shared     int64 // of another question behind the first 1,500 tokens
	}{
		{"gpt-5.4", 3000, 2944, 1408},
		{"gpt-5.5", 3000, 2048, 0},
		{"gpt-4.1", 1100, 1024, 0},
		{"gpt-4.1", 1000, 0, 0},
		{"some-model", 3000, 2944, 1408},
	} {
		c := start(t, Options{})
		body := func(q string) object {
			return chat(test.model, said("developer", "d", min(1500, test.tokens-10)), said("user", q, max(10, test.tokens-1500)))
		}
		total := int64(test.tokens)
		c.wantChatted(test.model, body("a"), Tokens{Fresh: total})
		c.wantChatted(test.model+" again", body("a"), Tokens{CacheRead: test.cachedSame, Fresh: total - test.cachedSame})
		if got := c.chatted(body("b")).CacheRead; got != test.shared && test.tokens == 3000 {
			t.Errorf("%s: another question read %d tokens, want %d", test.model, got, test.shared)
		}
		_, raw := c.call("POST", "/v1/chat/completions", body("a"))
		if strings.Contains(string(raw), "cache_write_tokens") {
			t.Errorf("%s reports cache writes: %s", test.model, raw)
		}
	}
}

func TestOpenAIOlderModelsRouteByKey(t *testing.T) {
	c := start(t, Options{})
	body := chat(gpt5, said("user", "a", 2000))
	c.chatted(with(body, "prompt_cache_key", "k"))
	if got := c.chatted(body).CacheRead; got != 0 {
		t.Errorf("without the key, %d tokens were read, want 0", got)
	}
	if got := c.chatted(with(body, "prompt_cache_key", "k")).CacheRead; got != 1920 {
		t.Errorf("with the key, %d tokens were read, want 1920", got)
	}
}

func TestOpenAIOlderModelsRetention(t *testing.T) {
	for retention, life := range map[string]time.Duration{"in_memory": cache.LifetimeInMemory, "24h": cache.Lifetime24h, "": cache.Lifetime24h} {
		clock := newClock()
		c := start(t, Options{Now: clock.Now})
		body := chat(gpt5, said("user", "a", 2000))
		if retention != "" {
			body["prompt_cache_retention"] = retention
		}
		c.chatted(body)
		clock.advance(life - time.Second)
		if got := c.chatted(body).CacheRead; got != 1920 {
			t.Errorf("retention %q: %d tokens read before its end, want 1920", retention, got)
		}
		clock.advance(life)
		if got := c.chatted(body).CacheRead; got != 0 {
			t.Errorf("retention %q: %d tokens read at its end, want 0", retention, got)
		}
	}
}

func TestOpenAICacheRefusals(t *testing.T) {
	c := start(t, Options{})
	for _, test := range []struct {
		name, path string
		body       object
		want       string
	}{
		{"breakpoint on an older model", "/v1/chat/completions", chat(gpt5, pinned("user", "a", 10)), "Unknown parameter: 'messages[0].content[0].prompt_cache_breakpoint'."},
		{"options on an older model", "/v1/chat/completions", with(chat(gpt5, said("user", "a", 10)), "prompt_cache_options", object{"mode": "implicit"}), "Unknown parameter: 'prompt_cache_options'."},
		{"the same in Responses", "/v1/responses", object{"model": gpt5, "input": []object{message("user", object{"type": "input_text", "text": "a", "prompt_cache_breakpoint": object{"mode": "explicit"}})}}, "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'."},
		{"breakpoint on output", "/v1/responses", object{"model": sol, "input": []object{message("assistant", object{"type": "output_text", "text": "a", "prompt_cache_breakpoint": object{"mode": "explicit"}}), user("b")}}, "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'."},
		{"breakpoint of another mode", "/v1/responses", object{"model": sol, "input": []object{message("user", object{"type": "input_text", "text": "a", "prompt_cache_breakpoint": object{"mode": "x"}})}}, "Invalid value for 'input[0].content[0].prompt_cache_breakpoint.mode'"},
		{"prewarm in Chat", "/v1/chat/completions", with(chat(sol, user("a")), "prompt_cache_options", object{"prewarm": true}), "Unknown parameter: 'prompt_cache_options.prewarm'."},
		{"ttl", "/v1/responses", object{"model": sol, "input": "a", "prompt_cache_options": object{"ttl": "12h"}}, "Invalid value for 'prompt_cache_options.ttl'"},
		{"long key", "/v1/responses", object{"model": sol, "input": "a", "prompt_cache_key": strings.Repeat("k", 65)}, "Invalid 'prompt_cache_key': string too long."},
		{"retention in memory on 5.5", "/v1/responses", object{"model": "gpt-5.5", "input": "a", "prompt_cache_retention": "in_memory"}, "Invalid value for 'prompt_cache_retention'"},
	} {
		if got := c.refused(test.path, test.body); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestOpenAIPrewarmAndHalfDay(t *testing.T) {
	clock := newClock()
	c := start(t, Options{Now: clock.Now})
	body := object{"model": "gpt-6.2-sol", "input": []object{said("developer", "d", 2000)}, "prompt_cache_options": object{"prewarm": true, "ttl": "12h"}}
	answer := c.post("/v1/responses", body)
	if got := answer.list("output"); len(got) != 0 {
		t.Errorf("prewarm said %v, want nothing", got)
	}
	_, all := c.p.Totals()
	if want := (Tokens{Write12h: 2000}); all.Tokens != want {
		t.Errorf("prewarm used %+v, want %+v", all.Tokens, want)
	}
	clock.advance(11 * time.Hour)
	turn := c.post("/v1/responses", object{"model": "gpt-6.2-sol", "input": []object{said("developer", "d", 2000), user("q")}})
	if got := turn.obj("usage").obj("input_tokens_details")["cached_tokens"]; got != json.Number("2000") {
		t.Errorf("after prewarm %v tokens were read, want 2000", got)
	}
}
