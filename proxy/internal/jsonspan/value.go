package jsonspan

import (
	"bytes"
	"math"
)

// A Kind is a kind of JSON value. The zero Kind is that of an absent Value.
type Kind byte

// The kinds of JSON value.
const (
	Absent Kind = iota
	Null
	True
	False
	Number
	String
	Array
	Object
)

// A Span is the half-open byte range [From, To) of a document.
type Span struct{ From, To int }

// Len is the number of bytes in the span.
func (s Span) Len() int { return s.To - s.From }

// A Value is one value of a scanned document. The zero Value is absent: all its
// methods answer as for a value that is not there, so look-ups can be chained.
// A Value is good until its Doc is scanned again or reset.
type Value struct {
	d *Doc
	i int32
}

// absent stands for the node of a Value that is not there. It is never written.
var absent node

func (v Value) node() *node {
	if v.d == nil || int(v.i) >= len(v.d.nodes) {
		return &absent
	}
	return &v.d.nodes[v.i]
}

// Exists reports whether the value is there.
func (v Value) Exists() bool { return v.node().kind != Absent }

// Kind is the value's kind, Absent if it is not there.
func (v Value) Kind() Kind { return v.node().kind }

// Span is where the value stands in the document.
func (v Value) Span() Span {
	n := v.node()
	return Span{int(n.from), int(n.to)}
}

// Raw is the value's bytes as written, a part of the document; nil if absent.
func (v Value) Raw() []byte {
	n := v.node()
	if n.kind == Absent {
		return nil
	}
	return v.d.body[n.from:n.to:n.to]
}

// Get is the member of an object that has the name. It is absent if there is no
// such member, v is no object, or v's members are not indexed.
func (v Value) Get(name string) Value {
	n := v.node()
	if n.kind != Object || !n.indexed || n.children == 0 {
		return Value{}
	}
	nodes := v.d.nodes
	for i := v.i + 1; ; i = nodes[i].next {
		m := &nodes[i]
		if (int(m.nameLen) == len(name) || m.nameEscaped) && m.named(v.d.body, name) {
			return Value{v.d, i}
		}
		if m.next == 0 {
			return Value{}
		}
	}
}

// First is the first element of an array or member of an object. It is absent
// if there is none, or if v's children are not indexed.
func (v Value) First() Value {
	if n := v.node(); !n.indexed || n.children == 0 {
		return Value{}
	}
	return Value{v.d, v.i + 1}
}

// Next is the element or member after this one, absent after the last.
func (v Value) Next() Value {
	n := v.node()
	if n.next == 0 {
		return Value{}
	}
	return Value{v.d, n.next}
}

// Len is the number of elements or members, indexed or not.
func (v Value) Len() int { return int(v.node().children) }

// Name is the member's name as written, without its quotes; nil if v is no member.
func (v Value) Name() []byte {
	n := v.node()
	if n.nameFrom == 0 {
		return nil
	}
	end := n.nameFrom + n.nameLen
	return v.d.body[n.nameFrom:end:end]
}

// NameSpan is where the member's name stands, quotes included, so that
// [NameSpan().From, Span().To) is the whole member. It is zero if v is no member.
func (v Value) NameSpan() Span {
	n := v.node()
	if n.nameFrom == 0 {
		return Span{}
	}
	return Span{int(n.nameFrom) - 1, int(n.nameFrom+n.nameLen) + 1}
}

// NameIs reports whether v is a member whose name, unescaped, is name.
func (v Value) NameIs(name string) bool {
	n := v.node()
	return n.nameFrom != 0 && n.named(v.d.body, name)
}

// named reports whether a member of body has the name. Most are told apart by
// their length.
func (n *node) named(body []byte, name string) bool {
	raw := body[n.nameFrom : n.nameFrom+n.nameLen]
	if n.nameEscaped {
		return means(raw, name)
	}
	return string(raw) == name
}

// content is what stands between the quotes of a string.
func (v Value) content() (raw []byte, ok bool) {
	n := v.node()
	if n.kind != String {
		return nil, false
	}
	return v.d.body[n.from+1 : n.to-1], true
}

// Is reports whether v is a string whose meaning is s.
func (v Value) Is(s string) bool {
	raw, ok := v.content()
	return ok && means(raw, s)
}

// Text is the meaning of a string; false if v is none. It copies.
func (v Value) Text() (string, bool) {
	raw, ok := v.content()
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), ok
	}
	return string(appendUnescaped(make([]byte, 0, len(raw)), raw)), true
}

// AppendText appends the meaning of a string to dst, and nothing if v is none.
// It takes no more room than len(v.Raw()).
func (v Value) AppendText(dst []byte) []byte {
	raw, _ := v.content()
	return appendUnescaped(dst, raw)
}

// Bool is true only for the value true.
func (v Value) Bool() bool { return v.Kind() == True }

// Int is the value of an integer; false if v is no number, has a fraction or an
// exponent (even 1.0 or 1e3), or does not fit.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	return integer(v.Raw())
}

// integer reads a number literal. It is no ParseInt, whose errors allocate.
func integer(raw []byte) (int64, bool) {
	digits, limit := raw, uint64(math.MaxInt64)
	if raw[0] == '-' {
		digits, limit = raw[1:], 1<<63
	}
	var n uint64
	for _, c := range digits {
		if c < '0' || '9' < c || n > limit/10 {
			return 0, false
		}
		if n = 10*n + uint64(c-'0'); n > limit {
			return 0, false
		}
	}
	if raw[0] == '-' {
		return -int64(n), true
	}
	return int64(n), true
}
