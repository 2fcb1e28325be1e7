package logsink

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

type threadHash uint64

func hashThread(thread string) threadHash { return threadHash(xxh3.HashString(thread)) }

// heads tells for each thread of a session which pages hold its newest request
// and its newest header record. It is kept in the session's row, which every
// batch writes anyway, so that finding them costs no index: one would be touched
// at a random place for each batch and session.
//
// It is a flag byte, then 24 bytes for each thread, the one that was heard of
// last at the end: hash, page of request, page of header, big endian, 0 for
// none. It has room for headsMost threads; when more were seen the flag is set,
// and threads that are not in it must be looked for in the pages.
type heads []byte

const (
	headsMost = 64
	headSize  = 24

	headsAll  = 0 // every thread of the session is in it
	headsSome = 1
)

func newHeads() heads { return heads{headsAll} }

// find returns the pages of a thread. sure is false if it may have some that
// are not known here.
func (h heads) find(t threadHash) (request, header int64, sure bool) {
	if i := h.index(t); i >= 0 {
		return int64(binary.BigEndian.Uint64(h[i+8:])), int64(binary.BigEndian.Uint64(h[i+16:])), true
	}
	return 0, 0, h.complete()
}

func (h heads) complete() bool { return len(h) > 0 && h[0] == headsAll }

func (h heads) index(t threadHash) int {
	for i := 1; i+headSize <= len(h); i += headSize {
		if threadHash(binary.BigEndian.Uint64(h[i:])) == t {
			return i
		}
	}
	return -1
}

// set returns h with the pages of a thread; 0 leaves one as it was.
func (h heads) set(t threadHash, request, header int64) heads {
	oldRequest, oldHeader, _ := h.find(t)
	if request == 0 {
		request = oldRequest
	}
	if header == 0 {
		header = oldHeader
	}
	if i := h.index(t); i >= 0 {
		h = append(h[:i], h[i+headSize:]...)
	}
	if len(h) >= 1+headsMost*headSize {
		h = append(h[:1], h[1+headSize:]...)
		h[0] = headsSome
	}
	h = binary.BigEndian.AppendUint64(h, uint64(t))
	h = binary.BigEndian.AppendUint64(h, uint64(request))
	return binary.BigEndian.AppendUint64(h, uint64(header))
}
