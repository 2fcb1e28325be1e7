package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// A tenantID is the first half of HMAC-SHA256 of a credential.
type tenantID [16]byte

func (t tenantID) String() string {
	var b [2 * len(t)]byte
	hex.Encode(b[:], t[:])
	return string(b[:])
}

// scratch is the working memory of one Resolve, used again by a later one.
type scratch struct {
	mac    hash.Hash
	sum    []byte
	latest tenantID     // that was written last
	wrote  string       // latest as it was written, "" at first
	text   []byte       // a decoded body value
	member []byte       // a decoded field of it
	doc    jsonspan.Doc // of text
}

func newScratch(key []byte) *scratch {
	s := &scratch{mac: hmac.New(sha256.New, key)}
	// The first Reset keeps the keyed state, so that every later one is cheap
	// and wipes the block that held the end of a credential.
	s.mac.Reset()
	return s
}

func (s *scratch) tenant(credential []byte) (id tenantID) {
	s.mac.Write(credential) // a hash never fails
	s.sum = s.mac.Sum(s.sum[:0])
	s.mac.Reset()
	copy(id[:], s.sum)
	return id
}

// write returns the tenant in hex. Mostly it is that of the request before.
func (s *scratch) write(id tenantID) string {
	if s.wrote == "" || s.latest != id {
		s.latest, s.wrote = id, id.String()
	}
	return s.wrote
}

// Tenant returns the tenant that a credential stands for: 32 hex digits, the
// same for the same credential as long as the key is the same. All callers
// without a credential are one tenant, Tenant(nil). The credential is not kept.
func (r *Resolver) Tenant(credential []byte) string {
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	return s.write(s.tenant(credential))
}
