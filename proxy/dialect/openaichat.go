package dialect

import (
	"strings"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

func init() { Register(openaiChat{}) }

// openaiChat is Chat Completions, OpenAI's and everybody else's. The system slot
// is the longest leading run of messages with the role system or developer.
type openaiChat struct{}

const chatName = "openai-chat"

// Many hosts of this format know no developer role, so it needs a hint.
var chatPlacements = placements{chatName + ".developer", chatName + ".system", chatName + ".system"}

// chatApart are the top-level members that are no parameters: the other parts
// of a request, and what changes from one request to the next. "stream" is
// among the latter because clients that lose a stream ask again without.
var chatApart = []string{
	"messages", "tools", "functions",
	"stream", "stream_options", "metadata", "user", "safety_identifier", "prompt_cache_key",
}

func (openaiChat) Name() string { return chatName }

func (openaiChat) Match(path string) (Endpoint, bool) {
	return Turn, strings.TrimPrefix(path, "/v1") == "/chat/completions"
}

// Depth: messages, their members, content parts, and their members.
func (openaiChat) Depth(name []byte) int {
	if string(name) == "messages" {
		return 4
	}
	return headerDepth
}

func (openaiChat) Read(doc *jsonspan.Doc, _ Endpoint, r *Request) error {
	r.Reset()
	root := doc.Root()
	messages, err := listMember(root, "messages")
	if err != nil {
		return err
	}
	first := afterSystem(messages)
	r.Model = inner(root.Get("model"))
	r.Stream = root.Get("stream").Bool()
	r.Rendering = chatPlacements.of(messages)
	r.Slot = Slot{At: first.Span().From, Wrap: WrapBefore}
	if !first.Exists() {
		r.Never = NeverNoMessages
	}
	r.readChatHeader(root)
	r.readChatMessages(doc.Body(), messages, first)
	r.readChatUsage(root)
	return nil
}

func (r *Request) readChatHeader(root jsonspan.Value) {
	r.readTools(root.Get("tools"))
	r.readTools(root.Get("functions")) // the older spelling of tools
	r.readParameters(root, chatApart)
	r.readCaching(root)
	r.Side = !r.Tools && (isJSONFormat(root.Get("response_format")) ||
		isTiny(root.Get("max_tokens")) || isTiny(root.Get("max_completion_tokens")))
}

func (r *Request) readChatMessages(body []byte, messages, first jsonspan.Value) {
	d := r.digester(openaiOrigin, body, 1)
	r.readOpener(&d, messages, first)
	r.readHistory(&d, first)
	r.feed = d.feed
	r.Answered = answered(first, fromChat)
}

// fromChat reports whether a message is the model's, or the result of a call
// that it made.
func fromChat(m jsonspan.Value) bool {
	role := m.Get("role")
	return role.Is("assistant") || role.Is("tool") || role.Is("function")
}

// readChatUsage asks for the usage of a stream where the client did not, by an
// insertion. Where the client has an opinion, be it null, it stands.
func (r *Request) readChatUsage(root jsonspan.Value) {
	if !r.Stream {
		return
	}
	options := root.Get("stream_options")
	ask := options.Get("include_usage")
	r.WantsUsage = ask.Bool()
	switch {
	case ask.Exists():
	case !options.Exists():
		r.askUsage(root, streamOptions)
	case options.Kind() == jsonspan.Object && options.Len() == 0:
		r.askUsage(options, onlyIncludeUsage)
	case options.Kind() == jsonspan.Object:
		r.askUsage(options, includeUsage)
	}
}

// askUsage inserts a member at the front of an object.
func (r *Request) askUsage(object jsonspan.Value, member []byte) {
	at := object.Span().From + len("{")
	r.UsageSplices = append(r.UsageSplices, Splice{at, member, "usage"})
}

var (
	streamOptions    = []byte(`"stream_options":{"include_usage":true},`)
	includeUsage     = []byte(`"include_usage":true,`)
	onlyIncludeUsage = []byte(`"include_usage":true`)
)

// Renderings: one with the system slot's messages as "developer", one as "system".
func (openaiChat) Renderings(msgs []Message) ([]Rendering, error) {
	return chatPlacements.render(msgs, appendChat)
}

func appendChat(dst []byte, role, text string) []byte {
	dst = appendMember(append(dst, '{'), "role", role)
	dst = appendMember(append(dst, ','), "content", text)
	return append(dst, '}')
}

func (openaiChat) Meter(ep Endpoint, stream bool) Meter { return newChatMeter(ep, stream) }

func (openaiChat) Error(kind ErrorKind, message string) []byte { return openaiError(kind, message) }
