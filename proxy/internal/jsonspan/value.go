package jsonspan

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 128

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

// A Doc is a scanned document: an index of its values down to the depth that
// Scan was asked for. A Doc may be used again for another document; its zero
// value is ready. It is not safe for concurrent Scans.
type Doc struct {
	body  []byte
	nodes []node
}

// node is one indexed value. Children follow their parent; next is the index
// of the node after the value and all its indexed descendants.
type node struct {
	from, to       int32 // the value
	nameFrom, name int32 // the member's name between its quotes: offset, length; name < 0 in arrays
	next           int32
	kind           Kind
	escaped        bool // the name, or the string, has escapes
	indexed        bool // children are indexed
}

// Body returns the document's bytes.
func (d *Doc) Body() []byte { return d.body }

// Root returns the document's value.
func (d *Doc) Root() Value { return Value{d, 0} }

// A Value is one value of a scanned document. The zero Value is absent: all its
// methods answer as for a value that is not there, so look-ups can be chained.
type Value struct {
	d *Doc
	i int32
}
