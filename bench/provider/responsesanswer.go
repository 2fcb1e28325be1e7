package provider

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"strings"
)

// answerResponse answers /v1/responses.
func (p *Provider) answerResponse(q *request) (*answer, *apiError) {
	r, e := p.readResponses(q)
	if e != nil {
		return nil, e
	}
	pl, prompt := p.planPrompt(q, r.prompt, r.options, r.settings())
	var said reply
	if !r.options.prewarm {
		said = r.question(prompt, q.fault.EventBytes).reply()
	}
	pl.tokens.Output = said.output()
	out := r.response(said, q.naming(prompt), q.start.At.Unix(), pl.tokens)
	kept := r.print(pl)
	if r.options.comparison != "" {
		out.Diagnostics = p.diagnose(q, r, kept, pl)
	}
	a := whole(200, out)
	if r.body.flag("stream") {
		a = streamed(out.events(q.fault.EventBytes > 0))
	}
	a.model, a.tokens = r.model.Name, &pl.tokens
	a.begin = func() {
		p.cache.Commit(pl.made)
		if r.model.Breakpoints() && out.Status == "completed" {
			p.responsePrints.add(q.tenant, out.ID, kept)
		}
		p.store.add(q.tenant, out.ID, r.body, &stored{r.input, append(r.items, decoded(out.Output)...), out, r.size})
	}
	return a, nil
}

// decoded turns output items into what a client would send back.
func decoded(items []outputItem) []any {
	var out []any
	d := json.NewDecoder(strings.NewReader(string(mustJSON(items))))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		panic("BUG: cannot read an answer of our own: " + err.Error())
	}
	return out
}

// countResponse answers /v1/responses/input_tokens.
func (p *Provider) countResponse(q *request) (*answer, *apiError) {
	r, e := p.readResponses(q)
	if e != nil {
		return nil, e
	}
	_, end, _ := measure(r.prompt.blocks, 0)
	a := whole(200, object{"object": "response.input_tokens", "input_tokens": end.Tokens})
	a.model = r.model.Name
	return a, nil
}

// compactResponse answers /v1/responses/compact: the user's messages stay, all
// else is folded into an opaque item.
func (p *Provider) compactResponse(q *request) (*answer, *apiError) {
	r, e := p.readResponses(q)
	if e != nil {
		return nil, e
	}
	pl, prompt := p.planPrompt(q, r.prompt, r.options, r.settings())
	names := q.naming(prompt)
	output := []any{}
	for _, v := range r.items {
		if item := asObject(v); kindOf(item) == "message" && item.str("role") == "user" {
			output = append(output, v)
		}
	}
	folded := base64.StdEncoding.EncodeToString(prompt[:])
	pl.tokens.Output = textTokens(folded)
	output = append(output, object{"type": "compaction", "id": idFor("cmp_", names, 2), "encrypted_content": folded})
	a := whole(200, object{
		"id": idFor("resp_", names, 3), "object": "response.compaction", "created_at": q.start.At.Unix(),
		"output": output, "usage": r.usage(pl.tokens),
	})
	a.model, a.tokens, a.begin = r.model.Name, &pl.tokens, func() { p.cache.Commit(pl.made) }
	return a, nil
}

// storedResponse answers GET /v1/responses/{id}.
func (p *Provider) storedResponse(q *request) (*answer, *apiError) {
	r, e := p.store.get(q.tenant, path.Base(q.path))
	if e != nil {
		return nil, e
	}
	return whole(200, r.body), nil
}

// storedItems answers GET /v1/responses/{id}/input_items.
func (p *Provider) storedItems(q *request) (*answer, *apiError) {
	r, e := p.store.get(q.tenant, path.Base(path.Dir(q.path)))
	if e != nil {
		return nil, e
	}
	return whole(200, object{"object": "list", "data": append([]any{}, r.input...), "has_more": false}), nil
}

// newConversation answers POST /v1/conversations.
func (p *Provider) newConversation(q *request) (*answer, *apiError) {
	body, err := parseObject(q.body)
	if err != nil && len(q.body) > 0 {
		return nil, refuse("We could not parse the JSON body of your request: %v", err)
	}
	id := p.store.open(q.tenant, body.list("items"), int64(len(q.body)))
	return whole(200, object{"id": id, "object": "conversation", "created_at": q.start.At.Unix(), "metadata": object{}}), nil
}

type responseObject struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Created      int64             `json:"created_at"`
	Status       string            `json:"status"`
	Error        *responseFailure  `json:"error"`
	Incomplete   *incompleteReason `json:"incomplete_details"`
	Instructions any               `json:"instructions"`
	Model        string            `json:"model"`
	Output       []outputItem      `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Previous     any               `json:"previous_response_id"`
	Conversation any               `json:"conversation,omitempty"`
	Store        bool              `json:"store"`
	ToolChoice   any               `json:"tool_choice"`
	Tools        []any             `json:"tools"`
	Usage        *responseUsage    `json:"usage"`
	Tier         *string           `json:"service_tier,omitempty"`
	// Diagnostics is there exactly where a diagnosis was asked for, once the
	// response is complete.
	Diagnostics *responsesDiagnosis `json:"prompt_cache_diagnostics,omitempty"`
	Metadata    any                 `json:"metadata"`
}

type responseFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incompleteReason struct {
	Reason string `json:"reason"`
}

// An outputItem is a message, a reasoning item, or a call; what is not of its
// type is absent.
type outputItem struct {
	Type      string        `json:"type"`
	ID        string        `json:"id"`
	Status    string        `json:"status,omitempty"`
	Role      string        `json:"role,omitempty"`
	Content   *[]outputPart `json:"content,omitempty"`
	Summary   *[]any        `json:"summary,omitempty"`
	Encrypted string        `json:"encrypted_content,omitempty"`
	CallID    string        `json:"call_id,omitempty"`
	Name      string        `json:"name,omitempty"`
	Arguments *string       `json:"arguments,omitempty"` // function_call
	Input     *string       `json:"input,omitempty"`     // custom_tool_call
}

type outputPart struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
}

type responseUsage struct {
	Input         int64         `json:"input_tokens"` // the cached ones included
	InputDetails  inputDetails  `json:"input_tokens_details"`
	Output        int64         `json:"output_tokens"`
	OutputDetails outputDetails `json:"output_tokens_details"`
	Total         int64         `json:"total_tokens"`
}

func (r *responsesRequest) usage(t Tokens) *responseUsage {
	return &responseUsage{Input: t.Input(), InputDetails: r.model.details(t), Output: t.Output, Total: t.Input() + t.Output}
}

// response is the answer as a whole.
func (r *responsesRequest) response(said reply, names digest, created int64, t Tokens) responseObject {
	out := responseObject{
		ID: idFor("resp_", names, 0), Object: "response", Created: created, Status: "completed", Model: r.model.Name,
		Instructions: r.body["instructions"], Output: []outputItem{}, Parallel: r.body["parallel_tool_calls"] != false,
		Previous: r.body["previous_response_id"], Store: r.body["store"] != false, ToolChoice: r.body["tool_choice"],
		Tools: append([]any{}, r.body.list("tools")...), Usage: r.usage(t), Metadata: r.body["metadata"], Tier: tierOf(r.body),
	}
	if out.ToolChoice == nil {
		out.ToolChoice = "auto"
	}
	if id := conversationOf(r.body); id != "" {
		out.Conversation = object{"id": id}
	}
	out.Usage.OutputDetails.Reasoning = textTokens(said.thinking)
	if said.cut {
		out.Status, out.Incomplete = "incomplete", &incompleteReason{"max_output_tokens"}
	}
	if said.thinking != "" {
		secret := base64.StdEncoding.EncodeToString([]byte(said.thinking))
		out.Output = append(out.Output, outputItem{Type: "reasoning", ID: idFor("rs_", names, 4), Summary: &[]any{}, Encrypted: secret})
	}
	if said.text != "" {
		part := outputPart{"output_text", said.text, []any{}}
		out.Output = append(out.Output, outputItem{Type: "message", ID: idFor("msg_", names, 5), Status: out.Status, Role: "assistant", Content: &[]outputPart{part}})
	}
	if said.call != nil {
		out.Output = append(out.Output, said.call.item(names))
	}
	return out
}

func (c *toolCall) item(names digest) outputItem {
	arguments := string(c.arguments)
	item := outputItem{Type: "function_call", ID: idFor("fc_", names, 6), Status: "completed", CallID: idFor("call_", names, 1), Name: c.name, Arguments: &arguments}
	if c.custom {
		item.Type, item.Arguments, item.Input = "custom_tool_call", nil, &arguments
	}
	return item
}
