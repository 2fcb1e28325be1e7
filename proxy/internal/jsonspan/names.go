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

// An openName is one name of an open object. It has so few fields that the
// compiler keeps it in registers: going through memory, byte by byte in and word
// by word out, would cost more than all of the rest.
type openName struct {
	head uint64 // the first eight bytes of the meaning
	from int32  // where the meaning stands in the document, or ^from in nameStack.text
	size int32  // of the meaning
	hash uint32 // 0 if the name is not in the table
}

// A nameTop tells how high a nameStack was at some time.
type nameTop struct{ open, text int }

// smallObject is how many names are compared one by one before it pays to hash.
const smallObject = 8

// seed makes the hashes of this process its own, so that nobody can prepare
// names which collide.
var seed = maphash.MakeSeed()

func (s *nameStack) reset() {
	if s.drop(nameTop{}); cap(s.open) > maxKept || cap(s.text) > maxKept {
		*s = nameStack{}
	}
}

func (s *nameStack) top() nameTop { return nameTop{len(s.open), len(s.text)} }

// plainName is the name at [from, to) of a document, which has no escapes.
func plainName(body []byte, from, to int) openName {
	return openName{head: head(body, from, to-from), from: int32(from), size: int32(to - from)}
}

// unescape makes a name of one that has escapes.
func (s *nameStack) unescape(raw []byte) openName {
	from := len(s.text)
	s.text = appendUnescaped(s.text, raw)
	size := len(s.text) - from
	return openName{head: head(s.text, from, size), from: ^int32(from), size: int32(size)}
}

// push adds a name to the object whose first name has the index first. It
// reports whether the object has it already.
func (s *nameStack) push(body []byte, n openName, first int) (duplicate bool) {
	if len(s.open)-first >= smallObject {
		return s.pushHashed(body, n, first)
	}
	for i := first; i < len(s.open); i++ {
		o := &s.open[i]
		if o.head == n.head && o.size == n.size && (n.size <= 8 || bytes.Equal(s.meaning(body, *o), s.meaning(body, n))) {
			return true
		}
	}
	s.open = append(s.open, n)
	return false
}

// pushHashed does the same for a large object. All its names are in the table.
func (s *nameStack) pushHashed(body []byte, n openName, first int) (duplicate bool) {
	last := len(s.open)
	s.open = append(s.open, n)
	if last-first == smallObject {
		for i := first; i < last; i++ {
			s.insert(body, i, first)
		}
	}
	return s.insert(body, last, first)
}

// head is the first eight bytes of the n at i, or all of them and NULs.
func head(b []byte, i, n int) uint64 {
	x := word(b, i)
	if n < 8 {
		x &= 1<<(8*n) - 1
	}
	return x
}

// meaning is what the name is after unescaping; it is good until the next push.
func (s *nameStack) meaning(body []byte, n openName) []byte {
	if n.from < 0 {
		return s.text[^n.from : ^n.from+n.size]
	}
	return body[n.from : n.from+n.size]
}

// insert puts name i of the object that starts at first into the table. It
// reports whether an equal name of that object is there already.
func (s *nameStack) insert(body []byte, i, first int) (found bool) {
	if 2*(s.used+1) > len(s.slot) {
		s.grow()
	}
	name := s.meaning(body, s.open[i])
	// The same name in many nested objects must not make one long chain.
	hash := uint32(maphash.Bytes(seed, name)) + uint32(first)*0x9e3779b9
	if hash == 0 {
		hash = 1
	}
	at := s.home(hash)
	for ; s.slot[at] != 0; at = s.after(at) {
		other := int(s.slot[at]) - 1
		if other >= first && s.open[other].hash == hash && bytes.Equal(s.meaning(body, s.open[other]), name) {
			return true
		}
	}
	s.open[i].hash = hash
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
		if s.open[i].hash == 0 {
			continue
		}
		at := s.home(s.open[i].hash)
		for s.slot[at] != 0 {
			at = s.after(at)
		}
		s.slot[at] = int32(i) + 1
	}
}

// drop takes away all names above top.
func (s *nameStack) drop(top nameTop) {
	if s.used > 0 {
		s.unhash(top.open)
	}
	s.open, s.text = s.open[:top.open], s.text[:top.text]
}

// unhash takes the names from index first on out of the table, the last one first.
func (s *nameStack) unhash(first int) {
	for i := len(s.open) - 1; i >= first; i-- {
		if s.open[i].hash == 0 {
			continue
		}
		at := s.home(s.open[i].hash)
		for int(s.slot[at]) != i+1 {
			at = s.after(at)
		}
		s.slot[at] = 0
		s.used--
	}
}
