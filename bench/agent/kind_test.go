package agent

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// decoded is a body as maps and lists.
func decoded(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(body, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// header is the header of an exchange as it arrived.
func header(x *provider.Exchange) http.Header {
	h := http.Header{}
	for _, f := range x.Header {
		h.Add(f.Name, f.Value)
	}
	return h
}

func TestClaudeMarksMove(t *testing.T) {
	a, p := start(t, Config{Kind: Claude, TTL: "1h"})
	play(t, a, Script(9, 5))
	mark := []byte(`"cache_control":{"type":"ephemeral","ttl":"1h"}`)
	for _, x := range received(t, p) {
		if n := bytes.Count(x.Body, mark); n != 3 {
			t.Errorf("%d marks, want 3: two in system and the last block", n)
		}
		messages, _, _ := bytes.Cut(x.Body, []byte(`,"system":[`))
		if !bytes.HasSuffix(messages, append(mark, "}]}]"...)) {
			t.Errorf("the last block has no mark: …%s", messages[max(0, len(messages)-200):])
		}
	}
	_, all := p.Totals()
	if all.Tokens.Write1h == 0 || all.Tokens.Write5m != 0 {
		t.Errorf("writes %+v, want all for an hour", all.Tokens)
	}
}

// The second message is blocks while it is the last, then a string.
func TestClaudeReshapesTexts(t *testing.T) {
	a, p := start(t, Config{Kind: Claude})
	play(t, a, []Step{{"hello", 0}, {"go on", 0}})
	var shapes []string
	for _, x := range received(t, p) {
		second := decoded(t, x.Body)["messages"].([]any)[1].(map[string]any)
		if second["role"] != "system" {
			t.Errorf("the second message is the %v's, want the system's", second["role"])
		}
		if _, ok := second["content"].(string); ok {
			shapes = append(shapes, "string")
		} else {
			shapes = append(shapes, "blocks")
		}
	}
	if diff := cmp.Diff([]string{"blocks", "string"}, shapes); diff != "" {
		t.Errorf("shapes of the second message (-want +got)\n%s", diff)
	}
}

func TestClaudeCounts(t *testing.T) {
	a, p := start(t, Config{Kind: Claude})
	play(t, a, []Step{{"hello", 1}})
	if err := a.Fragments(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	byClass := map[string]int{}
	for _, c := range a.Calls() {
		byClass[c.Class]++
	}
	if diff := cmp.Diff(map[string]int{ClassTurn: 2, ClassFragment: fragments, ClassCount: 1}, byClass); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
	if _, all := p.Totals(); all.Requests != 2 {
		t.Errorf("%d model calls, want 2: counts are none", all.Requests)
	}
}

func TestClaudeSubagentSharesTheSession(t *testing.T) {
	a, p := start(t, Config{Kind: Claude})
	play(t, a, []Step{{"hello", 0}})
	sub := a.Subagent()
	play(t, sub, []Step{{"help", 1}})
	all := received(t, p)
	main, helper := header(&all[0]), header(&all[1])
	if id := helper.Get("X-Claude-Code-Session-Id"); id != main.Get("X-Claude-Code-Session-Id") || id == "" {
		t.Errorf("the subagent's session is %q, want that of the main agent", id)
	}
	if helper.Get("X-Claude-Code-Agent-Id") == "" || main.Get("X-Claude-Code-Agent-Id") != "" {
		t.Error("the subagent, and it alone, names itself")
	}
}

func TestCodexForkSharesTheHistory(t *testing.T) {
	a, p := start(t, Config{Kind: Codex})
	play(t, a, []Step{{"hello", 1}})
	fork := a.Subagent()
	play(t, fork, []Step{{"help", 0}})
	play(t, a, []Step{{"help", 0}})
	all := received(t, p)
	forked, went := all[len(all)-2], all[len(all)-1]
	if !bytes.Equal(forked.Body, went.Body) {
		t.Errorf("the fork and the main agent differ after the same words:\n%s\n%s", forked.Body, went.Body)
	}
	f, m := header(&forked), header(&went)
	if f.Get("Session-Id") != m.Get("Session-Id") || f.Get("Thread-Id") == m.Get("Thread-Id") || f.Get("X-Codex-Parent-Thread-Id") != m.Get("Thread-Id") {
		t.Errorf("the fork names session %q, thread %q, parent %q", f.Get("Session-Id"), f.Get("Thread-Id"), f.Get("X-Codex-Parent-Thread-Id"))
	}
}

// Codex opens a connection for each request, and leaves with the last event.
func TestCodexLeavesAtOnce(t *testing.T) {
	a, p := start(t, Config{Kind: Codex})
	play(t, a, []Step{{"hello", 3}})
	conns := map[int]bool{}
	for _, x := range received(t, p) {
		conns[x.Conn] = true
	}
	if len(conns) != 4 {
		t.Errorf("%d connections for 4 requests, want 4", len(conns))
	}
}

func TestCodexReturnsWhatItGot(t *testing.T) {
	a, p := start(t, Config{Kind: Codex})
	play(t, a, []Step{{"hello", 3}, {"go on", 0}})
	last := received(t, p)[4].Body
	for _, kind := range []string{"reasoning", "function_call", "custom_tool_call", "custom_tool_call_output"} {
		if !bytes.Contains(last, []byte(`"type":"`+kind+`"`)) {
			t.Errorf("no item of type %s came back", kind)
		}
	}
	if !strings.HasPrefix(string(last), `{"model":"gpt-6.2-sol","input":[{"type":"additional_tools","role":"developer",`) {
		t.Errorf("the tools are not the first item: %.120s", last)
	}
}

func TestChatAsksForUsageIfTold(t *testing.T) {
	for _, ask := range []bool{false, true} {
		a, p := start(t, Config{Kind: Chat, AskUsage: ask})
		play(t, a, []Step{{"hello", 0}})
		x := received(t, p)[0]
		if got := bytes.Contains(x.Answer, []byte(`"prompt_tokens"`)); got != ask {
			t.Errorf("AskUsage %v: the answer tells usage: %v", ask, got)
		}
	}
}

func TestResumeSignal(t *testing.T) {
	for signal, want := range map[string][]string{
		"1":     {"", "1", "", ""}, // the first request of the turn alone
		"again": {"", "again", "again", "again"},
	} {
		a, p := start(t, Config{Kind: Chat})
		play(t, a, []Step{{"hello", 0}})
		a.Resume(signal)
		play(t, a, []Step{{"I am back", 1}, {"go on", 0}})
		var got []string
		for _, x := range received(t, p) {
			h := header(&x)
			got = append(got, h.Get("X-Preface-Resume"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("signals after Resume(%q) (-want +got)\n%s", signal, diff)
		}
	}
}
