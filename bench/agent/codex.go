package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// codex speaks as Codex CLI does with its newest models: no instructions, tools
// as the first item of the input, developer messages, the environment as a user
// message before the prompt, ids on all items, and encrypted reasoning that goes
// back. It opens a connection for each request and leaves right after the last
// event.
type codex struct {
	model   string
	session string
	seed    uint64
	head    []json.RawMessage // tools and developer messages
	around  string            // the environment
}

const codexClient = "codex_cli_rs/0.171.0 (Debian 12.0.0; x86_64)"

const gptModel = "gpt-6.2-sol"

func newCodex(cfg *Config) *codex {
	if cfg.Model == "" {
		cfg.Model = gptModel
	}
	c := &codex{model: cfg.Model, session: cfg.Session, seed: cfg.Seed}
	c.head = append(c.head, encode(codexTools{"additional_tools", "developer", c.tools()}))
	for i, size := range []int{28000, 3000, 1500} {
		text := prose(chance(0, fmt.Sprint("codex developer ", i)), size)
		c.head = append(c.head, encode(c.message(fmt.Sprint("developer ", i), "developer", text)))
	}
	r := chance(cfg.Seed, "codex environment")
	c.around = fmt.Sprintf("<environment_context>\n  <cwd>/home/dev/project-%d</cwd>\n  <current_date>2026-11-%02d</current_date>\n  <shell>bash</shell>\n</environment_context>", r.IntN(1000), 1+r.IntN(28))
	return c
}

type codexTools struct {
	Type  string      `json:"type"`
	Role  string      `json:"role"`
	Tools []codexTool `json:"tools"`
}

type codexTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Strict      *bool           `json:"strict,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Format      json.RawMessage `json:"format,omitempty"`
}

func (c *codex) tools() []codexTool {
	var out []codexTool
	strict := false
	for _, t := range toolset(Codex) {
		tool := codexTool{Type: "function", Name: t.name, Description: t.description(Codex), Strict: &strict, Parameters: t.schema()}
		if t.custom {
			tool.Type, tool.Strict, tool.Parameters = "custom", nil, nil
			tool.Format = json.RawMessage(`{"type":"grammar","syntax":"lark","definition":"start: /.+/s"}`)
		}
		out = append(out, tool)
	}
	return out
}

type codexRequest struct {
	Model      string            `json:"model"`
	Input      []json.RawMessage `json:"input"`
	ToolChoice string            `json:"tool_choice"`
	Parallel   bool              `json:"parallel_tool_calls"`
	Reasoning  any               `json:"reasoning"`
	Store      bool              `json:"store"`
	Stream     bool              `json:"stream"`
	Include    []string          `json:"include"`
	CacheKey   string            `json:"prompt_cache_key"`
	Text       any               `json:"text"`
	Metadata   any               `json:"client_metadata"`
}

type codexItem struct {
	Type    string      `json:"type"`
	ID      string      `json:"id,omitempty"`
	Role    string      `json:"role,omitempty"`
	Content []codexPart `json:"content,omitempty"`
	CallID  string      `json:"call_id,omitempty"`
	Output  string      `json:"output,omitempty"`
}

type codexPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// message is an item with an id that is the session's own.
func (c *codex) message(place, role, text string) codexItem {
	return codexItem{Type: "message", ID: c.itemID("msg", place), Role: role, Content: []codexPart{{"input_text", text}}}
}

func (c *codex) itemID(kind, place string) string {
	return kind + "_" + uuid(chance(c.seed, "codex item "+place))
}

func (c *codex) path() string { return "/v1/responses" }

func (c *codex) header(a *Agent, h http.Header) {
	h.Set("Authorization", "Bearer "+a.cfg.Key)
	h.Set("User-Agent", codexClient)
	h.Set("Originator", "codex_cli_rs")
	h.Set("Session-Id", c.session)
	h.Set("Thread-Id", a.thread)
	h.Set("X-Client-Request-Id", a.thread)
	h.Set("X-Codex-Window-Id", a.thread+":0")
	h.Set("X-Codex-Turn-Metadata", string(encode(map[string]string{"session_id": c.session, "thread_id": a.thread, "request_kind": "turn"})))
	if a.helps() {
		h.Set("X-Codex-Parent-Thread-Id", a.parent)
		h.Set("X-Openai-Subagent", "collab_spawn")
	}
}

func (c *codex) open(prompt string) []entry {
	return []entry{{role: "user", texts: []string{c.around}}, {role: "user", texts: []string{prompt}}}
}

func (c *codex) body(a *Agent, opener string) []byte {
	input := append([]json.RawMessage(nil), c.head...)
	if opener != "" {
		input = append(input, encode(codexItem{Type: "message", Role: "user", Content: []codexPart{{"input_text", opener}}}))
	}
	for i, e := range a.history {
		input = append(input, c.items(i, e)...)
	}
	return encode(c.request(input))
}

func (c *codex) request(input []json.RawMessage) codexRequest {
	return codexRequest{
		Model: c.model, Input: input, ToolChoice: "auto", Reasoning: json.RawMessage(`{"effort":"medium","summary":"auto"}`),
		Stream: true, Include: []string{"reasoning.encrypted_content"}, CacheKey: c.session,
		Text: json.RawMessage(`{"verbosity":"low"}`), Metadata: map[string]string{"session_id": c.session},
	}
}

// items are one entry of a history, which has its place there for good.
func (c *codex) items(place int, e entry) []json.RawMessage {
	if e.role == "assistant" {
		return e.parts
	}
	var out []json.RawMessage
	for i, text := range e.texts {
		out = append(out, encode(c.message(fmt.Sprint(place, ".", i), e.role, text)))
	}
	for i, r := range e.results {
		kind, id := "function_call_output", "fco"
		if r.custom {
			kind, id = "custom_tool_call_output", "ctco"
		}
		out = append(out, encode(codexItem{Type: kind, ID: c.itemID(id, fmt.Sprint(place, ".", i)), CallID: r.id, Output: r.output}))
	}
	return out
}

// title: Codex has no such request; one that looks the part has no tools and
// asks for JSON.
func (c *codex) title(_ *Agent, prompt string) []byte {
	r := c.request([]json.RawMessage{encode(c.message("title", "user", prompt))})
	r.Text = json.RawMessage(`{"format":{"type":"json_schema","name":"title","schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}}`)
	return encode(r)
}
