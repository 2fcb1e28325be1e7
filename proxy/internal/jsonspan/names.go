package jsonspan

import (
	"bytes"
	"hash/maphash"
)

// A nameStack holds the member names of all objects open at the moment, those
// of the innermost last, to find duplicates. The names of a small object are
// compared one by one. Those of a large one are also in a hash table, which all
// open objects share: names leave it in the reverse of the order in which they
// came, so a slot can simply be cleared and the probe chains stay whole.
type nameStack struct {
	open []openName
	text []byte  // the meanings of the open names that have escapes
	slot []int32 // 1 + index in open, or 0; linear probing, a power of two long
	used int     // slots taken
}

// An openName is one name of an open object. Its meaning is at [from, from+size)
// of the document, or of nameStack.text if it had to be unescaped.
type openName struct {
	from, size int32
	hash       uint32 // good only if hashed
	unescaped  bool
	hashed     bool
}

// smallObject is how many names are compared one by one before it pays to hash.
const smallObject = 8

// seed makes the hashes of this process its own, so that nobody can prepare
// names which collide.
var seed = maphash.MakeSeed()

func (s *nameStack) reset() {
	if s.pop(0); cap(s.open) > maxKept || cap(s.text) > maxKept {
		*s = nameStack{}
	}
}

// push adds the name at [from, to) of body to the object whose first name has
// the index first. It returns a reason to refuse it, or "".
func (s *nameStack) push(body []byte, from, to int, escaped bool, first int) (reason string) {
	n := openName{from: int32(from), size: int32(to - from)}
	if escaped {
		raw := body[from:to]
		if loneSurrogate(raw) {
			return InvalidUTF8
		}
		n.from, n.unescaped = int32(len(s.text)), true
		s.text = appendUnescaped(s.text, raw)
		n.size = int32(len(s.text)) - n.from
	}
	s.open = append(s.open, n)
	if s.duplicate(body, first) {
		return DuplicateName
	}
	return ""
}

// duplicate reports whether the last name is among the others of its object,
// and puts it into the table if the object is large.
func (s *nameStack) duplicate(body []byte, first int) bool {
	last := len(s.open) - 1
	if last-first < smallObject {
		name := s.meaning(body, last)
		for i := first; i < last; i++ {
			if int(s.open[i].size) == len(name) && bytes.Equal(s.meaning(body, i), name) {
				return true
			}
		}
		return false
	}
	if last-first == smallObject {
		for i := first; i < last; i++ {
			s.insert(body, i, first)
		}
	}
	return s.insert(body, last, first)
}

func (s *nameStack) meaning(body []byte, i int) []byte {
	n := s.open[i]
	if n.unescaped {
		return s.text[n.from : n.from+n.size]
	}
	return body[n.from : n.from+n.size]
}

// last is the meaning of the name pushed last.
func (s *nameStack) last(body []byte) []byte { return s.meaning(body, len(s.open)-1) }

// insert puts name i of the object that starts at first into the table. It
// reports whether an equal name of that object is there already.
func (s *nameStack) insert(body []byte, i, first int) (found bool) {
	if 2*(s.used+1) > len(s.slot) {
		s.grow()
	}
	name := s.meaning(body, i)
	// The same name in many nested objects must not make one long chain.
	hash := uint32(maphash.Bytes(seed, name)) + uint32(first)*0x9e3779b9
	at := s.home(hash)
	for ; s.slot[at] != 0; at = s.after(at) {
		other := int(s.slot[at]) - 1
		if other >= first && s.open[other].hash == hash && bytes.Equal(s.meaning(body, other), name) {
			return true
		}
	}
	s.open[i].hash, s.open[i].hashed = hash, true
	s.slot[at] = int32(i) + 1
	s.used++
	return false
}

func (s *nameStack) home(hash uint32) int { return int(hash) & (len(s.slot) - 1) }
func (s *nameStack) after(at int) int     { return (at + 1) & (len(s.slot) - 1) }

// grow makes the table twice as large, and puts the names back in their order.
func (s *nameStack) grow() {
	s.slot = make([]int32, max(64, 2*len(s.slot)))
	for i := range s.open {
		if !s.open[i].hashed {
			continue
		}
		at := s.home(s.open[i].hash)
		for s.slot[at] != 0 {
			at = s.after(at)
		}
		s.slot[at] = int32(i) + 1
	}
}

// pop takes away all names from index first on.
func (s *nameStack) pop(first int) {
	for i := len(s.open) - 1; i >= first; i-- {
		n := s.open[i]
		if n.unescaped {
			s.text = s.text[:n.from]
		}
		if !n.hashed {
			continue
		}
		at := s.home(n.hash)
		for int(s.slot[at]) != i+1 {
			at = s.after(at)
		}
		s.slot[at] = 0
		s.used--
	}
	s.open = s.open[:first]
}
