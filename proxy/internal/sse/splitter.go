package sse

import "bytes"

// DefaultLimit bounds an event if Splitter.Limit is 0.
const DefaultLimit = 1 << 20

// kept is the largest buffer that outlives the event it was grown for.
const kept = 64 << 10

// An Event is one event of a stream. Its slices are valid during the call that
// hands it over.
type Event struct {
	Name []byte // of the event field, empty if there was none
	Data []byte // the data lines, joined by LF

	// Start and End are offsets in the stream: of the event's first byte (a
	// comment or an unknown field counts) and after its blank line. If a chunk
	// ends between the CR and the LF of that line, End is between them too.
	Start, End int64

	// Oversize reports that name or data were longer than the limit. Data is
	// then nil, and so is Name if it is what was too long.
	Oversize bool
}

// A Splitter cuts a stream into events. The zero Splitter is ready. It is used
// by one goroutine.
type Splitter struct {
	// Want is asked once for each event, when its first data line begins, with
	// the name known by then (valid during the call). An event that is not
	// wanted is neither kept nor handed over. nil wants all.
	Want func(name []byte) bool
	// Limit is the most bytes that a name, or the data of one event, may have;
	// 0 means DefaultLimit.
	Limit int

	offset  int64 // of the next byte to be fed
	start   int64 // of the event in progress
	started bool  // the place where a byte order mark may be is passed
	afterCR bool  // the last line ended in a CR: an LF now belongs to it

	// The line in progress, if inLine. line holds its bytes so far, or nothing
	// if dropLine says that they do not matter.
	inLine   bool
	dropLine bool
	line     []byte

	// The event in progress. name and data point into the chunk being fed, or
	// into nameBuf and dataBuf; at the end of Feed only the latter.
	name, data       []byte
	nameBuf, dataBuf []byte
	hasData          bool
	decided          bool // Want was asked
	ignore           bool // nothing of the event matters but its end
	oversize         bool
}

// Feed takes the next bytes of the stream and calls f for each event that they
// complete. It keeps no reference to p.
func (s *Splitter) Feed(p []byte, f func(Event)) {
	base := s.offset
	s.offset += int64(len(p))
	pos := s.skipMark(p)
	if pos < len(p) && s.afterCR {
		pos += s.skipLF(p[pos], base+int64(pos))
	}
	for ends := (lineEnds{p: p, lf: -1, cr: -1}); pos < len(p); {
		end, next := ends.after(pos)
		if next < 0 {
			s.hold(p[pos:])
			break
		}
		s.afterCR = next == len(p) && p[next-1] == '\r'
		s.takeLine(p[pos:end], base+int64(next), f)
		pos = next
	}
	s.own()
}

// Open is the offset at which the event in progress began, or will begin.
func (s *Splitter) Open() int64 { return s.start }

// lineEnds finds line ends in a chunk. Each of LF and CR is searched for only
// when the last one found is passed, so the chunk is read at most twice.
type lineEnds struct {
	p      []byte
	lf, cr int // the next one of each at or after the last search
}

// after returns the end of the line that begins at pos and the beginning of
// the next; next is negative if the line does not end in this chunk.
func (e *lineEnds) after(pos int) (end, next int) {
	if e.lf < pos {
		e.lf = indexFrom(e.p, pos, '\n')
	}
	if e.cr < pos {
		e.cr = indexFrom(e.p, pos, '\r')
	}
	end = min(e.lf, e.cr)
	switch {
	case end == len(e.p):
		return end, -1
	case end+1 == e.lf && e.lf < len(e.p): // CRLF
		return end, end + 2
	}
	return end, end + 1
}

func indexFrom(p []byte, pos int, c byte) int {
	if i := bytes.IndexByte(p[pos:], c); i >= 0 {
		return pos + i
	}
	return len(p)
}

// skipLF returns 1 if the byte is the second half of a line end whose first
// half ended the chunk before.
func (s *Splitter) skipLF(c byte, at int64) int {
	s.afterCR = false
	if c != '\n' {
		return 0
	}
	if s.start == at {
		s.start++
	}
	return 1
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// skipMark returns how many bytes of p belong to a byte order mark. Until it
// is sure that there is none, the bytes are kept as the line in progress.
func (s *Splitter) skipMark(p []byte) int {
	if s.started {
		return 0
	}
	n := 0
	for n < len(p) && len(s.line) < len(byteOrderMark) && p[n] == byteOrderMark[len(s.line)] {
		s.line = append(s.line, p[n])
		n++
	}
	switch {
	case len(s.line) == len(byteOrderMark):
		s.started, s.line = true, s.line[:0]
	case n < len(p):
		s.started, s.inLine = true, len(s.line) > 0
	}
	return n
}
