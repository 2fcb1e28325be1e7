package jsonspan

import (
	"bytes"
	"math"
)

// Limits of a document, beside its length, which the caller bounds.
const (
	MaxDepth    = 128     // how deep objects and arrays may nest
	MaxNumber   = 64      // bytes in a number literal
	MaxElements = 1 << 17 // elements in an array whose elements are indexed
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
	depth   func(topName []byte) int
	open    int // objects and arrays open at the moment
	names   nameStack
	refused Error // set whenever failed is returned
}

// A node is one indexed value.
type node struct {
	from, to          int32 // the value
	nameFrom, nameLen int32 // the member's name between its quotes; 0 and 0 elsewhere
	next              int32 // the next sibling; 0, the root, means none
	children          int32 // how many, indexed or not
	kind              Kind
	indexed           bool // children are indexed
	nameEscaped       bool
}

// noNode stands for the node of a value that is not indexed.
const noNode = -1

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
	return d.finish(d.document())
}

// finish ends a scan of which the root ended at end, or which failed.
func (d *Doc) finish(end int) error {
	d.depth = nil
	if end != failed {
		return nil
	}
	err := d.refused
	d.Reset()
	return &err
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
	d.refused = Error{reason, at}
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
	c, from := d.next(0)
	if from == len(d.body) {
		return d.fail(Empty, from)
	}
	d.addNode(from)
	kind, end := d.value(c, from, 0, 1)
	return d.close(kind, end)
}

// close ends the root's node, and checks that nothing follows it.
func (d *Doc) close(kind Kind, end int) int {
	if end == failed {
		return failed
	}
	root := &d.nodes[0]
	root.kind, root.to = kind, int32(end)
	if _, end = d.next(end); end != len(d.body) {
		return d.fail(TrailingData, end)
	}
	if kind != Object {
		return d.fail(NotObject, int(root.from))
	}
	return end
}
