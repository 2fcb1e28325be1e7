package dialect

import (
	"fmt"
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
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

	// Depth is the depth function that a body must be scanned with before Read:
	// how many levels below the value of the top-level member with this name
	// are looked at. Members that no dialect knows get a few, so that identity
	// can look into metadata and the like.
	Depth(name []byte) int

	// Read fills r with the positions and facts of a scanned body, whatever r
	// held before; its slices are used again. It fails only where the body is
	// not of this dialect at all (e.g. messages is a number); the error begins
	// with what is wrong and is fit for a client's eyes, and r is then empty.
	// One r is filled by one goroutine at a time.
	Read(doc *jsonspan.Doc, ep Endpoint, r *Request) error

	// Renderings writes the messages as the bytes that are frozen, one for each
	// placement that the dialect knows. Each is a comma-separated list of JSON
	// values without a comma or bracket at its ends, and valid JSON inside [ ].
	// It fails if there is no message, or one has an unknown role or no text.
	Renderings(msgs []Message) ([]Rendering, error)

	// Meter returns a meter for one answer. stream says that the answer's
	// content type is text/event-stream.
	Meter(ep Endpoint, stream bool) Meter

	// Error renders an error of ours in the provider's own shape: the body of
	// an application/json answer, whose status is Status(kind). kind is one of
	// the Err… constants; "preface: " is put before message.
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

// A Message is one opening message before rendering. Role is "user",
// "assistant", "system" or "developer".
type Message struct{ Role, Text string }

// A Rendering is a prefix in the exact bytes of one placement.
type Rendering struct {
	Name  string // dialect and placement, e.g. "openai-chat.developer"
	Bytes []byte
}

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
	// Usage is all that the answer took. Iterations are what it is the sum of,
	// in their order, if the provider tells them apart and there is more than one.
	Usage      usage.Usage
	Iterations []usage.Iteration
	ID         string // of the answer
	Model      string // that answered
	StopReason string
	// Tier and Region are those that served the answer, in the provider's word, if
	// it names them: they change its price.
	Tier, Region string
	// Verdict is what the provider says of its cache if it was asked: its own
	// word for why a read fell short, NoDifference or "cache_hit" if none did,
	// and empty if it does not say.
	Verdict string
	// Terminal reports whether the answer came to its own end: the terminal
	// event of a stream, or a whole JSON document.
	Terminal bool
	// Error is the type of an error event inside the answer, or of the error that
	// is the answer, empty if none.
	Error string
	// Blind reports that the answer could not be read: a content coding that is
	// not known, or more bytes than are held. Nothing else here is set then, and
	// Terminal says nothing about how the answer ended.
	Blind bool
}

// A UsageFilter is a Meter that can also take out of a stream the extra chunk
// that only came because UsageSplices asked for it. Filter stands in for Write:
// it meters p and returns the bytes that are to be relayed for it, perhaps none;
// they are valid until the next call, and may be a part of p. At the end of the
// stream Rest returns what was held back.
type UsageFilter interface {
	Meter
	Filter(p []byte) []byte
	Rest() []byte
}

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
