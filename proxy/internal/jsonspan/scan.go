package jsonspan

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// Limits of a document, beside its length, which the caller bounds.
const (
	MaxDepth    = 128     // how deep objects and arrays may nest
	MaxNumber   = 64      // bytes in a number literal
	MaxElements = 1 << 16 // elements in an array whose elements are indexed
	MaxValues   = 1 << 20 // values indexed in all
)

// DefaultDepth is how many levels below each top-level member are indexed if
// Scan is given no depth function.
const DefaultDepth = 6

// A Doc is a scanned document: an index of its values down to the depth that
// Scan was asked for. A Doc may be used again for another document; its zero
// value is ready. It is not safe for concurrent Scans.
type Doc struct {
	body  []byte
	nodes []node // in document order, so a first child follows its parent

	// These are of use only during a Scan.
	depth  func(topName []byte) int
	open   int // objects and arrays open at the moment
	names  nameStack
	failed Error
}

// A node is one indexed value.
type node struct {
	from, to          int32 // the value
	nameFrom, nameLen int32 // the member's name between its quotes; nameFrom is noName elsewhere
	next              int32 // the next sibling; 0, the root, means none
	children          int32 // how many, indexed or not
	kind              Kind
	indexed           bool // children are indexed
	nameEscaped       bool
	escaped           bool // the string has escapes
}

const (
	noName = -1 // node.nameFrom of elements and of the root
	noNode = -1 // stands for the node of a value that is not indexed
)

// Scan checks body from its first byte to its last and indexes it, whatever the
// Doc held before. It returns an *Error if body is refused; the Doc is then
// empty. The Doc keeps body, not a copy, until the next Scan or Reset, and body
// must not change as long as the index is in use.
//
// All top-level members are indexed. For each, depth says how many levels below
// the member's value are indexed too: 0 for the value alone. It is given the
// name's meaning, in bytes that are good only during the call. A nil depth
// stands for DefaultDepth everywhere. The check does not depend on it, save that
// MaxElements and MaxValues count only what is indexed.
func (d *Doc) Scan(body []byte, depth func(topName []byte) int) error {
	d.Reset()
	d.body, d.depth = body, depth
	end := d.document()
	d.depth = nil
	if end == failed {
		err := d.failed
		d.Reset()
		return &err
	}
	return nil
}

// Reset empties the Doc and lets go of the document. The room for the index is
// kept, unless a document of unusual shape made it large.
func (d *Doc) Reset() {
	d.body, d.depth, d.open = nil, nil, 0
	d.nodes = d.nodes[:0]
	if cap(d.nodes) > maxKept {
		d.nodes = nil
	}
	d.names.reset()
}

// maxKept is how many nodes, or names, a Doc at rest has room for at most.
const maxKept = 1 << 16

// Body returns the document's bytes.
func (d *Doc) Body() []byte { return d.body }

// Root returns the document's value, always an object; absent if nothing was scanned.
func (d *Doc) Root() Value { return Value{d, 0} }

// failed is what the scanning methods return in place of an offset.
const failed = -1

func (d *Doc) fail(reason string, at int) int {
	d.failed = Error{reason, at}
	return failed
}

// document scans all of the body. Like all the methods below it returns the
// offset after what it scanned, or failed.
func (d *Doc) document() int {
	if len(d.body) > math.MaxInt32 {
		return d.fail(TooLarge, math.MaxInt32)
	}
	if bytes.HasPrefix(d.body, []byte("\ufeff")) {
		return d.fail(BOM, 0)
	}
	from := d.space(0)
	if from == len(d.body) {
		return d.fail(Empty, from)
	}
	root := d.add(from, noName, 0, false)
	to := d.value(from, root, 1)
	if to == failed {
		return failed
	}
	if to = d.space(to); to != len(d.body) {
		return d.fail(TrailingData, to)
	}
	if d.nodes[root].kind != Object {
		return d.fail(NotObject, from)
	}
	return to
}

// add appends the node of the value that starts at from.
func (d *Doc) add(from, nameFrom, nameLen int, nameEscaped bool) int {
	d.nodes = append(d.nodes, node{
		from:        int32(from),
		nameFrom:    int32(nameFrom),
		nameLen:     int32(nameLen),
		nameEscaped: nameEscaped,
	})
	return len(d.nodes) - 1
}

// peek is the byte at i, or 0, which is no part of JSON, after the end.
func (d *Doc) peek(i int) byte {
	if i < len(d.body) {
		return d.body[i]
	}
	return 0
}

func (d *Doc) space(i int) int {
	for i < len(d.body) && (d.body[i] == ' ' || d.body[i] == '\n' || d.body[i] == '\t' || d.body[i] == '\r') {
		i++
	}
	return i
}

// value scans the value at i. Its node is self; levels below it are indexed.
func (d *Doc) value(i, self, levels int) int {
	kind, escaped, to := Null, false, 0
	switch c := d.peek(i); c {
	case '{':
		kind, to = Object, d.object(i, self, levels)
	case '[':
		kind, to = Array, d.array(i, self, levels)
	case '"':
		kind = String
		to, escaped = d.str(i)
	case 't':
		kind, to = True, d.literal(i, "true")
	case 'f':
		kind, to = False, d.literal(i, "false")
	case 'n':
		to = d.literal(i, "null")
	default:
		kind, to = Number, d.number(i)
	}
	if self != noNode && to != failed {
		n := &d.nodes[self]
		n.to, n.kind, n.escaped = int32(to), kind, escaped
	}
	return to
}

// unexpected refuses the byte at i, or the end of the document.
func (d *Doc) unexpected(i int) int {
	if i < len(d.body) && d.body[i] >= utf8.RuneSelf {
		if r, n := utf8.DecodeRune(d.body[i:]); r == utf8.RuneError && n == 1 {
			return d.fail(InvalidUTF8, i)
		}
	}
	return d.fail(Syntax, i)
}

// object scans the object that opens at i.
func (d *Doc) object(i, self, levels int) int {
	if d.open++; d.open > MaxDepth {
		return d.fail(TooDeep, i)
	}
	if self != noNode {
		d.nodes[self].indexed = levels > 0
	}
	first := len(d.names.open)
	count, last := 0, noNode
	if i = d.space(i + 1); d.peek(i) == '}' {
		d.open--
		return i + 1
	}
	for {
		nameFrom := i + 1
		if d.peek(i) != '"' {
			return d.unexpected(i)
		}
		end, escaped := d.str(i)
		if end == failed {
			return failed
		}
		nameTo := end - 1
		if reason := d.names.push(d.body, nameFrom, nameTo, escaped, first); reason != "" {
			return d.fail(reason, i)
		}
		if i = d.space(end); d.peek(i) != ':' {
			return d.unexpected(i)
		}
		i = d.space(i + 1)

		child, below := noNode, levels-1
		if levels > 0 {
			if len(d.nodes) == MaxValues {
				return d.fail(TooLarge, i)
			}
			child = d.add(i, nameFrom, nameTo-nameFrom, escaped)
			if last != noNode {
				d.nodes[last].next = int32(child)
			}
			last = child
			if self == 0 {
				below = d.levelsBelow()
			}
		}
		count++
		if i = d.value(i, child, below); i == failed {
			return failed
		}
		i = d.space(i)
		switch d.peek(i) {
		case ',':
			i = d.space(i + 1)
		case '}':
			d.names.pop(first)
			d.open--
			if self != noNode {
				d.nodes[self].children = int32(count)
			}
			return i + 1
		default:
			return d.unexpected(i)
		}
	}
}

// levelsBelow asks for the depth of the top-level member just named.
func (d *Doc) levelsBelow() int {
	if d.depth == nil {
		return DefaultDepth
	}
	return d.depth(d.names.last(d.body))
}

// array scans the array that opens at i.
func (d *Doc) array(i, self, levels int) int {
	if d.open++; d.open > MaxDepth {
		return d.fail(TooDeep, i)
	}
	if self != noNode {
		d.nodes[self].indexed = levels > 0
	}
	count, last := 0, noNode
	if i = d.space(i + 1); d.peek(i) == ']' {
		d.open--
		return i + 1
	}
	for {
		child := noNode
		if levels > 0 {
			if count == MaxElements || len(d.nodes) == MaxValues {
				return d.fail(TooLarge, i)
			}
			child = d.add(i, noName, 0, false)
			if last != noNode {
				d.nodes[last].next = int32(child)
			}
			last = child
		}
		count++
		if i = d.value(i, child, levels-1); i == failed {
			return failed
		}
		i = d.space(i)
		switch d.peek(i) {
		case ',':
			i = d.space(i + 1)
		case ']':
			d.open--
			if self != noNode {
				d.nodes[self].children = int32(count)
			}
			return i + 1
		default:
			return d.unexpected(i)
		}
	}
}

func (d *Doc) literal(i int, word string) int {
	for k := range len(word) {
		if d.peek(i+k) != word[k] {
			return d.unexpected(i + k)
		}
	}
	return i + len(word)
}

// number scans the number at i, or refuses what is no value at all.
func (d *Doc) number(i int) int {
	from := i
	if d.peek(i) == '-' {
		i++
	}
	switch c := d.peek(i); {
	case c == '0':
		i++
	case '1' <= c && c <= '9':
		i = d.digits(i)
	default:
		return d.unexpected(i)
	}
	if d.peek(i) == '.' {
		if i = d.digits(i + 1); d.peek(i-1) == '.' {
			return d.unexpected(i)
		}
	}
	if c := d.peek(i); c == 'e' || c == 'E' {
		i++
		if c := d.peek(i); c == '+' || c == '-' {
			i++
		}
		exponent := i
		if i = d.digits(i); i == exponent {
			return d.unexpected(i)
		}
	}
	if i-from > MaxNumber {
		return d.fail(LongNumber, from)
	}
	return i
}

func (d *Doc) digits(i int) int {
	for c := d.peek(i); '0' <= c && c <= '9'; c = d.peek(i) {
		i++
	}
	return i
}

// str scans the string whose opening quote is at i.
func (d *Doc) str(i int) (end int, escaped bool) {
	for i++; i < len(d.body); {
		switch c := d.body[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			n := escapeLen(d.body, i)
			if n == 0 {
				return d.unexpected(i + 1), true
			}
			i, escaped = i+n, true
		case c < ' ':
			return d.fail(Syntax, i), escaped
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(d.body[i:])
			if r == utf8.RuneError && n == 1 {
				return d.fail(InvalidUTF8, i), escaped
			}
			i += n
		}
	}
	return d.fail(Syntax, len(d.body)), escaped
}

// escapeLen is the length of the escape whose backslash is at i, 0 if it is none.
func escapeLen(b []byte, i int) int {
	if i+1 >= len(b) {
		return 0
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b, i+2); ok {
			return 6
		}
	}
	return 0
}
