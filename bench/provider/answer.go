package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// An answer is all that is to be sent, before any fault touches it.
type answer struct {
	status int
	header http.Header
	stream bool
	events []event // the body; one event if it is no stream

	model  string
	tokens *Tokens // of a model call, else nil
	begin  func()  // called just before the first byte is sent; may be nil
}

// An event is a piece of a body that is sent at once.
type event struct {
	data     []byte
	terminal bool // it, or what follows, tells the client that the stream is whole
}

// sse renders one event of a stream; name may be empty.
func sse(name string, v any) []byte {
	var b []byte
	if name != "" {
		b = append(b, "event: "+name+"\n"...)
	}
	b = append(b, "data: "...)
	b = append(b, mustJSON(v)...)
	return append(b, "\n\n"...)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: cannot render an answer: " + err.Error())
	}
	return b
}

// whole is an answer that is one JSON document.
func whole(status int, v any) *answer {
	return &answer{
		status: status,
		header: http.Header{"Content-Type": {"application/json"}},
		events: []event{{data: mustJSON(v)}},
	}
}

// streamed is an answer of events; those from the first with one of the
// terminal names on are terminal.
func streamed(events []event) *answer {
	return &answer{
		status: http.StatusOK,
		header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}, "Cache-Control": {"no-cache"}},
		stream: true,
		events: events,
	}
}

// failed is the answer that an error is.
func (f format) failed(e *apiError, requestID string) *answer {
	return whole(e.status, f.errorBody(e, requestID))
}

// naming is what the ids in an answer are made from. The same request gives
// the same ids, so that answers can be compared byte for byte.
func (q *request) naming(prompt digest) digest {
	return sha256.Sum256(append(prompt[:], q.body...))
}

// idFor names one thing in an answer.
func idFor(prefix string, d digest, salt byte) string {
	d[0] ^= salt
	return prefix + hex.EncodeToString(d[:12])
}

// pieces cuts a text for the deltas of a stream, between runes. With one set it
// is a single piece.
func pieces(text string, one bool) []string {
	const size = 24
	var out []string
	for !one && len(text) > size {
		n := size
		for !utf8.RuneStart(text[n]) {
			n--
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return append(out, text)
}
