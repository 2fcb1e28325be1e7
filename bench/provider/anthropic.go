package provider

import (
	"fmt"
	"net/http"
	"strings"
)

// A messagesRequest is a request to /v1/messages or count_tokens.
type messagesRequest struct {
	body   object
	header http.Header
	name   string // of the model
	claude claude
	tenant string

	placed  []placed         // everything in render order: tools, system, messages
	changes []transformation // thinking blocks that the provider dropped
	bound   digest           // what the next thinking block is bound to
}

// A placed block is one block of the prompt and where it stands in the request.
type placed struct {
	section string // "tool", "system", or a message's role
	message int    // index in messages, -1 outside
	path    string // as in error messages: "messages.1.content.0"
	block   object // a string content is one text block

	// directive says that block is not content, but what a message has beside
	// role and content (facts/providers.md 1.2).
	directive bool
}

// readMessages decodes and checks a request. counting is for count_tokens.
func readMessages(body []byte, h http.Header, tenant string, counting bool) (*messagesRequest, *apiError) {
	o, err := parseObject(body)
	if err != nil {
		return nil, refuse("The request body is not valid JSON: %v", err)
	}
	m := &messagesRequest{body: o, header: h, name: o.str("model"), tenant: tenant}
	m.claude = claudeOf(m.name)
	for _, check := range []func() *apiError{
		func() *apiError { return m.checkFields(counting) },
		m.place,
		m.checkRoles,
		m.checkToolPairs,
		m.checkMarks,
		m.checkDiagnostics,
		m.checkThinking,
	} {
		if e := check(); e != nil {
			return nil, e
		}
	}
	return m, nil
}

// place lists the blocks. What lies before the last compaction block is not
// read by the model (1.8), but still has to be well formed.
func (m *messagesRequest) place() *apiError {
	m.placeTools(false)
	m.placeTools(true)
	system, ok := contentBlocks(m.body["system"])
	if !ok {
		return refuse("system: Input should be a valid string or list of text blocks")
	}
	for i, b := range system {
		if i == 0 && isAttribution(m.body, b) {
			continue
		}
		m.placed = append(m.placed, placed{section: "system", message: -1, path: fmt.Sprintf("system.%d", i), block: b})
	}
	for i, v := range m.body.list("messages") {
		if e := m.placeMessage(i, asObject(v)); e != nil {
			return e
		}
	}
	return nil
}

// isAttribution reports whether the first system block is an agent's billing
// line, which the provider takes out before anything else sees it: only in
// this place, alone in its block, and in a list (1.9).
func isAttribution(body, first object) bool {
	_, list := body["system"].([]any)
	return list && strings.HasPrefix(first.str("text"), "x-anthropic-billing-header:")
}

// placeTools places the ordinary tools, or those that run at the provider. The
// latter render last, so that switching web search on or off leaves the cache
// of the others alone (1.4).
func (m *messagesRequest) placeTools(hosted bool) {
	for i, t := range objects(m.body.list("tools")) {
		name := t.str("type")
		if hosted == (strings.HasPrefix(name, "web_search_") || strings.HasPrefix(name, "web_fetch_")) {
			m.placed = append(m.placed, placed{section: "tool", message: -1, path: fmt.Sprintf("tools.%d", i), block: t})
		}
	}
}

func (m *messagesRequest) placeMessage(i int, msg object) *apiError {
	blocks, ok := contentBlocks(msg["content"])
	if msg == nil || !ok {
		return refuse("messages.%d: Input should be an object with role and content", i)
	}
	role := msg.str("role")
	if rest := msg.without("role", "content"); len(rest) > 0 {
		m.placed = append(m.placed, placed{role, i, fmt.Sprintf("messages.%d", i), rest, true})
	} else if len(blocks) == 0 {
		return refuse("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
	}
	for j, b := range blocks {
		if b.str("type") == "text" && b.str("text") == "" && !b.has("cache_control") {
			return refuse("messages: text content blocks must be non-empty")
		}
		m.placed = append(m.placed, placed{role, i, fmt.Sprintf("messages.%d.content.%d", i, j), b, false})
	}
	return nil
}

// contentBlocks returns a content as blocks: a string is one text block, an
// empty string or null none. It is false if it is neither, or a block is no
// object.
func contentBlocks(v any) ([]object, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		if v == "" {
			return nil, true
		}
		return []object{{"type": "text", "text": v}}, true
	case []any:
		blocks := objects(v)
		return blocks, len(blocks) == len(v)
	}
	return nil, false
}

// thinks reports whether the request asks for thinking.
func (m *messagesRequest) thinks() bool {
	t := m.body.obj("thinking").str("type")
	return t == "enabled" || t == "adaptive"
}

// seen returns the blocks that the model reads: all but those of messages
// before the last compaction block.
func (m *messagesRequest) seen() []placed {
	from := 0
	for i, p := range m.placed {
		if p.message >= 0 && p.block.str("type") == "compaction" {
			from = i
		}
	}
	var out []placed
	for i, p := range m.placed {
		if p.message < 0 || i >= from {
			out = append(out, p)
		}
	}
	return out
}
