package dialect

import (
	"strings"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

func init() { Register(anthropic{}) }

// anthropic is the Messages API. The system slot is the field system, so the
// prefix goes to index 0 of messages, whatever stands there: a message with
// the role system in mid-conversation follows a user turn as before, and a
// prefill stays last.
type anthropic struct{}

// anthropicMessages is the only placement.
const anthropicMessages = "anthropic.messages"

// anthropicApart are the top-level members that are no parameters: the other
// parts of a request, and what changes from one request to the next. "stream"
// is among the latter because clients that lose a stream ask again without.
var anthropicApart = []string{
	"messages", "system", "tools",
	"stream", "metadata", "diagnostics", "fallback_credit_token", "previous_thread_event_id",
}

func (anthropic) Name() string { return "anthropic" }

func (anthropic) Match(path string) (Endpoint, bool) {
	switch strings.TrimPrefix(path, "/v1") {
	case "/messages":
		return Turn, true
	case "/messages/count_tokens":
		return Count, true
	}
	return 0, false
}

// Depth: messages, their members, content blocks, their members, and the same
// once more for tool results.
func (anthropic) Depth(name []byte) int {
	if string(name) == "messages" {
		return 6
	}
	return headerDepth
}

func (anthropic) Read(doc *jsonspan.Doc, ep Endpoint, r *Request) error {
	r.Reset()
	root := doc.Root()
	messages, err := listMember(root, "messages")
	if err != nil {
		return err
	}
	first := messages.First()
	r.Model = inner(root.Get("model"))
	r.Stream = root.Get("stream").Bool()
	r.Rendering = anthropicMessages
	r.Slot = Slot{At: first.Span().From, Wrap: WrapBefore}
	r.Never = anthropicNever(root, first)
	r.readAnthropicHeader(root)
	r.readAnthropicHistory(doc.Body(), first)
	r.readMark(MarkAtTop, 0, root)
	if ep == Turn {
		r.readAnthropicQuestion(root)
	}
	return nil
}

// anthropicNever: a continued thread is listed by the vendor, but documented
// nowhere; its history is not in the request, so neither is its head.
func anthropicNever(root, first jsonspan.Value) string {
	switch {
	case isSet(root.Get("previous_thread_event_id")):
		return NeverContinuation
	case !first.Exists():
		return NeverNoMessages
	}
	return ""
}

func (r *Request) readAnthropicHeader(root jsonspan.Value) {
	r.readTools(root.Get("tools"))
	if system := root.Get("system"); isSet(system) {
		r.SystemSpans = append(r.SystemSpans, system.Span())
		r.readHeaderMarks(MarkInSystem, system)
	}
	r.readParameters(root, anthropicApart)
	r.Side = !r.Tools && (isTiny(root.Get("max_tokens")) ||
		isJSONFormat(root.Get("output_config").Get("format")) || isJSONFormat(root.Get("output_format")))
}

func (r *Request) readAnthropicHistory(body []byte, first jsonspan.Value) {
	d := r.digester(anthropicOrigin, body, 2)
	r.readHistory(&d, first)
	r.feed = d.feed
	r.Answered = answered(first, fromClaude)
	r.SignedThinking = contains(first, isThought)
}

// fromClaude reports whether a message is the model's, or answers it, or stands
// for a part of the history that was compacted.
func fromClaude(m jsonspan.Value) bool {
	if m.Get("role").Is("assistant") {
		return true
	}
	return contains(m.Get("content").First(), func(b jsonspan.Value) bool {
		return says(b.Get("type"), "tool_result", "compaction")
	})
}

// isThought reports whether a message has a signed block.
func isThought(m jsonspan.Value) bool { return contains(m.Get("content").First(), isSigned) }

// isSigned reports whether a block is thinking with a signature. Redacted
// thinking is nothing but one.
func isSigned(b jsonspan.Value) bool {
	t := b.Get("type")
	return says(t, "redacted_thinking") || says(t, "thinking") && isSet(b.Get("signature"))
}

// Renderings: only newer models take the role system, and none at the head of
// messages (facts/providers.md 1.2), so an opener of the system slot is written
// as the user's.
func (anthropic) Renderings(msgs []Message) ([]Rendering, error) {
	if err := check(msgs); err != nil {
		return nil, err
	}
	asUser := func(role string) string { return openerAs(role, "user") }
	return []Rendering{render(anthropicMessages, msgs, appendAnthropic, asUser)}, nil
}

func appendAnthropic(dst []byte, role, text string) []byte {
	dst = appendMember(append(dst, '{'), "role", role)
	dst = appendMember(append(dst, `,"content":[{"type":"text",`...), "text", text)
	return append(dst, `}]}`...)
}

func (anthropic) Meter(ep Endpoint, stream bool) Meter { return newAnthropicMeter(ep, stream) }

func (anthropic) Error(kind ErrorKind, message string) []byte {
	b := appendMember([]byte(`{"type":"error","error":{`), "type", kind.names().anthropic)
	b = appendMember(append(b, ','), "message", errorPrefix+message)
	return append(b, `}}`...)
}
