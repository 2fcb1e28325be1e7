package sdktest

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

func TestResponses(t *testing.T) {
	compare(t, append([]scenario{
		{name: "whole", play: func(r *run) { newResponse(r, say("Hello <there> & \u2028 é")) }},
		{name: "stream", play: func(r *run) { streamResponse(r, say("Hello <there> & \u2028 é")) }},
		{name: "items", play: func(r *run) { streamResponse(r, items()) }},
		{name: "tools whole", play: func(r *run) { callTool(r, newResponse) }},
		{name: "tools stream", play: func(r *run) { callTool(r, streamResponse) }},
		{name: "chain", play: func(r *run) { chain(r) }},
		{name: "count", play: func(r *run) { countResponse(r) }},
	}, failures(newResponseWith, streamResponseWith)...))
}

func newResponseWith(r *run, name, value string, retries int) {
	newResponse(r, say("hi"), option.WithHeader(name, value), option.WithMaxRetries(retries))
}

func streamResponseWith(r *run, name, value string, retries int) {
	streamResponse(r, say("hi"), option.WithHeader(name, value), option.WithMaxRetries(retries))
}

// say gives the input as a string, which is no list to insert into.
func say(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "gpt-5.1", Instructions: openai.String("You are terse."),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
	}
}

// items has its system slot in the list.
func items() responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: "gpt-5.1", Input: responses.ResponseNewParamsInputUnion{
		OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage("You are terse.", responses.EasyInputMessageRoleDeveloper),
			responses.ResponseInputItemParamOfMessage("CALL_TOOL shell CALL_TOOL shell", responses.EasyInputMessageRoleUser),
		},
	}}
}

func newResponse(r *run, p responses.ResponseNewParams, opts ...option.RequestOption) responses.Response {
	c := r.openai()
	m, err := c.Responses.New(r.ctx, p, opts...)
	if r.give(m, err); err != nil {
		return responses.Response{}
	}
	return *m
}

func streamResponse(r *run, p responses.ResponseNewParams, opts ...option.RequestOption) (last responses.Response) {
	c := r.openai()
	giveAll(r, c.Responses.NewStreaming(r.ctx, p, opts...), func(e responses.ResponseStreamEventUnion) {
		if e.Type == "response.completed" {
			last = e.Response
		}
		r.arrived()
	})
	return last
}

// callTool is a conversation of three requests with two calls, in which the
// client keeps the history.
func callTool(r *run, send func(*run, responses.ResponseNewParams, ...option.RequestOption) responses.Response) {
	p := items()
	p.Store = openai.Bool(false)
	p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("shell", map[string]any{
		"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}}, "required": []string{"command"},
	}, false)}
	calls := 0
	for range 3 {
		input := &p.Input.OfInputItemList
		for _, item := range send(r, p).Output {
			if item.Type != "function_call" {
				continue
			}
			calls++
			result := responses.ResponseInputItemParamOfFunctionCallOutput("hello\n")
			result.OfFunctionCallOutput.CallID = openai.String(item.CallID)
			*input = append(*input,
				responses.ResponseInputItemParamOfFunctionCall(item.Arguments.OfString, item.CallID, item.Name), result)
		}
	}
	if calls != 2 {
		r.t.Fatalf("the model called %d functions, want 2", calls)
	}
}

// chain has the provider keep the history, and with it the opener: the second
// request must not bring it again.
func chain(r *run) {
	first := newResponse(r, items())
	next := say("And now?")
	next.PreviousResponseID = openai.String(first.ID)
	newResponse(r, next)
}

func countResponse(r *run) {
	c := r.openai()
	n, err := c.Responses.InputTokens.Count(r.ctx, responses.InputTokenCountParams{
		Model: openai.String("gpt-5.1"),
		Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String("hi")},
	})
	r.give(n, err)
}
