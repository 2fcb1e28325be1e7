package dialect

import (
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// A Request is what a dialect reads in one body. Slices point into the document
// and live as long as its bytes do. The zero Request is ready to be read into,
// and a used one may be read into again: that saves its allocations.
type Request struct {
	Model  []byte // without quotes, as written; nil if there is none
	Stream bool

	// Slot is where the prefix goes. It is meaningless if Never is set.
	Slot Slot
	// Never says why nothing may ever be inserted into this request: one of
	// the Never… constants; empty if it may.
	Never string
	// Rendering names the frozen rendering that this request needs.
	Rendering string

	// History is the lineage after each of the client's messages, in order,
	// without the system slot: History[i] covers messages 0..i. Opening
	// messages that the client itself marks as reminders are included.
	History []lineage.Point
	// Last is where the last of these messages begins in the document, 0 if
	// there is none: up to there the next request is likely to be the same.
	Last int
	// FirstPrompt is the lineage of the first user prompt without its
	// <system-reminder>-like blocks, zero if the history has no user message.
	FirstPrompt lineage.Point
	// Answered reports whether the history holds anything from the model: an
	// opening request has none. One assistant message of nothing but text at
	// the very end is a prefill, which the client wrote, and no answer.
	Answered bool
	// SignedThinking reports whether the history holds a signed thinking block,
	// which a provider binds to everything before it (facts/providers.md 1.7).
	SignedThinking bool

	// Side reports whether the request looks like a side request: no tools, and
	// a JSON-schema answer or a tiny limit on output.
	Side bool
	// Tools reports whether the request offers any tools.
	Tools bool
	// Marks counts the client's cache marks everywhere in the request.
	Marks int

	// SystemSpans, ToolSpans and ParameterSpans are the non-history half as
	// spans of the document, for the header snapshot.
	//
	// System and tool spans are values: the system field, the messages or
	// items of the system slot, the tools list. Parameter spans are whole
	// members, "name":value, in document order. So either kind, joined with
	// commas, is JSON inside [ ] or { }. What changes from one request to the
	// next by its nature (stream, metadata, ids of earlier answers) is none of
	// them; each dialect lists those names. Where such an id stands inside
	// OpenAI's prompt_cache_options, the spans are the options beside it.
	SystemSpans, ToolSpans, ParameterSpans []jsonspan.Span

	// WantsUsage is false only if the answer is a stream that will not report
	// usage unless asked; UsageSplices then asks (Chat: stream_options). If the
	// client declined it, WantsUsage is false and there is no splice.
	WantsUsage   bool
	UsageSplices []Splice

	// Question is where the request may ask for the provider's own verdict.
	Question Question

	// Outlined asks Read for the Outline, whose CacheKey is there in any case. It
	// stays as it is from one request to the next.
	Outlined bool
	Outline  Outline

	feed []byte // room for the digester
}

// Why nothing may be inserted into a request.
const (
	// NeverConversation: the history is an object at the provider, which would
	// keep our messages for ever.
	NeverConversation = "conversation"
	// NeverContinuation: the request names an earlier answer and does not
	// repeat its opening, so its place is in the middle of a history.
	NeverContinuation = "continuation"
	// NeverPrewarm: the request asks for no answer and has no history of its own.
	NeverPrewarm = "prewarm"
	// NeverNoMessages: there is no history, so the list would end in a message
	// of ours.
	NeverNoMessages = "no_messages"
)

// Reset empties r and lets go of the document. The room of its slices is kept,
// unless a request of unusual size made it large.
func (r *Request) Reset() {
	*r = Request{
		WantsUsage:     true,
		History:        room(r.History),
		SystemSpans:    room(r.SystemSpans),
		ToolSpans:      room(r.ToolSpans),
		ParameterSpans: room(r.ParameterSpans),
		UsageSplices:   room(r.UsageSplices),
		Outlined:       r.Outlined,
		Outline:        r.Outline.emptied(),
		feed:           room(r.feed),
	}
}

// maxRoom is how many elements each slice of a Request at rest has room for.
const maxRoom = 1 << 14

func room[T any](s []T) []T {
	if cap(s) > maxRoom {
		return nil
	}
	return s[:0]
}
