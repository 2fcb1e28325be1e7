package logsink

import (
	"context"
	"time"
)

// A Log stores records. All methods may be called from any number of
// goroutines, may block on a disk or a network until ctx ends, and keep none of
// the slices they are given after they return.
//
// Errors: every error that means "the log cannot be used now" (locked, full,
// unreachable, timed out) wraps ErrUnavailable; the caller decides what that
// means for its request. Nothing is retried inside, and an error does not say
// that nothing was stored: offer the same record again and it is stored once.
// When ctx ends, a call returns at once with ErrUnavailable and ctx's error, and
// what it asked for may be done all the same. Other errors blame what was given.
//
// The strings of a Key must be UTF-8, since JSON holds nothing else.
type Log interface {
	// Freeze stores a as the anchor of its (Key, Epoch) if that has none, and
	// returns the anchor that is there: a itself, or the one that came first.
	// When it returns nil that anchor is durable. The result is shared and
	// immutable; its renderings have their bytes. An anchor that contradicts
	// itself (Anchor.Check) is refused.
	Freeze(ctx context.Context, a *Anchor) (*Anchor, error)

	// Current returns the anchor of the session's latest epoch, or ErrNoSession.
	Current(ctx context.Context, k Key) (*Anchor, error)

	// Append stores records and the blobs they refer to, durably on return: all
	// or nothing. A blob comes with the first record that refers to it, or
	// shortly before; a record whose blob is not there is refused with ErrNoBlob.
	// Anchors are not appended but frozen.
	//
	// A record is known by its session, kind, id and attempt. One that was stored
	// of late is not stored again; "of late" is within a day, and among the newest
	// 4096 records at least.
	Append(ctx context.Context, recs []Record, blobs []Blob) error

	// Last returns the newest request record of a thread and the header record
	// it refers to (nil if that is gone), or ErrNoThread.
	Last(ctx context.Context, k Key, thread string) (*Request, *Header, error)

	// Find returns the session and thread of the newest derived request of the
	// tenant whose lineage is the first of the given ones that is known
	// (lineages are hex, longest history first), or ErrNoSession.
	Find(ctx context.Context, tenant string, lineages []string) (k Key, thread string, err error)

	// EndEpoch asks that the session's epoch be its last: the next request
	// starts epoch+1. It is how an operator resumes a session from another
	// process. Asking twice is asking once.
	EndEpoch(ctx context.Context, k Key, epoch int) error

	// Ended returns the epochs that have ended after the cursor, and the cursor
	// to go on from: those that EndEpoch named, and those that another epoch was
	// frozen after, so that all processes learn of a resume. It must be cheap: it
	// is asked once a second.
	Ended(ctx context.Context, after int64) (ended []EpochRef, cursor int64, err error)

	// Secret returns the random 32 bytes under a name, made at first asking and
	// the same for ever after, for all processes of this log. The tenant key is
	// kept so.
	Secret(ctx context.Context, name string) ([]byte, error)

	// Retain drops what the limits no longer allow and returns what it dropped.
	Retain(ctx context.Context, r Retention) (Dropped, error)

	// Close waits for writes under way and releases the file or connections.
	Close() error
}

// An EpochRef names one epoch.
type EpochRef struct {
	Key
	Epoch int `json:"epoch"`
}

// A Blob is a large value under the digest of its bytes.
type Blob struct {
	Digest Digest
	Bytes  []byte
}

// A Reader reads a log that another process may be writing. It is what the
// command line works on. A function that is passed to it may take its time and
// may call other methods of the Reader.
type Reader interface {
	// Sessions calls f with each session, newest anchor first, until f returns
	// false. tenant and prefix of the session id select; both may be empty.
	Sessions(ctx context.Context, tenant, prefix string, f func(SessionInfo) bool) error

	// Anchors returns all anchors of a session, by epoch, or ErrNoSession.
	Anchors(ctx context.Context, k Key) ([]*Anchor, error)

	// Records calls f with the header, request and response records of a
	// session in the order they were stored, until f returns false. The zero Key
	// is all sessions. after is a cursor, 0 at first; f gets the cursor to
	// resume after that record.
	Records(ctx context.Context, k Key, after int64, f func(cursor int64, r Record) bool) error

	// ReadBlob returns the bytes under a digest, or ErrNoBlob. It has checked them.
	ReadBlob(ctx context.Context, d Digest) ([]byte, error)

	Close() error
}

// SessionInfo is one line of a list of sessions.
type SessionInfo struct {
	Key
	Epochs   int       `json:"epochs"`
	Decision string    `json:"decision"` // of the latest epoch
	Why      string    `json:"why,omitempty"`
	Prefix   string    `json:"prefix,omitempty"`
	Route    string    `json:"route,omitempty"`
	Source   string    `json:"source,omitempty"`
	Since    time.Time `json:"since"`     // first anchor
	LastTime time.Time `json:"last_time"` // latest stored record, or anchor
}

// Retention limits a log. Zero fields do not limit, but see Live. Anchors go
// with their session, all of them at once, so that its epochs count from 1.
type Retention struct {
	// MaxAge drops records older than it, and whole sessions whose latest
	// record is older. DefaultConfig: 30 days.
	MaxAge time.Duration `yaml:"max_age"`
	// MaxBytes drops the oldest records (never a live epoch's anchor) until the
	// file is smaller. Default 0: no limit.
	MaxBytes int64 `yaml:"max_bytes"`
	// Live is how long after its last record an epoch counts as live; its
	// anchor is not dropped before, whatever the other limits. Here 0 is no
	// licence: it means 7 days.
	Live time.Duration `yaml:"live"`
}

// Dropped counts what retention took out.
type Dropped struct {
	Sessions, Records, Blobs int64
	Bytes                    int64
}
