package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// claude speaks as Claude Code does: three system blocks of which the first
// tells the program's version, marks on the other two and on the last block of
// the last message, a system message with the date behind the first prompt, and
// the session's id in a header and in the metadata.
type claude struct {
	model, ttl     string
	session, agent string // agent is "" in the main agent
	metadata       claudeMetadata
	system         []claudeBlock
	tools          []claudeTool
	reminders      []string
	today          string
}

const (
	claudeModel  = "claude-opus-5-5"
	claudeClient = "claude-cli/2.1.332 (external, cli)"
	claudeBetas  = "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27"
)

func newClaude(cfg *Config) *claude {
	if cfg.Model == "" {
		cfg.Model = claudeModel
	}
	r := chance(cfg.Seed, "claude")
	c := &claude{model: cfg.Model, ttl: cfg.TTL, session: cfg.Session, tools: claudeTools(toolset(Claude))}
	user := struct {
		Device  string `json:"device_id"`
		Account string `json:"account_uuid"`
		Session string `json:"session_id"`
	}{fmt.Sprintf("%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()), "", cfg.Session}
	c.metadata.UserID = string(encode(user))
	c.system = c.systemOf("main")
	for i, size := range []int{900, 2400} {
		c.reminders = append(c.reminders, fmt.Sprintf("<system-reminder>\n%s\n</system-reminder>\n", prose(chance(cfg.Seed, fmt.Sprint("reminder ", i)), size)))
	}
	c.today = fmt.Sprintf("Today is 2026-11-%02d.", 1+r.IntN(28))
	return c
}

// systemOf is the system prompt of one part of the program. The version's last
// digits differ from thread to thread.
func (c *claude) systemOf(part string) []claudeBlock {
	digits := chance(0, "claude digits "+part+c.session).IntN(0x1000)
	return []claudeBlock{
		{Type: "text", Text: fmt.Sprintf("x-anthropic-billing-header: cc_version=2.1.332.%03x; cc_entrypoint=cli;", digits)},
		{Type: "text", Text: "You are a scripted coding agent.", Mark: c.mark()},
		{Type: "text", Text: prose(chance(0, "claude system "+part), 9000), Mark: c.mark()},
	}
}

// helper is how a subagent of the session speaks.
func (c *claude) helper() *claude {
	h := *c
	h.agent = "helper"
	h.system = c.systemOf("helper")
	h.tools = c.tools[:5]
	h.reminders = nil
	return &h
}

func (c *claude) mark() *claudeMark { return &claudeMark{"ephemeral", c.ttl} }

type claudeRequest struct {
	Model      string          `json:"model"`
	Messages   []claudeMessage `json:"messages"`
	System     []claudeBlock   `json:"system,omitempty"`
	Tools      []claudeTool    `json:"tools"`
	Metadata   *claudeMetadata `json:"metadata,omitempty"`
	MaxTokens  int             `json:"max_tokens,omitempty"`
	Thinking   *claudeThinking `json:"thinking,omitempty"`
	Management any             `json:"context_management,omitempty"`
	Output     any             `json:"output_config,omitempty"`
	Stream     bool            `json:"stream,omitempty"`
}

type claudeMetadata struct {
	UserID string `json:"user_id"` // the text of a JSON object
}

type claudeThinking struct {
	Type string `json:"type"`
}

// A claudeMessage has a string, blocks, or the parts of an answer as content.
type claudeMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type claudeBlock struct {
	Type    string      `json:"type"`
	Text    string      `json:"text,omitempty"`
	Use     string      `json:"tool_use_id,omitempty"`
	Content string      `json:"content,omitempty"`
	Mark    *claudeMark `json:"cache_control,omitempty"`
}

type claudeMark struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

type claudeTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

func claudeTools(specs []toolSpec) []claudeTool {
	var tools []claudeTool
	for _, t := range specs {
		tools = append(tools, claudeTool{t.name, t.description(Claude), t.schema()})
	}
	return tools
}

func (c *claude) path() string { return "/v1/messages?beta=true" }

func (c *claude) header(a *Agent, h http.Header) {
	h.Set("X-Api-Key", a.cfg.Key)
	h.Set("Anthropic-Version", "2023-06-01")
	h.Set("Anthropic-Beta", claudeBetas)
	h.Set("User-Agent", claudeClient)
	h.Set("X-App", "cli")
	h.Set("X-Stainless-Retry-Count", "0")
	h.Set("X-Claude-Code-Session-Id", c.session)
	if c.agent != "" {
		h.Set("X-Claude-Code-Agent-Id", a.thread)
	}
}

// open: reminders stand in the first user message, before the prompt.
func (c *claude) open(prompt string) []entry {
	return []entry{
		{role: "user", texts: append(append([]string(nil), c.reminders...), prompt)},
		{role: "system", texts: []string{c.today}},
	}
}

func (c *claude) body(a *Agent, opener string) []byte {
	return encode(c.request(a.history, opener))
}

func (c *claude) request(history []entry, opener string) claudeRequest {
	return claudeRequest{
		Model: c.model, Messages: c.messages(history, opener), System: c.system, Tools: c.tools, Metadata: &c.metadata,
		MaxTokens: 32000, Thinking: &claudeThinking{"adaptive"}, Management: clearThinking, Output: lowEffort, Stream: true,
	}
}

var (
	clearThinking = json.RawMessage(`{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`)
	lowEffort     = json.RawMessage(`{"effort":"medium"}`)
	titleFormat   = json.RawMessage(`{"format":{"type":"json_schema","schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}}}`)
)

// messages writes a history. The last block is marked; a lone text is a string
// once it is not the last.
func (c *claude) messages(history []entry, opener string) []claudeMessage {
	var out []claudeMessage
	if opener != "" {
		out = append(out, claudeMessage{"user", opener})
	}
	for i, e := range history {
		last := i == len(history)-1
		switch {
		case e.role == "assistant":
			out = append(out, claudeMessage{"assistant", e.parts})
		case len(e.texts) == 1 && !last:
			out = append(out, claudeMessage{e.role, e.texts[0]})
		default:
			out = append(out, c.blocks(e, last))
		}
	}
	return out
}

func (c *claude) blocks(e entry, marked bool) claudeMessage {
	var list []claudeBlock
	for _, text := range e.texts {
		list = append(list, claudeBlock{Type: "text", Text: text})
	}
	for _, r := range e.results {
		list = append(list, claudeBlock{Type: "tool_result", Use: r.id, Content: r.output})
	}
	if marked {
		list[len(list)-1].Mark = c.mark()
	}
	if e.role == "tool" {
		e.role = "user"
	}
	return claudeMessage{e.role, list}
}

// title is a request without tools and marks that has a system prompt of its own.
func (c *claude) title(_ *Agent, prompt string) []byte {
	system := c.systemOf("title")
	system[1].Mark, system[2].Mark = nil, nil
	return encode(claudeRequest{
		Model: c.model, Messages: []claudeMessage{{"user", []claudeBlock{{Type: "text", Text: prompt}}}}, System: system,
		Tools: []claudeTool{}, Metadata: &c.metadata, MaxTokens: 32000, Output: titleFormat, Stream: true,
	})
}
