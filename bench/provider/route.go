package provider

import (
	"net/http"
	"regexp"
	"strings"
)

// An endpoint is what a path means.
type endpoint struct {
	*format
	dialect string // "" where no model is called
	turn    bool   // a model call: counted, and subject to faults
	open    bool   // needs no credential
	answer  func(*Provider, *request) (*answer, *apiError)
}

// The names that Exchange.Dialect has.
const (
	Anthropic = "anthropic"
	Chat      = "openai-chat"
	Responses = "openai-responses"
)

// Any path may stand in front, with or without /v1, as base URLs have one.
var routes = []struct {
	method string
	path   *regexp.Regexp
	endpoint
}{
	{"POST", suffix(`/messages`), endpoint{&anthropicFormat, Anthropic, true, false, (*Provider).answerMessages}},
	{"POST", suffix(`/messages/count_tokens`), endpoint{&anthropicFormat, Anthropic, false, false, (*Provider).countMessages}},
	{"POST", suffix(`/chat/completions`), endpoint{&chatFormat, Chat, true, false, (*Provider).answerChat}},
	{"POST", suffix(`/responses`), endpoint{&responsesFormat, Responses, true, false, (*Provider).answerResponse}},
	{"POST", suffix(`/responses/input_tokens`), endpoint{&responsesFormat, Responses, false, false, (*Provider).countResponse}},
	{"POST", suffix(`/responses/compact`), endpoint{&responsesFormat, Responses, false, false, (*Provider).compactResponse}},
	{"GET", suffix(`/responses/[^/]+`), endpoint{&responsesFormat, Responses, false, false, (*Provider).storedResponse}},
	{"GET", suffix(`/responses/[^/]+/input_items`), endpoint{&responsesFormat, Responses, false, false, (*Provider).storedItems}},
	{"GET", suffix(`/responses`), endpoint{&responsesFormat, Responses, false, false, (*Provider).refuseUpgrade}},
	{"POST", suffix(`/conversations`), endpoint{&responsesFormat, Responses, false, false, (*Provider).newConversation}},
	{"GET", suffix(`/models`), endpoint{nil, "", false, false, (*Provider).listModels}},
	{"HEAD", suffix(`/api/hello`), endpoint{&anthropicFormat, "", false, true, (*Provider).hello}},
	{"GET", suffix(`/api/hello`), endpoint{&anthropicFormat, "", false, true, (*Provider).hello}},
}

func suffix(path string) *regexp.Regexp { return regexp.MustCompile(path + `$`) }

func routeOf(method, path string, h http.Header) endpoint {
	at := endpoint{answer: (*Provider).notFound}
	for _, r := range routes {
		if r.method == method && r.path.MatchString(path) {
			at = r.endpoint
			break
		}
	}
	if at.format == nil {
		at.format = &responsesFormat
		if speaksAnthropic(h) {
			at.format = &anthropicFormat
		}
	}
	return at
}

// speaksAnthropic reports which family a request of no dialect belongs to.
func speaksAnthropic(h http.Header) bool {
	return h.Get("x-api-key") != "" || h.Get("anthropic-version") != ""
}

func (at endpoint) unauthorized() *apiError {
	if at.format == &anthropicFormat {
		return &apiError{status: 401, message: "x-api-key header is required"}
	}
	return &apiError{status: 401, message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."}
}

func (p *Provider) notFound(q *request) (*answer, *apiError) {
	return nil, &apiError{status: 404, message: "Not found: " + q.method + " " + q.path}
}

func (p *Provider) hello(*request) (*answer, *apiError) {
	return whole(200, struct {
		Message string `json:"message"`
	}{"hello"}), nil
}

// refuseUpgrade sends clients of WebSocket mode to HTTP.
func (p *Provider) refuseUpgrade(q *request) (*answer, *apiError) {
	if !strings.EqualFold(q.header.Get("upgrade"), "websocket") {
		return p.notFound(q)
	}
	return nil, &apiError{status: 426, message: "WebSocket is not supported here; use HTTP"}
}

var modelNames = []string{
	"claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-4-6",
	"gpt-6.2-sol", "gpt-6.1-sol", "gpt-5.6-sol", "gpt-5.5", "gpt-5.4",
}

// listModels lists some; models that are not listed work as well.
func (p *Provider) listModels(q *request) (*answer, *apiError) {
	data := []object{}
	for _, name := range modelNames {
		switch {
		case strings.HasPrefix(name, "claude") != speaksAnthropic(q.header):
		case speaksAnthropic(q.header):
			data = append(data, object{"type": "model", "id": name, "display_name": name, "created_at": "2026-10-01T00:00:00Z"})
		default:
			data = append(data, object{"object": "model", "id": name, "created": 1790812800, "owned_by": "provider"})
		}
	}
	if speaksAnthropic(q.header) {
		return whole(200, object{"data": data, "has_more": false, "first_id": data[0]["id"], "last_id": data[len(data)-1]["id"]}), nil
	}
	return whole(200, object{"object": "list", "data": data}), nil
}
