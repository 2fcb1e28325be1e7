package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// IDHeader carries the id of each call, so that it can be found again where it
// arrives.
const IDHeader = "X-Agent-Request"

// Classes of a Call.
const (
	ClassTurn     = "turn"
	ClassTitle    = "title"
	ClassCount    = "count"    // of a whole turn
	ClassFragment = "fragment" // count of a piece
)

// A Call is one request of an agent and what came back. What describes the
// request is set when OnSend is called, the rest when the call is over.
type Call struct {
	ID      string // unique among agents of different names; also in IDHeader
	Agent   string // the agent's name
	Session string
	Class   string
	Path    string // with query
	Resume  string // the signal it carried
	Body    []byte // as sent

	Status int         // 0: no answer came
	Header http.Header // of the answer
	Answer []byte      // its body as far as it was read
	Err    error       // why the call came to nothing
}

// ErrCut is an answer that ended before its end.
var ErrCut = errors.New("the answer ended before its last event")

// A StatusError is an answer that says no.
type StatusError struct {
	Status int
	Body   []byte
}

func (e *StatusError) Error() string {
	text := strings.ToValidUTF8(string(e.Body), string(utf8.RuneError))
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return fmt.Sprintf("status %d: %s", e.Status, text)
}

// An EventError is an error event inside a stream.
type EventError struct{ Data string }

func (e *EventError) Error() string { return "error event in the stream: " + e.Data }
