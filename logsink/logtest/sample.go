package logtest

import (
	"fmt"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// Start is when sample records were made: recently enough for any retention,
// and without the part of a second that a backend might round.
var Start = time.Now().Add(-time.Hour).UTC().Truncate(time.Second)

// Anchor returns an anchor that injects one user message.
func Anchor(k logsink.Key, epoch int, text string) *logsink.Anchor {
	msgs := []logsink.Message{{Role: "user", Text: text}}
	return &logsink.Anchor{
		V: logsink.Version, Key: k, Epoch: epoch, Reason: logsink.ReasonInitial, Decision: logsink.Inject,
		Prefix: logsink.PrefixHash(msgs), Messages: msgs,
		Renderings: []logsink.Rendering{
			logsink.NewRendering("anthropic.messages", []byte(fmt.Sprintf(`{"role":"user","content":%q}`, text))),
			logsink.NewRendering("openai.chat", []byte(fmt.Sprintf(`{"role":"user","content":[{"text":%q}]}`, text))),
		},
		Contributors: []logsink.Contribution{{Name: "rules", Kind: "text", Bytes: len(text), Messages: 1, Took: time.Millisecond, Outcome: "ok"}},
		Route:        "anthropic", Source: "header x-session-id", Config: "c0ffee", Preface: "test", Time: Start,
	}
}

// BareAnchor returns an anchor that injects nothing.
func BareAnchor(k logsink.Key, epoch int, why string) *logsink.Anchor {
	return &logsink.Anchor{V: logsink.Version, Key: k, Epoch: epoch, Reason: logsink.ReasonInitial, Decision: logsink.Bare, Why: why, Time: Start}
}

// Header returns the header record of a thread and the blob of its one part.
func Header(k logsink.Key, thread, id, system string) (logsink.Record, logsink.Blob) {
	b := logsink.Blob{Digest: logsink.Sum([]byte(system)), Bytes: []byte(system)}
	return logsink.Record{Header: &logsink.Header{
		V: logsink.Version, ID: id, Key: k, Epoch: 1, Thread: thread, Reason: logsink.ReasonInitial,
		Parts: []logsink.Part{{Name: "system", Digest: b.Digest, Size: len(system), Stored: true}}, Model: "model-1", Time: Start,
	}}, b
}

// Request returns a bare request of a thread.
func Request(k logsink.Key, thread, id, header string, number int) logsink.Record {
	return logsink.Record{Request: &logsink.Request{
		V: logsink.Version, ID: id, Key: k, Epoch: 1, Thread: thread, Number: int64(number), Attempt: 1, Header: header,
		Dialect: "anthropic.messages", Route: "anthropic", Path: "/v1/messages", Model: "model-1", Class: "turn", Decision: logsink.Bare, Why: "empty",
		Messages: 2*number - 1, Lineage: fmt.Sprintf("%032x", number), Body: logsink.Sum([]byte(id)), Size: 1000 + number, Time: Start,
	}}
}

// Response returns the response of a request.
func Response(k logsink.Key, thread, id string) logsink.Record {
	output := int64(7)
	return logsink.Record{Response: &logsink.Response{
		V: logsink.Version, ID: id, Key: k, Epoch: 1, Thread: thread, Status: 200, FirstByte: time.Second, Total: 2 * time.Second, Bytes: 345,
		End: logsink.EndComplete, Usage: &logsink.Usage{Output: &output}, StopReason: "end_turn", Time: Start,
	}}
}
