package sdktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func TestChat(t *testing.T) {
	compare(t, append([]scenario{
		{name: "whole", play: func(r *run) { newCompletion(r, greet()) }},
		{name: "stream", play: func(r *run) { streamCompletion(r, greet()) }},
		{name: "tools whole", play: func(r *run) { callFunction(r, newCompletion) }},
		{name: "tools stream", play: func(r *run) { callFunction(r, streamCompletion) }},
		{name: "models", play: func(r *run) { listOpenAIModels(r) }},
	}, failures(newCompletionWith, streamCompletionWith)...))
}

func newCompletionWith(r *run, name, value string, retries int) {
	newCompletion(r, greet(), option.WithHeader(name, value), option.WithMaxRetries(retries))
}

func streamCompletionWith(r *run, name, value string, retries int) {
	streamCompletion(r, greet(), option.WithHeader(name, value), option.WithMaxRetries(retries))
}

func greet() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "gpt-5.1",
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("You are terse."), openai.UserMessage("Hello <there> & \u2028 é"),
		},
	}
}

func newCompletion(r *run, p openai.ChatCompletionNewParams, opts ...option.RequestOption) openai.ChatCompletion {
	c := r.openai()
	m, err := c.Chat.Completions.New(r.ctx, p, opts...)
	if r.give(m, err); err != nil {
		return openai.ChatCompletion{}
	}
	return *m
}

// streamCompletion asks for usage, so that the proxy has nothing to add.
func streamCompletion(r *run, p openai.ChatCompletionNewParams, opts ...option.RequestOption) openai.ChatCompletion {
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	c := r.openai()
	var all openai.ChatCompletionAccumulator
	giveAll(r, c.Chat.Completions.NewStreaming(r.ctx, p, opts...), func(k openai.ChatCompletionChunk) {
		if !all.AddChunk(k) {
			r.t.Errorf("the SDK cannot add the chunk %s", k.RawJSON())
		}
		r.arrived()
	})
	return all.ChatCompletion
}

// callFunction is a conversation of three requests with two calls.
func callFunction(r *run, send func(*run, openai.ChatCompletionNewParams, ...option.RequestOption) openai.ChatCompletion) {
	p := greet()
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: "shell", Parameters: openai.FunctionParameters{
			"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}}, "required": []string{"command"},
		},
	})}
	p.Messages[1] = openai.UserMessage("CALL_TOOL shell CALL_TOOL shell")
	calls := 0
	for range 3 {
		m := send(r, p)
		if len(m.Choices) == 0 {
			r.t.Fatalf("no answer: %+v", r.given[len(r.given)-1])
		}
		p.Messages = append(p.Messages, m.Choices[0].Message.ToParam())
		for _, call := range m.Choices[0].Message.ToolCalls {
			calls++
			p.Messages = append(p.Messages, openai.ToolMessage("hello\n", call.ID))
		}
	}
	if calls != 2 {
		r.t.Fatalf("the model called %d functions, want 2", calls)
	}
}

func listOpenAIModels(r *run) {
	c := r.openai()
	page, err := c.Models.List(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range page.Data {
		r.give(m, nil)
	}
}

// TestChatUsageUnasked: a stream that would not report its usage is asked to,
// which its client notices by nothing but a "usage":null in each chunk, and by
// nothing at all if the proxy may not ask. (The simulated provider makes ids
// from the body that it gets.)
func TestChatUsageUnasked(t *testing.T) {
	never := filepath.Join(t.TempDir(), "preface.yaml")
	if err := os.WriteFile(never, []byte("usage: {request: never}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sc := scenario{play: func(r *run) {
		c := r.openai()
		giveAll(r, c.Chat.Completions.NewStreaming(r.ctx, greet()), func(openai.ChatCompletionChunk) {})
	}}
	want := direct(t).play(t, sc)

	asking := through(t).play(t, sc)
	if n := len(asking.given); n != len(want.given) {
		t.Fatalf("the SDK gives %d chunks through a proxy that asks for usage, %d directly", n, len(want.given))
	}
	for i, g := range asking.given {
		got := strings.Replace(withoutID(g), `,"usage":null`, "", 1)
		if plain := withoutID(want.given[i]); got != plain {
			t.Errorf("chunk %d without a null usage is %s, directly %s", i, got, plain)
		}
	}

	silent := through(t, "-config", never).play(t, sc)
	sameGiven(t, sc, want.given, silent.given)
	sameAnswers(t, sc, want.answers, silent.answers)
	sameRequests(t, want.received, silent.received)
}

func withoutID(g given) string {
	return strings.Replace(g.raw, g.value.(openai.ChatCompletionChunk).ID, "", 1)
}
