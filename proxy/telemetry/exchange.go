package telemetry

import (
	"time"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// An Exchange is what is told of one request and its answer. It holds no content
// and no credential. Times that are zero did not come.
type Exchange struct {
	Trace *Trace // nil: the request ended before one was joined or begun

	Start, End time.Time
	Method     string // as the client wrote it
	Path       string // as the client wrote it, without query
	Template   string // of the path; empty if it is no model call's, and may be anything
	Host       string // as the client wrote it, host:port
	Status     int    // that the client got, 0 if none
	Refused    string // why Preface answered itself, empty if it did not
	Route      string // name of the route, empty if there is none
	ID         string // of the request
	Ended      string // how: a word of ours
	Failed     bool   // that end is not what the client asked for
	Left       bool   // it is the client's leaving

	// Sent is when the first try to reach the provider began; if it is zero there was
	// none, and there is no client span.
	Sent       time.Time
	Retries    []time.Time // when a try came to nothing and the next one began
	FirstByte  time.Time   // of the answer's head
	FirstChunk time.Time   // of the answer's body
	LastChunk  time.Time
	Chunks     Chunks // times between the first and the last
	Terminal   bool   // the last chunk of a stream held its own end
	Upstream   string
	Secure     bool // the provider is spoken to over TLS
	Answered   int  // the provider's status, 0 if none came

	Call *Call // nil: no model call, or none that could be read
}

// A Call is what is told of a model call.
type Call struct {
	Provider string // gen_ai.provider.name
	Model    string // asked for
	Label    string // the model as a label of metrics: one of few
	Class    string // turn, count, compact, side
	Stream   bool
	Asked    Asked

	Session  string // as in answers' headers
	Named    bool   // by the client
	Source   string // where the session came from
	Thread   string
	Epoch    int
	Decision string // inject or bare
	Why      string
	Prefix   string // hash
	Inserted int    // bytes of the prefix

	ResponseID string
	Answerer   string // model that answered, as it says
	StopReason string
	Usage      usage.Usage

	Cause, Owner string
	Missed       int64
	Priced       bool
	Paid         usage.Money
	Uncached     usage.Money
	OfPrefix     usage.Money
	Price        string // label of the price, with its date
	Unpriced     string
}

// Asked are parameters of a model call that are numbers. Nil: not given.
type Asked struct {
	MaxTokens        *int64
	Temperature      *float64
	TopP             *float64
	TopK             *float64
	FrequencyPenalty *float64
	PresencePenalty  *float64
	Seed             *int64
	Choices          *int64
}

// model reports whether the exchange is a model call, and not one that counts
// tokens.
func (e *Exchange) model() bool { return e.Call != nil && e.Call.Class != "count" }

// failure is what error.type says of the call to the provider, empty if it did
// what was asked.
func (e *Exchange) failure() string {
	switch {
	case e.Answered >= 400:
		return statusText(e.Answered)
	case e.Failed:
		return e.Ended
	}
	return ""
}

// fault is what error.type says of our answer. A client's mistakes and its
// leaving are none of ours.
func (e *Exchange) fault() string {
	switch {
	case e.Status >= 500:
		return statusText(e.Status)
	case e.Failed && !e.Left && e.Status < 400:
		return e.Ended
	}
	return ""
}
