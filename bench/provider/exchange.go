package provider

import (
	"crypto/sha256"
	"slices"
	"time"
)

// An Exchange is one request and what became of it. Those that Received and
// its like return are snapshots: they do not change, and their byte slices are
// shared with the ledger and must not be changed.
type Exchange struct {
	// ID counts requests from 1 by the arrival of their first byte. Control
	// requests (under /__provider/) use up numbers, but are not kept.
	ID int
	// Conn counts connections from 1 in the order they were accepted.
	Conn int

	// Method, Path and Query are those of the request line, undecoded; empty
	// until the head is complete.
	Method, Path, Query string
	// Head is the request's head as it came, from the request line to the blank
	// line, or as far as it came.
	Head []byte
	// Header is the head's fields in their order and spelling.
	Header []Field
	// Body is the request's body without transfer framing, still content-coded
	// if it was sent so. Nil if the ledger let it go; BodySize and SHA256 stay.
	Body     []byte
	BodySize int64
	SHA256   [sha256.Size]byte // of the body

	// Dialect is what the path was taken for: Anthropic, Chat or Responses, ""
	// for other paths. Model is set once the answer begins, if there is one.
	Dialect, Model string
	Fault          Fault  // that was chosen for it
	Tenant         string // a digest of its credential, the key of Totals

	// Status is the status sent, 0 if none was.
	Status int
	// Sent is what was written to the connection, head and framing included.
	Sent []byte
	// Answer is the body that was sent, content-coded but without transfer
	// framing. Nil if the ledger let it go; AnswerSize stays.
	Answer     []byte
	AnswerSize int64
	// Tokens is the usage that the answer reports once it begins, zero if it
	// reports none.
	Tokens Tokens

	FirstByteAt time.Time // first byte of the head
	ReceivedAt  time.Time // whole request read; zero if it never was
	AnswerAt    time.Time // just before the first byte of the answer was sent; zero if none was
	// EndedAt is when nothing more was to be sent, a moment after the client had
	// the last byte; zero while open.
	EndedAt time.Time
	// GoneAt is when the client was seen to close, or half-close, the connection
	// before EndedAt; zero if it did not.
	GoneAt time.Time
	// Complete reports whether all that was meant to be sent was written. With
	// GoneAt set it means that the client left after the last byte.
	Complete bool

	released bool // the ledger let the large parts go, for good
}

// Open reports whether the exchange has not ended.
func (e *Exchange) Open() bool { return e.EndedAt.IsZero() }

// Aborted reports whether the client left before it was sent everything.
func (e *Exchange) Aborted() bool { return !e.GoneAt.IsZero() && !e.Complete }

// A Field is one header field as it was spelled.
type Field struct{ Name, Value string }

// snapshot returns a copy. Slices that still grow are cut to their length, so
// that growing them never shows.
func (e *Exchange) snapshot() Exchange {
	c := *e
	c.Head, c.Sent, c.Answer = slices.Clip(c.Head), slices.Clip(c.Sent), slices.Clip(c.Answer)
	return c
}

// held is how many bytes the ledger's bound counts.
func (e *Exchange) held() int64 {
	return int64(len(e.Body) + len(e.Sent) + len(e.Answer))
}

// release lets go of the large parts, also of what they may yet gain.
func (e *Exchange) release() {
	e.Body, e.Sent, e.Answer = nil, nil, nil
	e.released = true
}
