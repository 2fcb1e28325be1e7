package logsink

import (
	"bytes"
	"time"
)

// A page is what one batch tells of one session: JSON lines, each ended by a
// line feed, and what must be known of each to store it. Records are packed so
// because a row of its own costs ten times its line.
type page struct {
	key     sessionKey
	of      Key
	lines   []byte
	entries []entry
}

// An entry is one line of a page.
type entry struct {
	id      recordID
	epoch   int
	kind    Kind
	end     int // of its line in lines, past the line feed
	thread  threadHash
	time    int64
	lineage *[16]byte // of a derived request
	blobs   []Digest  // that it refers to
	header  string    // id of the header record that it is, or that a request names
}

// A page is one value of SQLite, which reads and writes it whole.
const (
	pageBytes   = 256 << 10
	pageRecords = 1024
)

func storedParts(h *Header) []Digest {
	var list []Digest
	for i := range h.Parts {
		if h.Parts[i].Stored {
			list = append(list, h.Parts[i].Digest)
		}
	}
	return list
}

// only returns the page with those entries alone that are new, which it asks
// once for each in order; nil if none is.
func (p *page) only(isNew func(recordID) bool) *page {
	left := &page{key: p.key, of: p.of}
	start := 0
	for i, e := range p.entries {
		line := p.lines[start:e.end]
		start = e.end
		switch {
		case !isNew(e.id):
			if left.entries == nil { // the first that is not; nearly always there is none
				left.entries = append(make([]entry, 0, len(p.entries)), p.entries[:i]...)
				left.lines = bytes.Clone(p.lines[:start-len(line)])
			}
		case left.entries != nil:
			left.lines = append(left.lines, line...)
			e.end = len(left.lines)
			left.entries = append(left.entries, e)
		}
	}
	if left.entries == nil {
		return p
	}
	if len(left.entries) == 0 {
		return nil
	}
	return left
}

func (p *page) ids() []byte {
	b := make([]byte, 0, 16*len(p.entries))
	for i := range p.entries {
		b = append(b, p.entries[i].id[:]...)
	}
	return b
}

func (p *page) latest() int64 {
	var t int64
	for i := range p.entries {
		t = max(t, p.entries[i].time)
	}
	return t
}

// pageSum is the checksum of a stored page.
func pageSum(key []byte, prev, at int64, ids, lines []byte) int64 {
	return checksum(lines, key, prev, at, ids)
}

// eachLine calls f with each line of a stored page until it returns false.
func eachLine(lines []byte, f func(index int, line []byte) bool) {
	for i := 0; len(lines) > 0; i++ {
		line, rest, _ := bytes.Cut(lines, []byte{'\n'})
		if !f(i, line) {
			return
		}
		lines = rest
	}
}

// nanos is Unix time in ns, and 0 for times that it cannot hold.
func nanos(t time.Time) int64 {
	if y := t.Year(); y < 1970 || y > 2261 {
		return 0
	}
	return t.UnixNano()
}
