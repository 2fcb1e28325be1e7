package dialect

import (
	"fmt"
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A Dialect is one wire format. Its methods are called from any number of
// goroutines, never block, and keep nothing that they are given.
type Dialect interface {
	// Name is the name in configuration, records and metrics, e.g. "anthropic".
	Name() string

	// Match returns the endpoint that a path (without query and without any
	// route prefix, with or without a leading /v1) means, and whether this
	// dialect claims it. Only POST is ever asked.
	Match(path string) (Endpoint, bool)

	// Read finds positions and facts in a scanned body. It fails only where the
	// body is not of this dialect at all (e.g. messages is a number); the error
	// begins with what is wrong and is fit for a client's eyes.
	Read(doc *jsonspan.Doc, ep Endpoint) (*Request, error)

	// Renderings writes the messages as the bytes that are frozen, one for each
	// placement that the dialect knows. Each is a comma-separated list of JSON
	// values without a comma or bracket at its ends, and valid JSON inside [ ].
	Renderings(msgs []Message) ([]Rendering, error)

	// Meter returns a meter for one answer. stream says that the answer's
	// content type is text/event-stream.
	Meter(ep Endpoint, stream bool) Meter

	// Error renders an error of ours in the provider's own shape: the body of
	// an application/json answer. kind is one of the Err… constants.
	Error(kind ErrorKind, message string) []byte
}

// An Endpoint is what a path of a dialect is for.
type Endpoint byte

// The kinds of endpoint.
const (
	Turn    Endpoint = iota // a model call
	Count                   // counts tokens of a request
	Compact                 // compacts a history (Responses)
)

// A Message is one opening message before rendering.
type Message struct{ Role, Text string }

// A Rendering is a prefix in the exact bytes of one placement.
type Rendering struct {
	Name  string // dialect and placement, e.g. "openai-chat.developer"
	Bytes []byte
}

// A Request is what a dialect reads in one body. Slices point into the document
// and live as long as its bytes do.
type Request struct {
	Model  []byte
	Stream bool

	// Slot is where the prefix goes. It is meaningless if Never is set.
	Slot Slot
	// Never says why nothing may ever be inserted into this request:
	// "conversation", "continuation", "cached_content", "no_messages", …;
	// empty if it may.
	Never string
	// Rendering names the frozen rendering that this request needs.
	Rendering string

	// History is the lineage after each of the client's messages, in order,
	// without the system slot: History[i] covers messages 0..i. Opening
	// messages that the client itself marks as reminders are included.
	History []lineage.Point
	// FirstPrompt is the lineage of the first user prompt without its
	// <system-reminder>-like blocks, zero if the history has no user message.
	FirstPrompt lineage.Point
	// Answered reports whether the history holds anything from the model: an
	// opening request has none.
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

	// System, Tools and Parameters are the non-history half as spans of the
	// document, for the header snapshot: the system slot, the tools, and every
	// other top-level member in document order (never the messages).
	SystemSpans, ToolSpans, ParameterSpans []jsonspan.Span

	// WantsUsage is false only if the answer is a stream that will not report
	// usage unless asked; UsageSplices then asks (Chat: stream_options).
	WantsUsage   bool
	UsageSplices []Splice
}

// A Slot is the place right after the system slot.
type Slot struct {
	At   int  // offset in the document
	Wrap Wrap // what has to stand around the rendering there
	// End is, for WrapString, the offset after the string that is wrapped.
	End int
}

// A Wrap is the punctuation that joins a rendering to what is there.
type Wrap byte

// The wraps. R is the rendering.
const (
	WrapBefore Wrap = iota // R,        before the first element of a list
	WrapAfter              // ,R        after the last element of the system slot
	WrapOnly               // R         in an empty list
	WrapString             // [R,{"role":"user","content":  …string…  }]
)

// A Splice is an insertion of bytes at an offset of the client's body.
// Splices of one request are sorted by offset.
type Splice struct {
	At    int
	Bytes []byte // frozen or constant: never changed, may be shared
	Kind  string // "prefix", "wrap", "usage"
}

// Splices returns the insertions that put the rendering into the slot.
func (s Slot) Splices(rendering []byte) []Splice {
	switch s.Wrap {
	case WrapAfter:
		return []Splice{{s.At, comma, "wrap"}, {s.At, rendering, "prefix"}}
	case WrapOnly:
		return []Splice{{s.At, rendering, "prefix"}}
	case WrapString:
		return []Splice{{s.At, openList, "wrap"}, {s.At, rendering, "prefix"}, {s.At, openUser, "wrap"}, {s.End, closeUser, "wrap"}}
	default:
		return []Splice{{s.At, rendering, "prefix"}, {s.At, comma, "wrap"}}
	}
}

var (
	comma     = []byte(",")
	openList  = []byte("[")
	openUser  = []byte(`,{"role":"user","content":`)
	closeUser = []byte("}]")
)

// A Meter reads usage from a copy of an answer. It is used by one goroutine.
type Meter interface {
	// Write takes the next bytes of the body as relayed. It never fails and
	// keeps no reference to p.
	Write(p []byte)
	// Report returns what was learnt so far.
	Report() Report
}

// A Report is what a meter learnt.
type Report struct {
	Usage      usage.Usage
	ID         string // of the answer
	Model      string // that answered
	StopReason string
	// Terminal reports whether the answer came to its own end: the terminal
	// event of a stream, or a whole JSON document.
	Terminal bool
	// Error is the type of an error event inside the answer, empty if none.
	Error string
}

// A UsageFilter is a Meter that can also take out of a stream the extra chunk
// that only came because UsageSplices asked for it. Filter returns the bytes
// that are to be relayed for p; they are valid until the next call. At the end
// of the stream Rest returns what was held back.
type UsageFilter interface {
	Meter
	Filter(p []byte) []byte
	Rest() []byte
}

// An ErrorKind says whose mistake an error is.
type ErrorKind byte

// The kinds of error that we answer ourselves.
const (
	ErrInvalid     ErrorKind = iota // 400: the request
	ErrTooLarge                     // 413
	ErrUnavailable                  // 503: our log, or the contributors
	ErrUpstream                     // 502: the provider could not be reached
	ErrNotFound                     // 404: no route
	ErrUpgrade                      // 426: WebSocket
	ErrInternal                     // 500
	ErrTimeout                      // 504
	ErrOverloaded                   // 503: our own limits
)

var registry = map[string]Dialect{}

// Register makes a dialect known by its name. It is called from init; a name
// used twice is a bug.
func Register(d Dialect) {
	if _, ok := registry[d.Name()]; ok {
		panic("BUG: dialect registered twice: " + d.Name())
	}
	registry[d.Name()] = d
}

// Get returns the dialect with a name.
func Get(name string) (Dialect, error) {
	d, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("unknown dialect %q: want one of %v", name, Names())
	}
	return d, nil
}

// Names returns the names of all dialects, sorted.
func Names() []string {
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
