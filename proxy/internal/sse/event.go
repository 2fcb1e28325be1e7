package sse

import "bytes"

// A field is what a line is about.
type field byte

const (
	fieldOther field = iota // comment, id, retry, unknown
	fieldEvent
	fieldData
)

// longestHead is the length of the longest line of which only its being long
// decides nothing: "event: " and the value after it.
const longestHead = len("event: ")

// split returns a line's field and value.
func split(line []byte) (field, []byte) {
	switch {
	case bytes.HasPrefix(line, []byte("data")):
		return valueOf(fieldData, line[len("data"):])
	case bytes.HasPrefix(line, []byte("event")):
		return valueOf(fieldEvent, line[len("event"):])
	}
	return fieldOther, nil
}

func valueOf(f field, rest []byte) (field, []byte) {
	switch {
	case len(rest) == 0:
		return f, nil
	case rest[0] != ':':
		return fieldOther, nil
	case len(rest) > 1 && rest[1] == ' ':
		return f, rest[2:]
	}
	return f, rest[1:]
}

// takeLine takes the end of a line, the rest of which may be held; next is the
// offset after its terminator.
func (s *Splitter) takeLine(tail []byte, next int64, f func(Event)) {
	if len(tail) == 0 && !s.inLine {
		s.dispatch(next, f)
		return
	}
	skip, held := s.ignore || s.dropLine, len(s.line) > 0
	s.inLine, s.dropLine = false, false
	if skip {
		s.line = s.line[:0]
		return
	}
	line := tail
	if held {
		line = append(s.line, tail...)
		s.line = line[:0]
	}
	switch kind, value := split(line); kind {
	case fieldEvent:
		s.takeName(value, held)
	case fieldData:
		s.takeData(value, held)
	}
}

// hold keeps the beginning of a line whose end is not here yet, as far as it
// may matter.
func (s *Splitter) hold(p []byte) {
	s.inLine = true
	if s.ignore || s.dropLine {
		return
	}
	n := min(len(p), max(0, longestHead-len(s.line)))
	s.line, p = append(s.line, p[:n]...), p[n:]
	if len(s.line) < longestHead {
		return
	}
	kind, _ := split(s.line)
	switch {
	case kind == fieldOther:
		s.line, s.dropLine = s.line[:0], true
	case kind == fieldData && !s.wanted():
		s.line = s.line[:0]
	case s.tooLong(kind, len(s.line)+len(p)-longestHead):
		s.line = s.line[:0]
		s.giveUp(kind)
	default:
		s.line = append(s.line, p...)
	}
}

// tooLong reports whether a value of n bytes or more breaks the limit.
func (s *Splitter) tooLong(kind field, n int) bool {
	if kind == fieldData {
		n += len(s.data)
	}
	return n > s.limit()
}

// wanted asks about the event once, when its data begin.
func (s *Splitter) wanted() bool {
	if !s.decided {
		s.decided = true
		s.ignore = s.Want != nil && !s.Want(s.name)
	}
	return !s.ignore
}

func (s *Splitter) limit() int {
	if s.Limit > 0 {
		return s.Limit
	}
	return DefaultLimit
}

// takeName sets the event's name. A value that was held lies in s.line, which
// the next line will overwrite.
func (s *Splitter) takeName(value []byte, held bool) {
	if s.tooLong(fieldEvent, len(value)) {
		s.giveUp(fieldEvent)
		return
	}
	s.name = value
	if held {
		s.nameBuf = append(s.nameBuf[:0], value...)
		s.name = s.nameBuf
	}
}

// takeData adds a data line.
func (s *Splitter) takeData(value []byte, held bool) {
	if !s.wanted() {
		return
	}
	size := len(value)
	if s.hasData {
		size++ // the LF that joins
	}
	switch {
	case s.tooLong(fieldData, size):
		s.giveUp(fieldData)
	case s.hasData:
		s.ownData()
		s.dataBuf = append(append(s.dataBuf, '\n'), value...)
		s.data = s.dataBuf
	case held:
		s.dataBuf = append(s.dataBuf[:0], value...)
		s.data, s.hasData = s.dataBuf, true
	default:
		s.data, s.hasData = value, true
	}
}

// giveUp lets go of an event that is over the limit.
func (s *Splitter) giveUp(long field) {
	s.ignore, s.oversize, s.hasData = true, true, true
	s.data = nil
	if long == fieldEvent {
		s.name = nil
	}
}

// dispatch ends the event in progress and begins the next.
func (s *Splitter) dispatch(next int64, f func(Event)) {
	if s.hasData && (s.oversize || !s.ignore) {
		f(Event{Name: s.name, Data: s.data, Start: s.start, End: next, Oversize: s.oversize})
	}
	s.start = next
	s.name, s.data = nil, nil
	s.hasData, s.decided, s.ignore, s.oversize = false, false, false, false
	if cap(s.dataBuf)+cap(s.line) > kept {
		s.dataBuf, s.line = nil, nil
	}
}

// own copies what the event in progress has in the chunk being fed.
func (s *Splitter) own() {
	if len(s.name) > 0 && !sameStart(s.name, s.nameBuf) {
		s.nameBuf = append(s.nameBuf[:0], s.name...)
		s.name = s.nameBuf
	}
	s.ownData()
}

func (s *Splitter) ownData() {
	if len(s.data) == 0 || !sameStart(s.data, s.dataBuf) {
		s.dataBuf = append(s.dataBuf[:0], s.data...)
		s.data = s.dataBuf
	}
}

// sameStart reports whether two slices begin at the same byte.
func sameStart(a, b []byte) bool { return len(b) > 0 && &a[0] == &b[0] }
