package sdktest

import (
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func TestAnthropic(t *testing.T) {
	compare(t, append([]scenario{
		{name: "whole", play: func(r *run) { newMessage(r, hello()) }},
		{name: "stream", play: func(r *run) { streamMessage(r, hello()) }},
		{name: "tools whole", play: func(r *run) { useTool(r, newMessage) }},
		{name: "tools stream", play: func(r *run) { useTool(r, streamMessage) }},
		{name: "thinking between tools", play: func(r *run) { think(r) }},
		{name: "count", play: func(r *run) { countMessage(r) }},
		{name: "models", play: func(r *run) { listModels(r) }},
	}, failures(newMessageWith, streamMessageWith)...))
}

func newMessageWith(r *run, name, value string, retries int) {
	newMessage(r, hello(), option.WithHeader(name, value), option.WithMaxRetries(retries))
}

func streamMessageWith(r *run, name, value string, retries int) {
	streamMessage(r, hello(), option.WithHeader(name, value), option.WithMaxRetries(retries))
}

func hello() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 1000,
		System:   []anthropic.TextBlockParam{{Text: "You are terse."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello <there> & \u2028 é"))},
	}
}

func newMessage(r *run, p anthropic.MessageNewParams, opts ...option.RequestOption) *anthropic.Message {
	c := r.anthropic()
	m, err := c.Messages.New(r.ctx, p, opts...)
	if r.give(m, err); err != nil {
		return &anthropic.Message{}
	}
	return m
}

func streamMessage(r *run, p anthropic.MessageNewParams, opts ...option.RequestOption) *anthropic.Message {
	c := r.anthropic()
	m := &anthropic.Message{}
	giveAll(r, c.Messages.NewStreaming(r.ctx, p, opts...), func(e anthropic.MessageStreamEventUnion) {
		if err := m.Accumulate(e); err != nil {
			r.fail(err)
		}
		r.arrived()
	})
	return m
}

// useTool is a conversation of three requests with two tool calls.
func useTool(r *run, send func(*run, anthropic.MessageNewParams, ...option.RequestOption) *anthropic.Message) {
	p := hello()
	p.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
		Properties: map[string]any{"command": map[string]any{"type": "string"}}, Required: []string{"command"},
	}, "shell")}
	p.Messages[0] = anthropic.NewUserMessage(anthropic.NewTextBlock("CALL_TOOL shell CALL_TOOL shell"))
	calls := 0
	for range 3 {
		m := send(r, p)
		p.Messages = append(p.Messages, m.ToParam())
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				calls++
				p.Messages = append(p.Messages, anthropic.NewUserMessage(anthropic.NewToolResultBlock(b.ID, "hello\n", false)))
			}
		}
	}
	if calls != 2 {
		r.t.Fatalf("the model called %d tools, want 2", calls)
	}
}

// think has the provider check what it signed: a prefix that changed, came or
// went would be a 400.
func think(r *run) {
	useTool(r, func(r *run, p anthropic.MessageNewParams, opts ...option.RequestOption) *anthropic.Message {
		p.Model, p.MaxTokens = "claude-opus-5-5", 4000
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
		m := streamMessage(r, p, opts...)
		if len(m.Content) == 0 || m.Content[0].Signature == "" {
			r.t.Fatalf("the model did not think: %+v", r.given[len(r.given)-1])
		}
		return m
	})
}

// countMessage counts before there is a conversation, and in one.
func countMessage(r *run) {
	c := r.anthropic()
	p := hello()
	for range 2 {
		n, err := c.Messages.CountTokens(r.ctx, anthropic.MessageCountTokensParams{
			Model: p.Model, Messages: p.Messages,
			System: anthropic.MessageCountTokensParamsSystemUnion{OfTextBlockArray: p.System},
		})
		r.give(n, err)
		newMessage(r, p)
	}
}

// listModels is a request that no dialect claims.
func listModels(r *run) {
	c := r.anthropic()
	page, err := c.Models.List(r.ctx, anthropic.ModelListParams{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range page.Data {
		r.give(m, nil)
	}
}
