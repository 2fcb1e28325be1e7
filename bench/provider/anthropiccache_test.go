package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const sonnet = "claude-sonnet-4-6" // 1,024 tokens at least

func ask(model string, system []object, messages ...object) object {
	return object{"model": model, "max_tokens": 100, "system": system, "messages": messages}
}

// spent sends a request and returns its input classes.
func (c *client) spent(body object) Tokens {
	c.Helper()
	u := c.post("/v1/messages", body)["usage"]
	return inputOf(c, u)
}

func inputOf(t testing.TB, usage any) Tokens {
	t.Helper()
	var u messagesUsage
	if err := json.Unmarshal(mustJSON(usage), &u); err != nil {
		t.Fatal(err)
	}
	if u.Written != u.Writes.Short+u.Writes.Long {
		t.Errorf("usage %+v: the split does not add up", u)
	}
	return Tokens{Fresh: u.Input, CacheRead: u.Read, Write5m: u.Writes.Short, Write1h: u.Writes.Long}
}

func (c *client) wantSpent(what string, body object, want Tokens) {
	c.Helper()
	if diff := cmp.Diff(want, c.spent(body)); diff != "" {
		c.Errorf("%s: input (-want +got)\n%s", what, diff)
	}
}

func TestAnthropicCacheFollowsAConversation(t *testing.T) {
	c := start(t, Options{})
	system := []object{text("s", 1000)}
	q1, a1, q2 := message("user", text("a", 500, "5m")), message("assistant", text("b", 50)), message("user", text("c", 100, "5m"))
	c.wantSpent("first", ask(sonnet, system, q1), Tokens{Write5m: 1500})
	c.wantSpent("again", ask(sonnet, system, q1), Tokens{CacheRead: 1500})
	unmarked := message("user", text("a", 500))
	c.wantSpent("next turn", ask(sonnet, system, unmarked, a1, q2), Tokens{CacheRead: 1500, Write5m: 150})
	tail := message("user", text("c", 100, "5m"), text("d", 30))
	c.wantSpent("behind the mark", ask(sonnet, system, unmarked, a1, tail), Tokens{CacheRead: 1650, Fresh: 30})
	c.wantSpent("no mark", ask(sonnet, system, unmarked, a1, message("user", text("c", 100))), Tokens{Fresh: 1650})
}

func TestAnthropicCacheWritesOnlyAtMarks(t *testing.T) {
	c := start(t, Options{})
	q := message("user", text("a", 500, "5m"))
	c.wantSpent("mark at the end", ask(sonnet, []object{text("s", 2000)}, q), Tokens{Write5m: 2500})
	other := message("user", text("z", 500))
	c.wantSpent("other question, mark on system", ask(sonnet, []object{text("s", 2000, "5m")}, other), Tokens{Write5m: 2000, Fresh: 500})
	c.wantSpent("now system is warm", ask(sonnet, []object{text("s", 2000, "5m")}, q), Tokens{CacheRead: 2500})
}

func TestAnthropicCacheLooksBackTwentyPositions(t *testing.T) {
	for _, test := range []struct {
		added int
		want  Tokens
	}{
		{19, Tokens{CacheRead: 2000, Write5m: 190}},
		{20, Tokens{Write5m: 2200}},
	} {
		c := start(t, Options{})
		c.wantSpent("write", ask(sonnet, nil, message("user", text("a", 2000, "5m"))), Tokens{Write5m: 2000})
		blocks := []object{text("a", 2000)}
		for i := range test.added {
			blocks = append(blocks, text("b", 10))
			if i == test.added-1 {
				blocks[i+1] = text("b", 10, "5m")
			}
		}
		c.wantSpent(fmt.Sprintf("%d blocks later", test.added), ask(sonnet, nil, message("user", blocks...)), test.want)
	}
}

func TestAnthropicCacheMinimumIsSilent(t *testing.T) {
	for _, test := range []struct {
		model   string
		minimum int
	}{
		{"claude-fable-5-2", 512}, {"claude-mythos-5-1", 512}, {"claude-opus-5-5-20261001", 512}, {"claude-opus-5", 512},
		{"claude-sonnet-5-5", 512}, {"claude-haiku-5-5", 512},
		{"claude-opus-4-8", 1024}, {"claude-sonnet-5", 1024}, {"claude-sonnet-4-20250514", 1024}, {"claude-opus-4-1-20250805", 1024},
		{"claude-opus-4-7", 2048}, {"claude-mythos-preview", 2048}, {"claude-3-5-haiku-20241022", 2048},
		{"claude-opus-4-6", 4096}, {"claude-opus-4-5", 4096}, {"claude-haiku-4-5-20251001", 4096},
		{"somebody-elses-model", 1024},
	} {
		c := start(t, Options{})
		n := test.minimum
		short := ask(test.model, []object{text("s", 100)}, message("user", text("a", n-101, "5m")))
		c.wantSpent(test.model+" below", short, Tokens{Fresh: int64(n - 1)})
		c.wantSpent(test.model+" below again", short, Tokens{Fresh: int64(n - 1)})
		c.wantSpent(test.model+" at", ask(test.model, []object{text("s", 100)}, message("user", text("a", n-100, "5m"))), Tokens{Write5m: int64(n)})
	}
}

func TestAnthropicCacheLifetimes(t *testing.T) {
	for _, test := range []struct {
		ttl  string
		life time.Duration
		cold Tokens
	}{
		{"5m", 5 * time.Minute, Tokens{Write5m: 2000}},
		{"1h", time.Hour, Tokens{Write1h: 2000}},
	} {
		clock := newClock()
		c := start(t, Options{Now: clock.Now})
		body := ask(sonnet, nil, message("user", text("a", 2000, test.ttl)))
		warm := Tokens{CacheRead: 2000}
		c.wantSpent("write", body, test.cold)
		for range 3 { // each hit refreshes
			clock.advance(test.life - time.Second)
			c.wantSpent("just alive", body, warm)
		}
		clock.advance(test.life)
		c.wantSpent("just dead", body, test.cold)
	}
}

// A generation of four minutes leaves one minute of a 5m entry.
func TestInvariant2_LifetimeCountsFromTheStart(t *testing.T) {
	clock := newClock()
	var once sync.Once
	c := start(t, Options{Now: clock.Now, OnArrive: func(*Exchange) {
		once.Do(func() { clock.advance(4 * time.Minute) })
	}})
	body := ask(sonnet, nil, message("user", text("a", 2000, "5m")))
	c.wantSpent("slow write", body, Tokens{Write5m: 2000})
	clock.advance(time.Minute)
	c.wantSpent("a minute later", body, Tokens{Write5m: 2000})
}

func TestInvariant2_CacheIsUsableOnlyAfterTheAnswerBegan(t *testing.T) {
	var arrived sync.WaitGroup
	arrived.Add(3)
	c := start(t, Options{OnArrive: func(*Exchange) {
		arrived.Done()
		arrived.Wait()
	}})
	body := ask(sonnet, nil, message("user", text("a", 2000, "5m")))
	var done sync.WaitGroup
	for range 3 {
		done.Go(func() { c.wantSpent("parallel", body, Tokens{Write5m: 2000}) })
	}
	done.Wait()
	arrived.Add(1)
	c.wantSpent("afterwards", body, Tokens{CacheRead: 2000})
}

func TestAnthropicCacheIgnoresFailedRequests(t *testing.T) {
	c := start(t, Options{})
	body := ask(sonnet, nil, message("user", text("a", 2000, "5m")))
	if resp, _ := c.call("POST", "/v1/messages", body, "x-provider-fault", "status=529"); resp.StatusCode != 529 {
		t.Fatalf("status %d, want 529", resp.StatusCode)
	}
	c.wantSpent("after a 529", body, Tokens{Write5m: 2000})
}

func TestInvariant2_CacheIsolation(t *testing.T) {
	c := start(t, Options{})
	body := func(model string) object { return ask(model, nil, message("user", text("a", 2000, "5m"))) }
	c.wantSpent("one key", body(sonnet), Tokens{Write5m: 2000})
	c.as("key-two").wantSpent("another key", body(sonnet), Tokens{Write5m: 2000})
	c.wantSpent("another model", body("claude-sonnet-4-5"), Tokens{Write5m: 2000})
	c.wantSpent("the first again", body(sonnet), Tokens{CacheRead: 2000})
	resp, raw := c.as("").call("POST", "/v1/messages", body(sonnet), "x-api-key", "key-one")
	if got := inputOf(t, decodeObject(t, raw)["usage"]); resp.StatusCode != 200 || got.CacheRead != 2000 {
		t.Errorf("same key in x-api-key: status %d, input %+v, want 2000 read", resp.StatusCode, got)
	}
}

func TestAnthropicCacheMixedLifetimes(t *testing.T) {
	c := start(t, Options{})
	system := []object{text("s", 1500, "1h"), text("t", 100, "1h")}
	c.wantSpent("first", ask(sonnet, system, message("user", text("a", 200, "5m"), text("b", 7))), Tokens{Write1h: 1600, Write5m: 200, Fresh: 7})
	c.wantSpent("other question", ask(sonnet, system, message("user", text("x", 300, "5m"))), Tokens{CacheRead: 1600, Write5m: 300})
}

// A mark reads what is there; it does not give it another lifetime.
func TestAnthropicCacheReadingKeepsTheLifetime(t *testing.T) {
	clock := newClock()
	c := start(t, Options{Now: clock.Now})
	body := func(ttl string) object { return ask(sonnet, nil, message("user", text("a", 2000, ttl))) }
	c.wantSpent("short write", body("5m"), Tokens{Write5m: 2000})
	c.wantSpent("read by a long mark", body("1h"), Tokens{CacheRead: 2000})
	clock.advance(5 * time.Minute)
	c.wantSpent("it was short", body("1h"), Tokens{Write1h: 2000})
}

func TestAnthropicAutomaticMark(t *testing.T) {
	c := start(t, Options{})
	auto := func(messages ...object) object {
		b := ask(sonnet, nil, messages...)
		b["cache_control"] = object{"type": "ephemeral"}
		return b
	}
	q, a, more := message("user", text("a", 2000)), message("assistant", text("b", 10)), message("user", text("c", 20))
	c.wantSpent("first", auto(q), Tokens{Write5m: 2000})
	c.wantSpent("it moves forward", auto(q, a, more), Tokens{CacheRead: 2000, Write5m: 30})
	c.wantSpent("no-op on an equal mark", auto(q, a, message("user", text("c", 20, "5m"))), Tokens{CacheRead: 2030})
	if got := c.refused("/v1/messages", auto(message("user", text("c", 20, "1h")))); !strings.Contains(got, "ttl='1h'") {
		t.Errorf("automatic mark on a block with another ttl = %q, want a refusal", got)
	}
}

func TestAnthropicPrewarm(t *testing.T) {
	c := start(t, Options{})
	warm := ask(sonnet, nil, message("user", text("a", 2000, "5m")))
	cold := edited(warm, func(o object) { o["max_tokens"] = 0 })
	answer := c.post("/v1/messages", cold)
	if got := len(answer.list("content")); got != 0 || answer.str("stop_reason") != "max_tokens" {
		t.Errorf("prewarm answer has %d blocks and stop_reason %q, want 0 and max_tokens", got, answer.str("stop_reason"))
	}
	c.wantSpent("after prewarm", warm, Tokens{CacheRead: 2000})
	c.refused("/v1/messages", edited(cold, func(o object) { o["stream"] = true }))
}

// The table of facts/providers.md 1.4.
func TestAnthropicCacheHierarchy(t *testing.T) {
	base := object{
		"model": sonnet, "max_tokens": 100,
		"tools":    []object{{"name": "f", "description": sized("t", 1100), "input_schema": object{"type": "object"}, "cache_control": object{"type": "ephemeral"}}},
		"system":   []object{text("s", 1000, "5m")},
		"messages": []object{message("user", text("a", 1000, "5m"))},
	}
	const none, tools, system, all = "none", "tools", "system", "all"
	for _, test := range []struct {
		name   string
		change func(object)
		warm   string
	}{
		{"nothing", func(object) {}, all},
		{"key order and formatting", nil, all},
		{"string system", func(o object) { o["system"] = sized("s", 1000) }, all},
		{"string content", func(o object) {
			o["messages"] = []object{{"role": "user", "content": sized("a", 1000)}}
			o["cache_control"] = object{"type": "ephemeral"}
		}, all},
		{"a tool added", func(o object) {
			o["tools"] = append([]any{object{"name": "g", "input_schema": object{}}}, o.list("tools")...)
		}, none},
		{"a tool edited", func(o object) { asObject(o.list("tools")[0])["description"] = "other" }, none},
		{"web search switched on", func(o object) {
			o["tools"] = append(o.list("tools"), object{"type": "web_search_20260209", "name": "web_search"})
		}, tools},
		{"system edited", func(o object) { o["system"] = []any{text("x", 1000, "5m")} }, tools},
		{"speed", func(o object) { o["speed"] = "fast" }, tools},
		{"standard speed", func(o object) { o["speed"] = "standard" }, all},
		{"tool choice", func(o object) { o["tool_choice"] = object{"type": "any"} }, system},
		{"parallel tools", func(o object) { o["tool_choice"] = object{"type": "auto", "disable_parallel_tool_use": true} }, system},
		{"thinking", func(o object) { o["thinking"] = object{"type": "enabled", "budget_tokens": 2000} }, system},
		{"effort", func(o object) { o["output_config"] = object{"effort": "low"} }, system},
		{"the default effort", func(o object) { o["output_config"] = object{"effort": "high"} }, all},
		{"an image behind", func(o object) {
			image := object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "AA=="}}
			o["messages"] = append(o.list("messages"), message("user", image))
		}, system},
		{"temperature", func(o object) { o["temperature"] = 0.5 }, all},
		{"max_tokens", func(o object) { o["max_tokens"] = 5 }, all},
		{"metadata", func(o object) { o["metadata"] = object{"user_id": "u"} }, all},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, Options{})
			first := c.spent(base)
			body := any([]byte(reordered))
			if test.change != nil {
				body = edited(base, test.change)
			}
			got := inputOf(t, c.post("/v1/messages", body)["usage"]).CacheRead
			toolTokens := first.Written() - 2000
			want := map[string]int64{none: 0, tools: toolTokens, system: toolTokens + 1000, all: toolTokens + 2000}[test.warm]
			if got != want {
				t.Errorf("read %d tokens after the change, want %d (%s)", got, want, test.warm)
			}
		})
	}
}

// reordered is the base request of the hierarchy in other key order and spacing.
var reordered = fmt.Sprintf(`{ "messages":[ {"content":[{"cache_control":{"ttl":"5m","type":"ephemeral"}, "text":%q, "type":"text"}],"role":"user"}],
	"tools" : [{"input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"},"description":%q,"name":"f"}],
	"system":[{"text":%q,"type":"text","cache_control":{"type":"ephemeral"}}],"max_tokens":100,"model":%q}`,
	sized("a", 1000), sized("t", 1100), sized("s", 1000), sonnet)

func TestAnthropicToolResultMarks(t *testing.T) {
	c := start(t, Options{})
	body := func(mark, child bool) object {
		result := object{"type": "tool_result", "tool_use_id": "t1", "content": []object{text("r", 2000)}}
		if mark {
			result["cache_control"] = object{"type": "ephemeral"}
		}
		if child {
			result["content"] = []object{text("r", 2000, "5m")}
		}
		return ask(sonnet, nil, message("user", text("a", 10)),
			message("assistant", object{"type": "tool_use", "id": "t1", "name": "f", "input": object{}}), message("user", result))
	}
	first := c.spent(body(false, true))
	if first.Write5m == 0 {
		t.Errorf("a mark on the last child wrote nothing, want it lifted to the parent")
	}
	c.wantSpent("mark on the parent", body(true, false), Tokens{CacheRead: first.Write5m})
}

// The billing line of Claude Code changes from session to session and is no
// part of the prompt, as long as it stands where it belongs.
func TestAnthropicAttributionIsNotRead(t *testing.T) {
	c := start(t, Options{})
	line := func(hex string) object {
		return object{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.332." + hex + ";"}
	}
	body := func(system ...object) object { return ask(sonnet, system, message("user", text("a", 2000, "5m"))) }
	c.wantSpent("first", body(line("abc"), text("s", 100)), Tokens{Write5m: 2100})
	c.wantSpent("other line", body(line("def"), text("s", 100)), Tokens{CacheRead: 2100})
	if got := c.spent(body(text("s", 100), line("abc"))); got.CacheRead != 0 || got.Write5m <= 2100 {
		t.Errorf("with the line in second place: %+v, want it read as a prompt", got)
	}
}

// On older models thinking leaves the prompt when the user speaks again.
func TestAnthropicOlderModelsDropEarlierThinking(t *testing.T) {
	for _, test := range []struct {
		model string
		drops bool
	}{{"claude-sonnet-4-5", true}, {"claude-opus-4-8", false}} {
		c := start(t, Options{})
		body := ask(test.model, nil, message("user", text("a", 10)))
		body["thinking"] = object{"type": "enabled", "budget_tokens": 1024}
		answer := c.post("/v1/messages", body)
		body["messages"] = []any{message("user", text("a", 10)), object{"role": "assistant", "content": answer["content"]}, message("user", text("b", 10))}
		with := c.post("/v1/messages/count_tokens", body)
		body["messages"] = []any{message("user", text("a", 10)), object{"role": "assistant", "content": answer.list("content")[1:]}, message("user", text("b", 10))}
		without := c.post("/v1/messages/count_tokens", body)
		if got := with["input_tokens"] == without["input_tokens"]; got != test.drops {
			t.Errorf("%s: thinking is dropped = %v, want %v (%v and %v tokens)", test.model, got, test.drops, with["input_tokens"], without["input_tokens"])
		}
	}
}
