package logsink

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Version is the version of the record layout that this build writes. Readers
// ignore unknown fields of the same version and refuse a higher one.
const Version = 1

// Reasons of an anchor or a header record.
const (
	ReasonInitial = "initial" // first epoch of a session; a thread's first request
	ReasonResume  = "resume"  // the epoch after a resume
	ReasonChange  = "change"  // a thread's non-history half changed
)

// Decisions of an anchor.
const (
	Inject = "inject"
	Bare   = "bare"
)

// A Key names a session. Session ids come from clients; they mean something
// only beside the tenant they came from.
type Key struct {
	Tenant  string `json:"tenant"`  // keyed hash of the caller's credential, hex
	Session string `json:"session"` // as the client named it, or derived
}

// An Anchor freezes one epoch of a session: the prefix with its exact bytes in
// every dialect, or the decision that there is none. It is immutable once it
// was returned by Freeze: callers share it and must not change it.
type Anchor struct {
	V int `json:"v"`
	Key
	Epoch    int    `json:"epoch"`    // from 1
	Reason   string `json:"reason"`   // initial, resume
	Decision string `json:"decision"` // inject, bare
	// Why says why the epoch is bare ("empty", "foreign_history", "log_down",
	// "side_request", …), or of an injected one that it kept the bytes of the
	// epoch before ("signed_history").
	Why string `json:"why,omitempty"`
	// Prefix is the SHA-256 of the canonical JSON of Messages, as
	// "sha256:<hex>"; empty if bare.
	Prefix       string         `json:"prefix,omitempty"`
	Messages     []Message      `json:"messages,omitempty"`
	Renderings   []Rendering    `json:"renderings,omitempty"`
	Contributors []Contribution `json:"contributors,omitempty"`
	Route        string         `json:"route,omitempty"`   // name of the route that composed it
	Source       string         `json:"source,omitempty"`  // where the session id came from, e.g. "header x-claude-code-session-id"
	Resume       string         `json:"resume,omitempty"`  // the resume signal that began it
	Config       string         `json:"config,omitempty"`  // hash of the configuration that composed it
	Preface      string         `json:"preface,omitempty"` // version of the program that composed it
	Time         time.Time      `json:"time"`
}

// Injects reports whether requests of the epoch carry a prefix.
func (a *Anchor) Injects() bool { return a.Decision == Inject }

// Rendering returns the frozen bytes for a name, or nil.
func (a *Anchor) Rendering(name string) []byte {
	for i := range a.Renderings {
		if a.Renderings[i].Name == name {
			return a.Renderings[i].Bytes
		}
	}
	return nil
}

// A Message is one opening message as its contributor made it, before any
// dialect renders it.
type Message struct {
	Role string `json:"role"` // user, assistant, developer or system
	Text string `json:"text"`
}

// A Rendering is the prefix as the exact bytes that are inserted for one
// dialect and placement: the messages joined by commas, without the comma or
// bracket that a particular body needs beside them.
type Rendering struct {
	Name   string `json:"name"`   // e.g. "anthropic.messages"
	SHA256 string `json:"sha256"` // hex, of Bytes
	Size   int    `json:"size"`   // len(Bytes)
	Blob   Digest `json:"blob"`   // where a log stores Bytes
	Bytes  []byte `json:"-"`      // filled by Freeze and Current
}

// NewRendering returns the rendering of b, which it keeps.
func NewRendering(name string, b []byte) Rendering {
	sum := sha256.Sum256(b)
	return Rendering{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: len(b), Blob: Sum(b), Bytes: b}
}

// A Contribution says what one contributor gave to a prefix.
type Contribution struct {
	Name     string        `json:"name"`
	Kind     string        `json:"kind"`             // text, file, skills, http
	SHA256   string        `json:"sha256,omitempty"` // hex, of its messages
	Bytes    int           `json:"bytes"`            // text given
	Messages int           `json:"messages"`
	Took     time.Duration `json:"took_ns"`
	Outcome  string        `json:"outcome"` // ok, empty, no_match, skipped: <why>
}

// A Kind tells records apart in a stream of them.
type Kind string

// The four kinds of record.
const (
	KindAnchor   Kind = "anchor"
	KindHeader   Kind = "header"
	KindRequest  Kind = "request"
	KindResponse Kind = "response"
)

// A Record is one entry of a session's log: exactly one of the four pointers is
// set. Key and Epoch are those of the session it belongs to.
type Record struct {
	Anchor   *Anchor
	Header   *Header
	Request  *Request
	Response *Response
}

// A Header is a snapshot of the non-history half of a thread's requests:
// written at the thread's first request and whenever it changes.
type Header struct {
	V  int    `json:"v"`
	ID string `json:"id"` // unique; chosen by the maker
	Key
	Epoch  int    `json:"epoch"`
	Thread string `json:"thread"`
	Reason string `json:"reason"` // initial, resume, change
	// Parts refer to the client's bytes: "system", "tools", "parameters", each
	// absent when the request has none. With capture "prefix" Stored is false
	// and the digest is all there is.
	Parts []Part `json:"parts,omitempty"`
	// Changed names the parts that differ from the header before, e.g. ["tools"].
	Changed []string  `json:"changed,omitempty"`
	Model   string    `json:"model,omitempty"`
	Time    time.Time `json:"time"`
}

// A Part is one section of a request's header.
type Part struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
	Size   int    `json:"size"`
	Stored bool   `json:"stored"`
}

// A Request describes one request as it went upstream.
type Request struct {
	V  int    `json:"v"`
	ID string `json:"id"` // the x-preface-request of the answer
	Key
	Epoch   int    `json:"epoch"`
	Thread  string `json:"thread"`
	Number  int64  `json:"number"`  // 1, 2, … within the thread as this process counts it
	Attempt int    `json:"attempt"` // 1; 2 if a pooled connection was found dead
	Header  string `json:"header"`  // id of the Header in force
	Dialect string `json:"dialect"`
	Route   string `json:"route"`
	Path    string `json:"path"` // without query
	Model   string `json:"model,omitempty"`
	Class   string `json:"class"` // turn, count, compact, side
	Stream  bool   `json:"stream,omitempty"`
	// Decision is what was done: "inject", or "bare" with Why.
	Decision string `json:"decision"`
	Why      string `json:"why,omitempty"`
	// Boundary is the point of the thread's history at which the request was
	// built: the number of the client's messages, and the digest of their
	// lineage (hex; XXH3-128, finds but does not prove).
	Messages int    `json:"messages"`
	Lineage  string `json:"lineage,omitempty"`
	// Splices are the inserted ranges, in offsets of the body that was sent.
	Splices []Splice `json:"splices,omitempty"`
	// Body and Size are of the body that was sent. Taking the splices out
	// gives the client's body.
	Body  Digest    `json:"body"`
	Size  int       `json:"size"`
	Marks int       `json:"marks,omitempty"` // cache marks the client set
	Time  time.Time `json:"time"`
	// Derived says that the session was derived from its content; such a
	// lineage is kept so that a later process finds the session by it.
	Derived bool `json:"derived,omitempty"`
}

// A Splice is one inserted range.
type Splice struct {
	Offset int    `json:"offset"` // in the body as sent
	Length int    `json:"length"`
	Kind   string `json:"kind"` // prefix, wrap, usage, verdict
	// Rendering and From say whose bytes they are, for a prefix:
	// sent[Offset+From : Offset+From+rendering.Size] is the rendering.
	Rendering string `json:"rendering,omitempty"`
	From      int    `json:"from,omitempty"`
}

// A Response describes how a request ended.
type Response struct {
	V  int    `json:"v"`
	ID string `json:"id"` // that of its Request
	Key
	Epoch      int           `json:"epoch"`
	Thread     string        `json:"thread"`
	Status     int           `json:"status,omitempty"`   // 0: none came
	FirstByte  time.Duration `json:"first_byte_ns"`      // from the request's first byte sent
	Total      time.Duration `json:"total_ns"`           // to the last byte relayed
	Bytes      int64         `json:"bytes"`              // body bytes relayed
	End        string        `json:"end"`                // see the End… constants
	Detail     string        `json:"detail,omitempty"`   // never a body, never a credential
	UpstreamID string        `json:"upstream,omitempty"` // the provider's request id
	ResponseID string        `json:"response,omitempty"` // the id in the answer
	Usage      *Usage        `json:"usage,omitempty"`    // nil: not reported
	// Iterations are what Usage is the sum of, where the provider made the answer
	// of several runs of models and told them apart.
	Iterations []Iteration `json:"iterations,omitempty"`
	StopReason string      `json:"stop_reason,omitempty"`
	// Model and Tier are those that the answer names: they, and not what was
	// asked for, decide its price. Model is empty if it is the request's.
	Model string `json:"model,omitempty"`
	Tier  string `json:"tier,omitempty"`
	// Cost is nil if the answer was not priced, for the reason in Unpriced:
	// "not_reported", "not_split" (into fresh and read), "no_price" (of the model),
	// "unknown_tier", "unknown_writes" (of a lifetime that has no price) or
	// "impossible" (the counts contradict themselves).
	Cost     *Cost  `json:"cost,omitempty"`
	Unpriced string `json:"unpriced,omitempty"`
	// Cause says why the cache read fell short; nil if it did not, or if it was
	// not looked into.
	Cause *Cause    `json:"cause,omitempty"`
	Time  time.Time `json:"time"`
}

// Failed reports whether the answer was no success for its client: refused, in
// error, cut, or left.
func (r *Response) Failed() bool { return r.Status >= 400 || r.End != EndComplete }

// FirstUsage is the usage of the first run of a model for the answer, which read
// the request as it was sent; nil if that is not reported.
func (r *Response) FirstUsage() *Usage {
	if len(r.Iterations) > 0 {
		return r.Iterations[0].Usage
	}
	return r.Usage
}

// Ends of a response.
const (
	EndComplete      = "complete"          // the provider's answer passed on whole
	EndNoTerminal    = "no_terminal_event" // a stream that ended cleanly without its last event
	EndError         = "error_event"       // an error event came inside the stream
	EndCut           = "upstream_cut"      // the provider's side broke
	EndStalled       = "upstream_stalled"  // idle deadline passed
	EndClientGone    = "client_gone"
	EndRefused       = "upstream_refused" // nothing was sent
	EndNoAnswer      = "no_answer"        // sent, and no response header came
	EndClientStalled = "client_stalled"   // the client stopped reading
	EndFault         = "fault"            // a panic of Preface's broke it off
)

// Usage is the provider's own count, in disjoint classes: their sum is the
// inclusive input plus the output. A nil pointer is "not reported", which is
// not 0.
type Usage struct {
	Fresh      *int64 `json:"fresh,omitempty"`
	Unsplit    *int64 `json:"unsplit,omitempty"` // input not told apart into fresh and read
	CacheRead  *int64 `json:"cache_read,omitempty"`
	Write5m    *int64 `json:"cache_write_5m,omitempty"`
	Write1h    *int64 `json:"cache_write_1h,omitempty"`
	Write30m   *int64 `json:"cache_write_30m,omitempty"`
	WriteOther *int64 `json:"cache_write_other,omitempty"` // lifetime not told
	Output     *int64 `json:"output,omitempty"`
	Reasoning  *int64 `json:"reasoning,omitempty"` // part of Output
}

// An Iteration is one run of a model for an answer.
type Iteration struct {
	Model string `json:"model,omitempty"` // empty: that of the answer
	Usage *Usage `json:"usage,omitempty"` // nil: not reported
}
