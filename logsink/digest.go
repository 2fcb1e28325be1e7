package logsink

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/zeebo/blake3"
)

// A Digest is the BLAKE3-256 of some bytes. It is written as "blake3:<hex>".
type Digest [32]byte

const digestPrefix = "blake3:"

// Sum returns the digest of the pieces, in order.
func Sum(pieces ...[]byte) Digest {
	if len(pieces) == 1 {
		return blake3.Sum256(pieces[0])
	}
	h := blake3.New()
	for _, p := range pieces {
		h.Write(p) // a hash never fails
	}
	var d Digest
	h.Sum(d[:0])
	return d
}

// IsZero reports whether d is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns "blake3:<hex>", or "" for no digest.
func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	return digestPrefix + hex.EncodeToString(d[:])
}

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	h, ok := strings.CutPrefix(string(b), digestPrefix)
	if !ok || len(h) != 2*len(d) {
		return fmt.Errorf("cannot read digest %q: want %s and %d hex digits", b, digestPrefix, 2*len(d))
	}
	if _, err := hex.Decode(d[:], []byte(h)); err != nil {
		return fmt.Errorf("cannot read digest %q: %w", b, err)
	}
	return nil
}
