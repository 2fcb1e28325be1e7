package explain

import (
	"bytes"
	"sort"
)

// A piece is one value in a section's bytes, [from, to).
type piece struct{ from, to int }

func (p piece) of(b []byte) []byte { return b[p.from:p.to] }

// A member is one member of an object.
type member struct {
	name  string // as written, without quotes
	value piece
	from  int // where its name begins
}

// elementsOf splits a section into what a provider counts: the elements of its
// lists, and the values beside them. b is JSON inside [ ]; of anything else it
// makes what it can, and never fails.
func elementsOf(b []byte) []piece {
	var out []piece
	for _, v := range valuesIn(b, 0, len(b)) {
		if b[v.from] == '[' {
			out = append(out, valuesIn(b, v.from+1, v.to-1)...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// valuesIn splits values joined by commas.
func valuesIn(b []byte, from, to int) []piece {
	var out []piece
	for i := skip(b, from, to); i < to; i = skip(b, i, to) {
		end := valueEnd(b, i, to)
		if end > i {
			out = append(out, piece{i, end})
		}
		i = skip(b, end, to)
		if i < to { // the comma
			i++
		}
	}
	return out
}

// membersIn splits members joined by commas: the inside of an object.
func membersIn(b []byte, from, to int) []member {
	var out []member
	for i := skip(b, from, to); i < to; i = skip(b, i, to) {
		name := piece{i, valueEnd(b, i, to)}
		colon := skip(b, name.to, to)
		value := skip(b, min(colon+1, to), to)
		end := valueEnd(b, value, to)
		if name.to-name.from >= 2 && colon < to && b[colon] == ':' && end > value {
			out = append(out, member{string(b[name.from+1 : name.to-1]), piece{value, end}, name.from})
		}
		i = skip(b, end, to)
		if i < to {
			i++
		}
	}
	return out
}

// membersOf are those of an object; none if p is another value.
func membersOf(b []byte, p piece) []member {
	if p.to-p.from < 2 || b[p.from] != '{' {
		return nil
	}
	return membersIn(b, p.from+1, p.to-1)
}

// find returns the value of the member with a name.
func find(members []member, name string) (piece, bool) {
	for _, m := range members {
		if m.name == name {
			return m.value, true
		}
	}
	return piece{}, false
}

// skip passes white space.
func skip(b []byte, i, to int) int {
	for i < to && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns where the value that begins at i ends, at most to.
func valueEnd(b []byte, i, to int) int {
	depth := 0
	for ; i < to; i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i, to) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			if depth > 0 || !closes(b, i+1, to) {
				continue
			}
		}
		if depth <= 0 {
			return min(i+1, to)
		}
	}
	return to
}

// closes reports whether a bare word or number ends before i.
func closes(b []byte, i, to int) bool {
	return i >= to || bytes.IndexByte([]byte(",:]} \n\t\r"), b[i]) >= 0
}

// stringEnd returns where the string whose quote is at i ends.
func stringEnd(b []byte, i, to int) int {
	for start := i + 1; start < to; {
		n := bytes.IndexByte(b[start:to], '"')
		if n < 0 {
			return to
		}
		quote := start + n
		escapes := 0
		for quote-escapes-1 > i && b[quote-escapes-1] == '\\' {
			escapes++
		}
		if start = quote + 1; escapes%2 == 0 {
			return start
		}
	}
	return to
}

// markNames are what cache marks are called (dialect: markName).
var markNames = [...][]byte{[]byte(`"cache_control"`), []byte(`"prompt_cache_breakpoint"`), []byte(`"cachePoint"`)}

func isMark(name string) bool {
	for _, m := range markNames {
		if string(m[1:len(m)-1]) == name {
			return true
		}
	}
	return false
}

// A text without its cache marks, which move from turn to turn and are not part
// of the prompt, and where its bytes stood before.
type unmarked struct {
	text []byte
	cuts []cut // in order
}

// A cut says that the text from at on stood by so many bytes further on.
type cut struct{ at, by int }

// withoutMarks takes the marks out of some JSON. It returns b itself if it has none.
func withoutMarks(b []byte) unmarked {
	u := unmarked{text: b}
	var next nextMarks
	kept, gone := 0, 0
	for i := next.from(b, 0); i < len(b); i = next.from(b, kept) {
		from, to := markExtent(b, i)
		if gone == 0 {
			u.text = make([]byte, 0, len(b))
		}
		u.text = append(u.text, b[kept:max(from, kept)]...)
		gone += to - max(from, kept)
		kept = to
		u.cuts = append(u.cuts, cut{len(u.text), gone})
	}
	if gone > 0 {
		u.text = append(u.text, b[kept:]...)
	}
	return u
}

// nextMarks are where the next mark of each name begins, plus one: each name is
// looked for once, however many marks of another come before it.
type nextMarks [len(markNames)]int

// from returns where the first mark from a byte on begins, len(b) if none does.
func (n *nextMarks) from(b []byte, from int) int {
	first := len(b)
	for i := range n {
		if n[i] <= from {
			n[i] = 1 + nextName(b, from, markNames[i])
		}
		first = min(first, n[i]-1)
	}
	return first
}

// nextName returns where the next member with a quoted name begins.
func nextName(b []byte, i int, name []byte) int {
	for {
		at := bytes.Index(b[i:], name)
		if at < 0 {
			return len(b)
		}
		i += at + len(name)
		if after := skip(b, i, len(b)); after < len(b) && b[after] == ':' {
			return i - len(name)
		}
	}
}

// markExtent is the member whose name begins at i, with a comma beside it.
func markExtent(b []byte, i int) (from, to int) {
	value := skip(b, skip(b, stringEnd(b, i, len(b)), len(b))+1, len(b))
	to = max(valueEnd(b, value, len(b)), min(value, len(b)))
	for from = i; from > 0 && skip(b, from-1, from) == from; {
		from--
	}
	if from > 0 && b[from-1] == ',' {
		return from - 1, to
	}
	if after := skip(b, to, len(b)); after < len(b) && b[after] == ',' {
		return i, after + 1
	}
	return i, to
}

// at returns where byte i of the text stood.
func (u unmarked) at(i int) int {
	n := sort.Search(len(u.cuts), func(k int) bool { return u.cuts[k].at > i })
	if n == 0 {
		return i
	}
	return i + u.cuts[n-1].by
}

// differAt returns the first byte in which a and b differ, or the length of the
// shorter.
func differAt(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
