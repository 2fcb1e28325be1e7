package provider

import (
	"fmt"
	"slices"
	"strings"
)

// A responsesRequest is a request to /v1/responses or one of its siblings.
type responsesRequest struct {
	body    object
	model   gpt
	input   []any // the request's own items
	items   []any // those the model reads: what is stored, then input
	size    int64 // bytes of the requests that items came from
	options cacheOptions
	prompt  *transcript
}

// readResponses decodes and checks a request, and joins it to what it continues.
func (p *Provider) readResponses(q *request) (*responsesRequest, *apiError) {
	o, err := parseObject(q.body)
	if err != nil {
		return nil, refuse("We could not parse the JSON body of your request: %v", err)
	}
	r := &responsesRequest{body: o, model: gptOf(o.str("model"))}
	if r.model.Name == "" {
		return nil, refuseParam("model", "missing_required_parameter", "Missing required parameter: 'model'.")
	}
	var e *apiError
	if r.input, e = r.readInput(); e != nil {
		return nil, e
	}
	before, e := p.store.continued(q.tenant, o)
	if e != nil {
		return nil, e
	}
	r.items = append(slices.Clip(before.history), r.input...)
	r.size = before.size + int64(len(q.body))
	if r.options, e = cacheOptionsOf(o, r.model, true); e != nil {
		return nil, e
	}
	if e := r.checkItems(); e != nil {
		return nil, e
	}
	return r, r.place()
}

// readInput returns the input as items; a string is one user message.
func (r *responsesRequest) readInput() ([]any, *apiError) {
	switch in := r.body["input"].(type) {
	case string:
		return []any{map[string]any{"type": "message", "role": "user", "content": in}}, nil
	case []any:
		if len(objects(in)) != len(in) {
			return nil, refuseParam("input", "invalid_type", "Invalid type for 'input': expected an array of objects.")
		}
		return in, nil
	case nil:
		if r.body.has("previous_response_id") || r.body.has("conversation") {
			return nil, nil
		}
		return nil, refuseParam("input", "missing_required_parameter", "Missing required parameter: 'input'.")
	}
	return nil, refuseParam("input", "invalid_type", "Invalid type for 'input': expected a string or an array of objects.")
}

// kindOf returns the type of an item; a message may leave it out.
func kindOf(item object) string {
	if k := item.str("type"); k != "" {
		return k
	}
	return "message"
}

// isCall and isOutput tell the two halves of a tool call.
func isCall(item object) bool   { return strings.HasSuffix(kindOf(item), "_call") }
func isOutput(item object) bool { return strings.HasSuffix(kindOf(item), "_call_output") }

var responsesRoles = []string{"user", "assistant", "system", "developer"}

// checkItems checks roles, that calls and their outputs belong together, and
// that reasoning comes with what it led to (facts/providers.md 2.2).
func (r *responsesRequest) checkItems() *apiError {
	calls, outputs := map[string]bool{}, map[string]bool{}
	items := objects(r.items)
	for i, item := range items {
		id := item.str("call_id")
		switch kind := kindOf(item); {
		case kind == "message" && !slices.Contains(responsesRoles, item.str("role")):
			return refuseParam(fmt.Sprintf("input[%d]", i), "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", item.str("role"), strings.Join(responsesRoles, "', '"))
		case isOutput(item) && !calls[id]:
			return refuseParam("input", "", "No tool call found for %s with call_id %s.", strings.ReplaceAll(kind, "_", " "), id)
		case isOutput(item):
			outputs[id] = true
		case isCall(item) && id != "":
			calls[id] = true
		case kind == "reasoning" && !r.followed(items, i):
			return refuseParam("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", item.str("id"))
		}
	}
	for _, item := range items {
		if id := item.str("call_id"); isCall(item) && id != "" && !outputs[id] {
			return refuseParam("input", "", "No tool output found for %s %s.", strings.ReplaceAll(kindOf(item), "_", " "), id)
		}
	}
	return nil
}

// followed reports whether an item of the model's follows item i.
func (r *responsesRequest) followed(items []object, i int) bool {
	if i+1 == len(items) {
		return false
	}
	next := items[i+1]
	return isCall(next) || kindOf(next) == "reasoning" || kindOf(next) == "message" && next.str("role") == "assistant"
}

// place renders the prompt. Ids and states of items are not shown to the model.
func (r *responsesRequest) place() *apiError {
	r.prompt = newTranscript(r.model, r.body.list("tools"))
	r.prompt.instruct(r.body.str("instructions"))
	first := len(r.items) - len(r.input)
	for i, item := range objects(r.items) {
		if kindOf(item) == "message" {
			if e := r.prompt.message(item, fmt.Sprintf("input[%d]", i-first), "id", "status", "type", "phase"); e != nil {
				return e
			}
			continue
		}
		r.prompt.add(block{kind: "item/" + kindOf(item), text: canonical(item.without("id", "status"))})
		role := item.str("role")
		if isOutput(item) {
			role = "tool"
		}
		r.prompt.endItem(role)
	}
	return nil
}

// settings are the parameters that the cache key covers (2.6).
func (r *responsesRequest) settings() object {
	text := r.body.obj("text")
	return r.model.keyed(r.body, text["format"], r.body.obj("reasoning")["effort"], text["verbosity"])
}

func (r *responsesRequest) question(prompt digest, bytes int) question {
	q := question{prompt: prompt, bytes: bytes, schema: r.body.obj("text").obj("format").obj("schema")}
	q.maxTokens = limitOf(r.body, "max_output_tokens")
	q.thinks = slices.Contains(r.body.list("include"), any("reasoning.encrypted_content"))
	q.offer(r.body.list("tools"))
	for _, item := range objects(r.items) {
		switch {
		case kindOf(item) == "additional_tools":
			q.offer(item.list("tools"))
		case isOutput(item):
			q.listen(object{"role": "tool"})
		case kindOf(item) == "message":
			q.listen(item)
		}
	}
	return q
}

// offer adds tools; those of a namespace stand inside it.
func (q *question) offer(tools []any) {
	for _, t := range objects(tools) {
		if t.str("type") == "namespace" {
			q.offer(t.list("tools"))
			continue
		}
		q.tools = append(q.tools, tool{name: t.str("name"), custom: t.str("type") == "custom", schema: t.obj("parameters")})
	}
}
