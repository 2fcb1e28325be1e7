package proxy

import (
	"bytes"
	"net"
	"slices"
	"sync"
	"unsafe"

	"github.com/zeebo/blake3"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// A mark is the state of the hash of what was sent, where the last message of
// the client's body begins. Up to there the next body is likely to be the same.
type mark struct {
	at    int            // in the client's body
	state *blake3.Hasher // never changed
}

// free gives the state's memory back; a nil mark has none.
func (m *mark) free() {
	if m != nil {
		hashers.Put(m.state)
	}
}

// minMark is where a mark begins to pay: a hash's state is large itself.
const minMark = 4 * hasherBytes

const hasherBytes = int(unsafe.Sizeof(blake3.Hasher{}))

var hashers = sync.Pool{New: func() any { return blake3.New() }}

// digest hashes what is sent, from where it differs from what was sent last.
func (x *exchange) digest() (d logsink.Digest, m *mark) {
	if x.coded {
		return digest(x.outgoing(nil)), nil
	}
	if x.repeatsAll() {
		return x.last.digest, x.last.mark
	}
	h := hashers.Get().(*blake3.Hasher)
	defer hashers.Put(h)
	at := x.resumeHash(h)
	if next := x.facts.Last; x.keeps && next >= max(at, minMark) {
		x.feed(h, at, next)
		state := hashers.Get().(*blake3.Hasher)
		*state = *h
		at, m = next, &mark{next, state}
	}
	x.feed(h, at, len(x.body)+1)
	h.Sum(d[:0])
	return d, m
}

// resumeHash sets h to the state of a mark that still holds, and returns where
// in the client's body that is; or to the beginning.
func (x *exchange) resumeHash(h *blake3.Hasher) (at int) {
	if x.last != nil {
		m := x.last.mark
		if m != nil && m.at <= x.same && sameSplices(before(x.last.splices, m.at), before(x.plan.splices, m.at)) {
			*h = *m.state
			return m.at
		}
	}
	h.Reset()
	return 0
}

// feed hashes the client's bytes in [from, to) and what is inserted there. What
// is inserted at from itself comes first, what is inserted at to is left out.
func (x *exchange) feed(h *blake3.Hasher, from, to int) {
	for _, s := range x.plan.splices {
		if from <= s.At && s.At < to {
			_, _ = h.Write(x.body[from:s.At]) // a hash never fails
			_, _ = h.Write(s.Bytes)
			from = s.At
		}
	}
	_, _ = h.Write(x.body[from:min(to, len(x.body))])
}

// before are the splices at offsets below at.
func before(list []dialect.Splice, at int) []dialect.Splice {
	n := 0
	for n < len(list) && list[n].At < at {
		n++
	}
	return list[:n]
}

func sameSplices(a, b []dialect.Splice) bool {
	return slices.EqualFunc(a, b, func(a, b dialect.Splice) bool { return a.At == b.At && bytes.Equal(a.Bytes, b.Bytes) })
}

// digest hashes the parts of a body.
func digest(parts net.Buffers) (d logsink.Digest) {
	if len(parts) == 1 {
		return logsink.Sum(parts[0])
	}
	h := hashers.Get().(*blake3.Hasher)
	defer hashers.Put(h)
	h.Reset()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash never fails
	}
	h.Sum(d[:0])
	return d
}
