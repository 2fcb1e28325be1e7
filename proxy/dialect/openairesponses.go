package dialect

import (
	"fmt"
	"strings"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

func init() { Register(openaiResponses{}) }

// openaiResponses is the Responses API over HTTP. The system slot is the field
// instructions and the longest leading run of items in input with the role
// system or developer, among them Codex's list of tools.
//
// A stored prompt (the field prompt) renders at the provider in front of all
// input. It is the operator's, and the same in all requests of a thread, so it
// counts as part of the system slot: the prefix goes to its usual place, and
// the reference is a parameter. If it holds the whole conversation and there is
// no input, nothing is inserted.
type openaiResponses struct{}

const responsesName = "openai-responses"

var responsesPlacements = placements{responsesName + ".developer", responsesName + ".system", responsesName + ".developer"}

// responsesApart are the top-level members that are no parameters: the other
// parts of a request, and what changes from one request to the next. "stream"
// is among the latter because clients that lose a stream ask again without.
var responsesApart = []string{
	"input", "instructions", "tools",
	"stream", "stream_options", "background", "generate", "metadata", "client_metadata",
	"user", "safety_identifier", "prompt_cache_key", "previous_response_id", "conversation",
}

func (openaiResponses) Name() string { return responsesName }

func (openaiResponses) Match(path string) (Endpoint, bool) {
	switch strings.TrimPrefix(path, "/v1") {
	case "/responses":
		return Turn, true
	case "/responses/input_tokens":
		return Count, true
	case "/responses/compact":
		return Compact, true
	}
	return 0, false
}

// Depth: items, their members, content parts, and their members.
func (openaiResponses) Depth(name []byte) int {
	if string(name) == "input" {
		return 4
	}
	return headerDepth
}

func (openaiResponses) Read(doc *jsonspan.Doc, ep Endpoint, r *Request) error {
	r.Reset()
	root := doc.Root()
	input := root.Get("input")
	switch k := input.Kind(); k {
	case jsonspan.True, jsonspan.False, jsonspan.Number, jsonspan.Object:
		return fmt.Errorf("input is %s, want a string or a list", kindNames[k])
	}
	first := afterSystem(input)
	r.Model = inner(root.Get("model"))
	r.Stream = root.Get("stream").Bool()
	r.Rendering = responsesPlacements.of(input)
	r.Slot = responsesSlot(input, first)
	r.Never = responsesNever(root, input, first)
	r.readResponsesHeader(root)
	r.readResponsesInput(doc.Body(), input, first)
	if ep == Turn {
		r.readResponsesQuestion(root)
	}
	r.Side = !r.Tools && (isJSONFormat(root.Get("text").Get("format")) || isTiny(root.Get("max_output_tokens")))
	// What was said before is at the provider, and an answer is what it is
	// continued by.
	r.Answered = r.Answered || r.Never == NeverContinuation
	return nil
}

func responsesSlot(input, first jsonspan.Value) Slot {
	if input.Kind() == jsonspan.String {
		return Slot{At: input.Span().From, Wrap: WrapString, End: input.Span().To}
	}
	return Slot{At: first.Span().From, Wrap: WrapBefore}
}

// responsesNever: a request that names an earlier answer may still repeat its
// opening, as Codex does after a prewarm; then that answer is of no history.
func responsesNever(root, input, first jsonspan.Value) string {
	repeatsOpening := first != input.First()
	switch {
	case isSet(root.Get("conversation")):
		return NeverConversation
	case root.Get("generate").Kind() == jsonspan.False:
		return NeverPrewarm
	case isSet(root.Get("previous_response_id")) && !repeatsOpening:
		return NeverContinuation
	case input.Kind() != jsonspan.String && !first.Exists():
		return NeverNoMessages
	}
	return ""
}

func (r *Request) readResponsesHeader(root jsonspan.Value) {
	if instructions := root.Get("instructions"); isSet(instructions) {
		r.SystemSpans = append(r.SystemSpans, instructions.Span())
	}
	r.readTools(root.Get("tools"))
	r.readParameters(root, responsesApart)
	r.readCaching(root)
}

func (r *Request) readResponsesInput(body []byte, input, first jsonspan.Value) {
	d := r.digester(openaiOrigin, body, 1)
	d.plain = itemPlain
	if input.Kind() == jsonspan.String {
		r.readInputText(&d, input)
	} else {
		r.readOpener(&d, input, first)
		r.readHistory(&d, first)
		r.Answered = contains(first, fromResponses)
	}
	r.feed = d.feed
}

// readInputText reads a history of one string, which is one user message.
func (r *Request) readInputText(d *digester, input jsonspan.Value) {
	content := d.userText(input)
	if prompt, ok := d.prompt(input); ok {
		content = prompt
	}
	r.History = append(r.History, d.origin.Next(content))
	r.FirstPrompt = content
	if d.outline {
		r.Outline.Messages = append(r.Outline.Messages, MessageFacts{
			Content: content, At: int32(input.Span().From), Size: int32(input.Span().Len()), Blocks: 1, Role: UserRole,
		})
	}
}

// itemPlain reports the members of an item that mean nothing: the id, which
// clients make up anew for each session, unless it is all that the item has;
// and the type of a message, which may be left out.
func itemPlain(item, member jsonspan.Value, name memberName) bool {
	switch name {
	case idName:
		return !says(item.Get("type"), "item_reference")
	case typeName:
		return says(member, "message")
	}
	return false
}

// fromResponses reports whether an item is the model's, or answers it, or
// stands for a part of the history: all items but the client's own messages
// and settings.
func fromResponses(item jsonspan.Value) bool {
	if role := item.Get("role"); role.Exists() {
		return role.Is("assistant")
	}
	t := item.Get("type")
	return t.Exists() && !t.Is("configuration_update") && !isToolItem(item)
}

// Renderings: one with the system slot's messages as "developer", one as "system".
func (openaiResponses) Renderings(msgs []Message) ([]Rendering, error) {
	return responsesPlacements.render(msgs, appendItem)
}

func appendItem(dst []byte, role, text string) []byte {
	dst = appendMember(append(dst, `{"type":"message",`...), "role", role)
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	dst = appendMember(append(dst, `,"content":[{`...), "type", kind)
	dst = appendMember(append(dst, ','), "text", text)
	return append(dst, `}]}`...)
}

func (openaiResponses) Meter(ep Endpoint, stream bool) Meter { return newResponsesMeter(ep, stream) }

func (openaiResponses) Error(kind ErrorKind, message string) []byte {
	return openaiError(kind, message)
}
