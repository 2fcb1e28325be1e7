// Package lineage names points in a history by a chained digest, so that a
// request that extends an earlier one can be recognised.
//
// # Invariants
//
//  1. Two histories have the same lineage if their messages have the same
//     content after normalisation; how a message is normalised is the
//     dialect's business (cache marks and string-or-block shape are ignored).
//  2. A lineage finds, it never proves: it is XXH3-128, not cryptographic, and
//     nothing is sent because of it that the log did not freeze.
package lineage

import (
	"encoding/hex"

	"github.com/zeebo/xxh3"
)

// A Point is the lineage of a history up to and including one message. The
// zero Point is the empty history.
type Point [16]byte

// Next returns the lineage after one more message with the given content
// digest.
func (p Point) Next(content Point) Point {
	var b [32]byte
	copy(b[:16], p[:])
	copy(b[16:], content[:])
	return xxh3.Hash128(b[:]).Bytes()
}

// Of returns the digest of some bytes.
func Of(b []byte) Point { return xxh3.Hash128(b).Bytes() }

// IsZero reports whether p is the empty history.
func (p Point) IsZero() bool { return p == Point{} }

// String returns p in hex, or "" for the empty history.
func (p Point) String() string {
	if p.IsZero() {
		return ""
	}
	var text [2 * len(p)]byte
	hex.Encode(text[:], p[:])
	return string(text[:])
}
