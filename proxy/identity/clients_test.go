package identity

import (
	"slices"
	"strings"
	"testing"
)

// A client is an agent as clients.md describes it: its requests in the course of
// one conversation. Turns share one conversation; sub is a subagent's.
type client struct {
	name    string
	family  string
	source  string // of the session, at the first turn
	headers string // of every request, "Name: value" by lines
	body    string

	subHeaders, subBody string // of a subagent; headers and body if empty
	ownSub              bool   // a subagent is a session of its own
	resumed             []string
	keptByCompaction    bool
	threadByID          string // thread of the main agent, if the client names it
}

var opened = []string{"u:<reminder>date</reminder> fix the build"}

var worked = append(slices.Clip(opened), "a:looking", "u:tool result", "a:done")

var clients = []client{
	{
		name: "Claude Code", source: "header x-claude-code-session-id",
		headers: "X-Claude-Code-Session-Id: 0d5e2a4c-8b1f-4c0e-9a53-0a2f5a1b7c3d\nUser-Agent: claude-cli/2.1.332\nX-Stainless-Retry-Count: 0",
		body:    `{"model":"m","messages":[],"metadata":{"user_id":"{\"device_id\":\"aa\",\"account_uuid\":\"\",\"session_id\":\"0d5e2a4c-8b1f-4c0e-9a53-0a2f5a1b7c3d\"}"}}`,
		subHeaders: "X-Claude-Code-Session-Id: 0d5e2a4c-8b1f-4c0e-9a53-0a2f5a1b7c3d\n" +
			"x-claude-code-agent-id: a0123456789abcdef",
		resumed: worked, keptByCompaction: true,
	},
	{
		name: "Claude Code, body only", source: "body metadata.user_id",
		body:    `{"messages":[],"metadata":{"user_id":"{\"device_id\":\"aa\",\"session_id\":\"0d5e2a4c-8b1f-4c0e-9a53-0a2f5a1b7c3d\"}"}}`,
		resumed: worked, keptByCompaction: true,
	},
	{
		name: "Claude Code before 2.1.78", source: "body metadata.user_id",
		body:    `{"messages":[],"metadata":{"user_id":"user_00ff_account__session_0d5e2a4c-8b1f-4c0e-9a53-0a2f5a1b7c3d"}}`,
		resumed: worked, keptByCompaction: true,
	},
	{
		name: "Codex", family: "openai", source: "header session-id",
		headers: "session-id: 0193-root\nthread-id: 0193-root\nx-client-request-id: 0193-root\nx-codex-window-id: 0193-root:0",
		body:    `{"input":[],"prompt_cache_key":"0193-root"}`,
		subHeaders: "session-id: 0193-root\nthread-id: 0193-sub\nx-client-request-id: 0193-sub\n" +
			"x-codex-parent-thread-id: 0193-root\nx-openai-subagent: collab_spawn",
		resumed: worked, keptByCompaction: true, threadByID: "agent:0193-root",
	},
	{
		name: "pi, Responses", family: "openai", source: "header session_id",
		headers: "session_id: pi-1\nx-client-request-id: pi-1",
		body:    `{"input":[],"prompt_cache_key":"pi-1"}`,
		resumed: worked, keptByCompaction: true,
	},
	{
		name: "opencode", source: "header x-session-id",
		headers:    "x-session-id: ses_1\nx-session-affinity: ses_1",
		subHeaders: "x-session-id: ses_2\nx-session-affinity: ses_2\nx-parent-session-id: ses_1",
		ownSub:     true, resumed: worked, keptByCompaction: true,
	},
	{
		name: "Crush", source: "header x-session-id",
		headers:    "X-Session-Id: 00112233aabbccdd\nX-Session-Affinity: 00112233aabbccdd",
		subHeaders: "X-Session-Id: ffee2233aabbccdd\nX-Session-Affinity: ffee2233aabbccdd",
		ownSub:     true, resumed: worked, keptByCompaction: true,
	},
	{
		name: "Copilot, Responses", family: "openai", source: "body prompt_cache_key",
		headers: "x-initiator: user", body: `{"input":[],"prompt_cache_key":"00112233445566778899aabbccddeeff"}`,
		resumed: worked, keptByCompaction: true,
	},
	{
		name: "Copilot, Chat", family: "openai", source: "opening",
		headers: "x-initiator: user\nx-interaction-type: conversation-user", body: `{"messages":[]}`,
		ownSub: true, resumed: worked,
	},
	{
		name: "Gemini CLI", family: "gemini", source: "opening", body: `{"contents":[]}`, ownSub: true,
		// The first message stays, what follows is written anew.
		resumed: append(slices.Clip(opened), "a:looking, doubled", "u:tool result", "a:done"),
	},
	{
		name: "Qwen Code", family: "openai", source: "opening", headers: "User-Agent: claude-cli/0.24.4\nx-app: cli",
		body: `{"messages":[]}`, ownSub: true,
		// A reminder moves from the first message to the newest.
		resumed: []string{"u:fix the build", "a:looking", "u:tool result", "a:done"},
	},
	{name: "Cline", family: "openai", source: "opening", body: `{"messages":[]}`, ownSub: true, resumed: worked},
	{name: "Continue", source: "opening", body: `{"messages":[]}`, ownSub: true, resumed: worked},
	{
		name: "an SDK", family: "openai", source: "opening", headers: "x-stainless-lang: js\nx-stainless-retry-count: 0",
		body: `{"messages":[]}`, ownSub: true, resumed: worked,
	},
}

func (c client) call(messages ...string) call {
	return call{family: c.family, header: headers(c.headers), body: c.body, messages: messages, prompt: "u:fix the build"}
}

func (c client) sub(messages ...string) call {
	s := c.call(messages...)
	s.prompt = ""
	if c.subHeaders != "" {
		s.header = headers(c.subHeaders)
	}
	return s
}

func headers(lines string) map[string]string {
	h := map[string]string{}
	for line := range strings.Lines(lines) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h[k] = v
	}
	return h
}

// TestClients walks every client through a conversation.
func TestClients(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, Config{})
			main := g.answer(c.call(opened...))
			if main.Source != c.source {
				t.Errorf("first turn: source %q, want %q", main.Source, c.source)
			}
			if c.threadByID != "" && main.Thread != c.threadByID {
				t.Errorf("first turn: thread %q, want %q", main.Thread, c.threadByID)
			}
			turn := g.answer(c.call(worked[:3]...))
			if turn.Session != main.Session || turn.Thread != main.Thread {
				t.Errorf("second turn: %s %s, want %s %s", turn.Session, turn.Thread, main.Session, main.Thread)
			}
			c.checkResume(t, g, main)
			c.checkSubagent(t, g, main)
			c.checkCompaction(t, g, main)
		})
	}
}

func (c client) checkResume(t *testing.T, g *rig, main Identity) {
	t.Helper()
	if id := g.answer(c.call(append(slices.Clip(c.resumed), "u:and the tests")...)); id.Session != main.Session {
		t.Errorf("resumed: session %s, want %s", id.Session, main.Session)
	}
	again := append(slices.Clip(c.resumed), "u:and the tests", "a:ok", "u:thanks")
	if id := g.answer(c.call(again...)); id.Session != main.Session || !id.Known && c.threadByID == "" {
		t.Errorf("after the resume: session %s, known %v, want %s, known", id.Session, id.Known, main.Session)
	}
	g.restart(Config{})
	if id := g.answer(c.call(append(again, "a:welcome", "u:more")...)); id.Session != main.Session {
		t.Errorf("after a restart: session %s, want %s", id.Session, main.Session)
	}
}

func (c client) checkSubagent(t *testing.T, g *rig, main Identity) {
	t.Helper()
	id := g.answer(c.sub("u:you search the code"))
	if own := id.Session != main.Session; own != c.ownSub {
		t.Errorf("subagent: session %s beside %s, own %v, want %v", id.Session, main.Session, own, c.ownSub)
	}
	if !c.ownSub && id.Thread == main.Thread {
		t.Errorf("subagent: thread %s is the main agent's", id.Thread)
	}
	next := g.answer(c.sub("u:you search the code", "a:found", "u:tool result"))
	if next.Session != id.Session || next.Thread != id.Thread {
		t.Errorf("subagent's second turn: %s %s, want %s %s", next.Session, next.Thread, id.Session, id.Thread)
	}
}

func (c client) checkCompaction(t *testing.T, g *rig, main Identity) {
	t.Helper()
	compacted := c.call("u:summary of what was done", "a:understood", "u:go on")
	compacted.prompt = ""
	id := g.answer(compacted)
	if kept := id.Session == main.Session; kept != c.keptByCompaction {
		t.Errorf("compacted: session %s beside %s, kept %v, want %v", id.Session, main.Session, kept, c.keptByCompaction)
	}
	compacted.messages = append(compacted.messages, "a:going", "u:well")
	if next := g.answer(compacted); next.Session != id.Session || next.Thread != id.Thread {
		t.Errorf("after the compaction: %s %s, want %s %s", next.Session, next.Thread, id.Session, id.Thread)
	}
}

// TestParent is about clients whose subagents have session ids of their own.
func TestParent(t *testing.T) {
	main := call{header: headers("x-session-id: ses_1"), messages: opened}
	sub := call{header: headers("x-session-id: ses_2\nx-parent-session-id: ses_1"), messages: []string{"u:search"}}
	named := sub
	named.named = "mine"
	lone := call{header: headers("x-parent-session-id: ses_1"), messages: []string{"u:search"}}
	for _, tt := range []struct {
		name                          string
		follow                        bool
		c                             call
		session, source, thread, from string
	}{
		{"own session", false, sub, "ses_2", "header x-session-id", threadName(sub.input(t).History), "opening"},
		{"followed", true, sub, "ses_1", "header x-parent-session-id", "agent:ses_2", "header x-session-id"},
		{"main agent", true, main, "ses_1", "header x-session-id", threadName(main.input(t).History), "opening"},
		{"path wins", true, named, "mine", "path", threadName(named.input(t).History), "opening"},
		{"parent alone", true, lone, "ses_1", "header x-parent-session-id", threadName(lone.input(t).History), "opening"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := newRig(t, Config{FollowParent: tt.follow}).send(tt.c)
			if id.Session != tt.session || id.Source != tt.source || id.Thread != tt.thread || id.ThreadSource != tt.from {
				t.Errorf("Resolve = session %q from %q, thread %q from %q; want %q from %q, %q from %q",
					id.Session, id.Source, id.Thread, id.ThreadSource, tt.session, tt.source, tt.thread, tt.from)
			}
		})
	}
}
