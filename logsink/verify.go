package logsink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// A Finding is one thing in a log that is not as promised.
type Finding struct {
	Key
	Epoch  int    `json:"epoch"`
	Record string `json:"record,omitempty"` // kind and id, e.g. "request r1"
	What   string `json:"what"`
	// Gap says that something is merely not there any more, or never came: what
	// retention dropped, or a full queue. Nothing that is there is wrong.
	Gap bool `json:"gap,omitempty"`
}

// A Summary says what Verify has looked at.
type Summary struct {
	Sessions  int `json:"sessions"`
	Anchors   int `json:"anchors"`
	Headers   int `json:"headers"`
	Requests  int `json:"requests"`
	Injected  int `json:"injected"` // requests that carried a prefix
	Responses int `json:"responses"`
	Blobs     int `json:"blobs"` // distinct ones
	Findings  int `json:"findings"`
	Gaps      int `json:"gaps"`
}

// OK reports whether every promise held.
func (s Summary) OK() bool { return s.Findings == 0 }

// Verify checks a log, or one session of it if k is not nil, from its records
// and blobs alone, and calls f with each finding. It recomputes every hash:
//
//   - anchors: epochs count from 1 without a hole; the prefix is the hash of the
//     messages; each rendering's bytes are there and have its size and SHA-256;
//     a bare one has nothing to insert;
//   - headers: the blob of each stored part is there and has its size;
//   - requests: their anchor and header are there; splices lie inside the body
//     in order and do not overlap; one that injects has the prefix once, from a
//     rendering of its anchor, whole; one that is bare has none and says why;
//   - responses belong to a request, at most one to each;
//   - no record is there twice, or under another's session.
//
// The error is of reading; then the summary is of what was read until then.
func Verify(ctx context.Context, r Reader, k *Key, f func(Finding)) (Summary, error) {
	v := &verifier{ctx: ctx, r: r, report: f, blobs: map[Digest]blobFact{}}
	err := v.run(k)
	v.sum.Blobs = len(v.blobs)
	if err != nil {
		return v.sum, fmt.Errorf("cannot verify the log: %w", err)
	}
	return v.sum, nil
}

type verifier struct {
	ctx    context.Context
	r      Reader
	report func(Finding)
	sum    Summary
	blobs  map[Digest]blobFact
}

// A blobFact is what was seen of a blob; err if it cannot be had.
type blobFact struct {
	sha256 string
	size   int
	err    error
}

func (v *verifier) run(k *Key) error {
	if k != nil {
		return v.session(*k)
	}
	var failed error
	err := v.r.Sessions(v.ctx, "", "", func(s SessionInfo) bool {
		failed = v.session(s.Key)
		return failed == nil
	})
	return errors.Join(err, failed)
}

// session checks one session. What is damaged is a finding, not an error: the
// others are looked at all the same.
func (v *verifier) session(k Key) error {
	v.sum.Sessions++
	s := &sessionCheck{v: v, key: k, anchors: map[int]*Anchor{}, headers: map[string]*Header{}, requests: map[string]*Request{}, seen: map[string]bool{}}
	if err := s.readAnchors(); err != nil {
		return err
	}
	var failed error
	err := v.r.Records(v.ctx, k, 0, func(_ int64, r Record) bool {
		failed = s.record(r)
		return failed == nil
	})
	if errors.Is(err, ErrCorrupt) {
		s.find(0, "", "its records cannot be read: %v", err)
		err = nil
	}
	return errors.Join(err, failed)
}

// blob looks at a blob, once in a run.
func (v *verifier) blob(d Digest) (blobFact, error) {
	if fact, ok := v.blobs[d]; ok {
		return fact, nil
	}
	var fact blobFact
	b, err := v.r.ReadBlob(v.ctx, d)
	switch {
	case errors.Is(err, ErrNoBlob), errors.Is(err, ErrCorrupt):
		fact.err = err
	case err != nil:
		return fact, err
	case Sum(b) != d:
		fact.err = errors.New("its bytes have another digest")
	default:
		sum := sha256.Sum256(b)
		fact = blobFact{sha256: hex.EncodeToString(sum[:]), size: len(b)}
	}
	v.blobs[d] = fact
	return fact, nil
}
