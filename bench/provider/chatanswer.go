package provider

// answerChat answers /v1/chat/completions.
func (p *Provider) answerChat(q *request) (*answer, *apiError) {
	c, e := readChat(q.body)
	if e != nil {
		return nil, e
	}
	pl, prompt := p.planPrompt(q, c.prompt, c.options, c.settings())
	r := c.question(prompt, q.fault.EventBytes).reply()
	pl.tokens.Output = r.output()
	names := q.naming(prompt)
	out := completion{
		chatHead: chatHead{idFor("chatcmpl-", names, 0), "chat.completion", q.start.At.Unix(), c.model.Name},
		Choices:  []choice{r.choice(names)},
		Usage:    c.usage(pl.tokens),
		Tier:     tierOf(c.body),
	}
	a := whole(200, out)
	if c.body.flag("stream") {
		a = streamed(out.events(c.body.obj("stream_options").flag("include_usage"), q.fault.EventBytes > 0))
	}
	a.model, a.tokens, a.begin = c.model.Name, &pl.tokens, func() { p.cache.Commit(pl.made) }
	return a, nil
}

type chatHead struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

type completion struct {
	chatHead
	Choices []choice  `json:"choices"`
	Usage   chatUsage `json:"usage"`
	Tier    *string   `json:"service_tier,omitempty"`
}

type choice struct {
	Index        int         `json:"index"`
	Message      chatMessage `json:"message"`
	LogProbs     any         `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Refusal *string    `json:"refusal"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"` // in streams
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatUsage struct {
	Prompt     int64         `json:"prompt_tokens"` // the cached ones included
	Completion int64         `json:"completion_tokens"`
	Total      int64         `json:"total_tokens"`
	Details    inputDetails  `json:"prompt_tokens_details"`
	Output     outputDetails `json:"completion_tokens_details"`
}

type inputDetails struct {
	Cached  int64  `json:"cached_tokens"`
	Written *int64 `json:"cache_write_tokens,omitempty"` // from GPT-5.6 on
}

type outputDetails struct {
	Reasoning int64 `json:"reasoning_tokens"`
}

func (c *chatRequest) usage(t Tokens) chatUsage {
	return chatUsage{Prompt: t.Input(), Completion: t.Output, Total: t.Input() + t.Output, Details: c.model.details(t)}
}

func (g gpt) details(t Tokens) inputDetails {
	d := inputDetails{Cached: t.CacheRead}
	if g.Breakpoints() {
		n := t.Written()
		d.Written = &n
	}
	return d
}

func (r reply) choice(names digest) choice {
	c := choice{Message: chatMessage{Role: "assistant", Content: optional(r.text)}, FinishReason: "stop"}
	if r.cut {
		c.FinishReason = "length"
	}
	if r.call != nil {
		c.FinishReason = "tool_calls"
		c.Message.Calls = []chatCall{{ID: idFor("call_", names, 1), Type: "function", Function: chatFunction{r.call.name, string(r.call.arguments)}}}
	}
	return c
}

type chunk struct {
	chatHead
	Choices []chunkChoice `json:"choices"`
	// Usage is absent unless usage was asked for; then it is null in all chunks
	// but the last, which has no choices.
	Usage *nullable[chatUsage] `json:"usage,omitempty"`
	Tier  *string              `json:"service_tier,omitempty"`
}

type chunkChoice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	LogProbs     any     `json:"logprobs"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role    string     `json:"role,omitempty"`
	Content *string    `json:"content,omitempty"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
}

// A nullable renders as null unless it has a value.
type nullable[T any] struct{ value *T }

func (n nullable[T]) MarshalJSON() ([]byte, error) { return mustJSON(n.value), nil }

// chatFormat is that of errors: after one, no [DONE] comes.
var chatFormat = openaiFormat(sse("", openaiError{openaiDetail{Message: "The server had an error while processing your request.", Type: "server_error"}}))

// events is the answer as a stream.
func (c completion) events(usage, one bool) []event {
	var out []event
	send := func(choices []chunkChoice, u *chatUsage) {
		k := chunk{chatHead: c.chatHead, Choices: choices, Tier: c.Tier}
		k.Object = "chat.completion.chunk"
		if usage {
			k.Usage = &nullable[chatUsage]{u}
		}
		out = append(out, event{data: sse("", k)})
	}
	ch := c.Choices[0]
	for _, d := range ch.Message.deltas(one) {
		send([]chunkChoice{{Delta: d}}, nil)
	}
	send([]chunkChoice{{FinishReason: &ch.FinishReason}}, nil)
	if usage {
		send([]chunkChoice{}, &c.Usage)
	}
	return append(out, event{data: []byte("data: [DONE]\n\n"), terminal: true})
}

func (m chatMessage) deltas(one bool) []delta {
	empty := ""
	out := []delta{{Role: "assistant", Content: &empty}}
	if m.Content != nil {
		for _, s := range pieces(*m.Content, one) {
			out = append(out, delta{Content: &s})
		}
	}
	for i, call := range m.Calls {
		arguments := call.Function.Arguments
		call.Index, call.Function.Arguments = &i, ""
		out = append(out, delta{Calls: []chatCall{call}})
		for _, s := range pieces(arguments, one) {
			out = append(out, delta{Calls: []chatCall{{Index: &i, Function: chatFunction{Arguments: s}}}})
		}
	}
	return out
}
