package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
)

// chat speaks as opencode does over Chat Completions: the session's id in two
// headers, one system message with the date in it, and a title asked of a small
// model beside the first turn.
type chat struct {
	model, small string
	usage        bool
	system       string
	tools        []chatTool
}

const smallModel = "gpt-6-luna"

func newChat(cfg *Config) *chat {
	if cfg.Model == "" {
		cfg.Model = gptModel
	}
	if cfg.Small == "" {
		cfg.Small = smallModel
	}
	c := &chat{model: cfg.Model, small: cfg.Small, usage: cfg.AskUsage}
	c.system = prose(chance(0, "chat system"), 12000) + fmt.Sprintf("\nToday's date: 2026-11-%02d", 1+chance(cfg.Seed, "chat date").IntN(28))
	for _, t := range toolset(Chat) {
		c.tools = append(c.tools, chatTool{"function", chatSpec{t.name, t.description(Chat), t.schema()}})
	}
	return c
}

func chatSession(r *rand.Rand) string { return fmt.Sprintf("ses_%016x", r.Uint64()) }

type chatTool struct {
	Type     string   `json:"type"`
	Function chatSpec `json:"function"`
}

type chatSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatRequest struct {
	Model    string            `json:"model"`
	Max      int               `json:"max_completion_tokens"`
	Messages []json.RawMessage `json:"messages"`
	Tools    []chatTool        `json:"tools,omitempty"`
	Choice   string            `json:"tool_choice,omitempty"`
	Format   any               `json:"response_format,omitempty"`
	Stream   bool              `json:"stream"`
	Options  *chatOptions      `json:"stream_options,omitempty"`
}

type chatOptions struct {
	Usage bool `json:"include_usage"`
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (c *chat) path() string { return "/v1/chat/completions" }

func (c *chat) header(a *Agent, h http.Header) {
	h.Set("Authorization", "Bearer "+a.cfg.Key)
	h.Set("User-Agent", "opencode/1.18.33")
	h.Set("X-Session-Id", a.thread)
	h.Set("X-Session-Affinity", a.thread)
	if a.helps() {
		h.Set("X-Parent-Session-Id", a.parent)
	}
}

func (c *chat) open(prompt string) []entry { return []entry{{role: "user", texts: []string{prompt}}} }

func (c *chat) body(a *Agent, opener string) []byte {
	list := []json.RawMessage{encode(chatMessage{Role: "system", Content: c.system})}
	if opener != "" {
		list = append(list, encode(chatMessage{Role: "user", Content: opener}))
	}
	for _, e := range a.history {
		list = append(list, e.parts...)
		for _, text := range e.texts {
			list = append(list, encode(chatMessage{Role: e.role, Content: text}))
		}
		for _, r := range e.results {
			list = append(list, encode(chatMessage{Role: "tool", CallID: r.id, Content: r.output}))
		}
	}
	r := c.request(c.model, list)
	r.Tools, r.Choice = c.tools, "auto"
	return encode(r)
}

func (c *chat) request(model string, list []json.RawMessage) chatRequest {
	r := chatRequest{Model: model, Max: 32000, Messages: list, Stream: true}
	if c.usage {
		r.Options = &chatOptions{true}
	}
	return r
}

func (c *chat) title(_ *Agent, prompt string) []byte {
	r := c.request(c.small, []json.RawMessage{
		encode(chatMessage{Role: "system", Content: prose(chance(0, "chat title"), 1200)}),
		encode(chatMessage{Role: "user", Content: prompt}),
	})
	r.Format = json.RawMessage(`{"type":"json_schema","json_schema":{"name":"title","schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}}`)
	return encode(r)
}
