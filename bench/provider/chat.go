package provider

import (
	"fmt"
	"slices"
	"strings"
)

// A chatRequest is a request to /v1/chat/completions.
type chatRequest struct {
	body    object
	model   gpt
	list    []object // messages
	options cacheOptions
	prompt  *transcript
}

func readChat(body []byte) (*chatRequest, *apiError) {
	o, err := parseObject(body)
	if err != nil {
		return nil, refuse("We could not parse the JSON body of your request: %v", err)
	}
	c := &chatRequest{body: o, model: gptOf(o.str("model"))}
	if c.model.Name == "" {
		return nil, refuse("you must provide a model parameter")
	}
	list, ok := o["messages"].([]any)
	c.list = objects(list)
	switch {
	case !o.has("messages"):
		return nil, refuseParam("messages", "missing_required_parameter", "Missing required parameter: 'messages'.")
	case !ok || len(c.list) != len(list):
		return nil, refuseParam("messages", "invalid_type", "Invalid type for 'messages': expected an array of objects.")
	case len(list) == 0:
		return nil, refuseParam("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	var e *apiError
	if c.options, e = cacheOptionsOf(o, c.model, false); e != nil {
		return nil, e
	}
	if e := c.checkOrder(); e != nil {
		return nil, e
	}
	return c, c.place()
}

var chatRoles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// checkOrder checks roles, and that tool messages answer the calls right
// before them (facts/providers.md 2.1).
func (c *chatRequest) checkOrder() *apiError {
	var open []string
	for i, m := range c.list {
		role := m.str("role")
		if !slices.Contains(chatRoles, role) {
			return refuseParam(fmt.Sprintf("messages[%d].role", i), "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", role, strings.Join(chatRoles, "', '"))
		}
		if role == "tool" {
			at := slices.Index(open, m.str("tool_call_id"))
			if at < 0 {
				return refuseParam(fmt.Sprintf("messages.[%d].role", i), "", "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return unansweredCalls(open)
		}
		for _, call := range objects(m.list("tool_calls")) {
			open = append(open, call.str("id"))
		}
	}
	if len(open) > 0 {
		return unansweredCalls(open)
	}
	return nil
}

func unansweredCalls(ids []string) *apiError {
	return refuseParam("messages", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}

func (c *chatRequest) place() *apiError {
	c.prompt = newTranscript(c.model, c.body.list("tools"))
	for i, m := range c.list {
		if e := c.prompt.message(m, fmt.Sprintf("messages[%d]", i)); e != nil {
			return e
		}
	}
	return nil
}

// settings are the parameters that the cache key covers (2.6).
func (c *chatRequest) settings() object {
	return c.model.keyed(c.body, c.body["response_format"], c.body["reasoning_effort"], c.body["verbosity"])
}

func (c *chatRequest) question(prompt digest, bytes int) question {
	q := question{prompt: prompt, bytes: bytes, schema: c.body.obj("response_format").obj("json_schema").obj("schema")}
	q.maxTokens = limitOf(c.body, "max_completion_tokens", "max_tokens")
	for _, t := range objects(c.body.list("tools")) {
		f := t.obj("function")
		q.tools = append(q.tools, tool{name: f.str("name"), schema: f.obj("parameters")})
	}
	for _, m := range c.list {
		q.listen(m)
	}
	return q
}

// limitOf returns the first of some members that is a number.
func limitOf(body object, names ...string) int64 {
	for _, name := range names {
		if n, ok := body.num(name); ok {
			return n
		}
	}
	return 0
}

// listen takes the next message of an OpenAI history.
func (q *question) listen(m object) {
	switch m.str("role") {
	case "tool":
		q.results++
		q.step++
	case "user":
		q.step++
		var text []string
		parts, _ := contentBlocks(m["content"])
		for _, p := range parts {
			text = append(text, p.str("text"))
		}
		q.hear(strings.Join(text, "\n"))
	}
}
