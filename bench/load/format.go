package load

import (
	"encoding/json"
	"strings"
)

// A format is a provider's wire format.
type format struct {
	path, model string
	end         string // that each whole stream has
	body        func(model, text string, stream bool) any
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

var formats = map[string]format{
	"anthropic": {"/v1/messages", "claude-sonnet-4-5", "event: message_stop", func(model, text string, stream bool) any {
		return struct {
			Model    string    `json:"model"`
			Max      int       `json:"max_tokens"`
			System   string    `json:"system"`
			Messages []message `json:"messages"`
			Stream   bool      `json:"stream"`
		}{model, 64, "You are measured.", []message{{"user", text}}, stream}
	}},
	"chat": {"/v1/chat/completions", "gpt-5.4-mini", "data: [DONE]", func(model, text string, stream bool) any {
		return struct {
			Model    string    `json:"model"`
			Messages []message `json:"messages"`
			Stream   bool      `json:"stream"`
		}{model, []message{{"system", "You are measured."}, {"user", text}}, stream}
	}},
	"responses": {"/v1/responses", "gpt-5.4-mini", "event: response.completed", func(model, text string, stream bool) any {
		return struct {
			Model        string    `json:"model"`
			Instructions string    `json:"instructions"`
			Input        []message `json:"input"`
			Stream       bool      `json:"stream"`
			Store        bool      `json:"store"`
		}{model, "You are measured.", []message{{"user", text}}, stream, false}
	}},
}

// request returns a body of about so many bytes.
func (f format) request(model string, size int, stream bool) []byte {
	const line = "The quick brown fox jumps over the lazy dog. "
	bare, err := json.Marshal(f.body(model, "", stream))
	if err != nil {
		panic("BUG: cannot write a request: " + err.Error())
	}
	text := strings.Repeat(line, max(0, size-len(bare))/len(line)+1)
	body, err := json.Marshal(f.body(model, text[:max(1, size-len(bare))], stream))
	if err != nil {
		panic("BUG: cannot write a request: " + err.Error())
	}
	return body
}
