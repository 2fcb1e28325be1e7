package provider

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Fault is what goes wrong with one request. The zero Fault is nothing;
// fields combine. Where an order matters it is: slow reading, Reset, Delay,
// Status, then the faults of the answer's bytes.
type Fault struct {
	// ReadRate reads the request body no faster than this many bytes a second.
	// A client that leaves meanwhile is seen only as far as it was read.
	ReadRate int
	// Reset breaks the connection (TCP RST) when the request was read and
	// before any byte of an answer.
	Reset bool
	// Delay waits before the first byte of the answer.
	Delay time.Duration

	// Status, from 200 to 999, answers with an error in the dialect's shape,
	// whatever the request says. It leaves no trace in the caches.
	Status int
	// RetryAfter is the value of the header retry-after, with Status.
	RetryAfter string
	// Message replaces the error's message, with Status.
	Message string

	// Gap waits before each event but the first.
	Gap time.Duration
	// Ping sends a ping each time that this much of a Gap, or of a stall,
	// has passed in silence: an event in Anthropic streams, a comment in others.
	Ping time.Duration
	// Stall sends nothing more after StallAfter events (the whole of an answer
	// that is no stream counts as one), until the client leaves.
	Stall      bool
	StallAfter int
	// Error ends a stream after ErrorAfter events with an error event.
	Error      bool
	ErrorAfter int
	// NoTerminal ends a stream cleanly, but without its terminal event.
	NoTerminal bool

	// Cut ends the connection after CutAfter bytes of the answer's body (as
	// coded, without transfer framing): CutFIN by closing, CutRST by reset.
	Cut      Cut
	CutAfter int64

	// Encoding codes the answer: "gzip" or "zstd", flushed after each event.
	Encoding string
	// LineEnd of streams: "lf" (also ""), "crlf" or "cr".
	LineEnd string
	// EventBytes makes the answer's text this long, whatever the request's limit
	// on output, and sends it in one event. The whole answer is made in memory.
	EventBytes int
	// Chunks, if not 0, seeds random cuts of the body into writes and chunks,
	// in place of one for each event. The bytes stay the same.
	Chunks int64

	// Length adds to the Content-Length of an answer that is not streamed: more
	// than there is ends in a broken connection, less leaves bytes behind it.
	Length int64
	// BadChunk writes an impossible chunk header after BadChunkAfter writes.
	BadChunk      bool
	BadChunkAfter int
	// ChunkExtensions adds an extension to each chunk, and a trailer field.
	ChunkExtensions bool
}

// A Cut is how a connection is ended in the middle of an answer.
type Cut string

// The ways to cut.
const (
	CutNone Cut = ""
	CutFIN  Cut = "fin"
	CutRST  Cut = "rst"
)

// IsZero reports whether nothing goes wrong.
func (f Fault) IsZero() bool { return f == Fault{} }

// message is the message of the error that Status makes.
func (f Fault) message() string {
	if f.Message != "" {
		return f.Message
	}
	return fmt.Sprintf("simulated status %d", f.Status)
}

// ParseFault reads the form that the header x-provider-fault has: names and
// values separated by commas, e.g. "status=529,retry-after=1",
// "gap=20ms,cut=rst@300" or "stall@2,ping=1s". An empty string is no fault.
//
//	status=N retry-after=V message=TEXT reset delay=D read-rate=N
//	gap=D ping=D stall@N error@N no-terminal cut=fin@K cut=rst@K
//	encoding=gzip|zstd line-end=lf|crlf|cr event-bytes=N chunks=SEED
//	length=+N length=-N bad-chunk@N chunk-extensions
func ParseFault(s string) (Fault, error) {
	var f Fault
	for _, word := range strings.Split(s, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		if err := f.set(word); err != nil {
			return Fault{}, fmt.Errorf("cannot read fault %q: %w", word, err)
		}
	}
	return f, nil
}

// set applies one word: name, name=value, name@count or name=value@count.
func (f *Fault) set(word string) error {
	left, at, _ := strings.Cut(word, "@")
	name, value, _ := strings.Cut(left, "=")
	count, err := int64(0), error(nil)
	if at != "" {
		count, err = strconv.ParseInt(at, 10, 64)
	}
	if err != nil || count < 0 {
		return fmt.Errorf("want a count after @")
	}
	for _, w := range words {
		if w.name == name {
			return w.set(f, value, count)
		}
	}
	return fmt.Errorf("unknown name %q", name)
}

// String is the form that ParseFault reads.
func (f Fault) String() string {
	var out []string
	for _, w := range words {
		if s := w.get(f); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, ",")
}
