package jsonspan

import (
	"math"
	"slices"
	"unsafe"
)

// An Index is what a Scan found in a document, kept for a later one that begins
// like it. It does not refer to the document's bytes, never changes, and is good
// for any number of Rescans at once. The zero Index is of no use to any.
type Index struct {
	nodes []node
	size  int // of the document
}

// Index returns a copy of d's index.
func (d *Doc) Index() Index { return Index{slices.Clone(d.nodes), len(d.body)} }

// Bytes is the memory that the Index takes.
func (x Index) Bytes() int { return cap(x.nodes) * nodeBytes }

// IndexBytes is about the memory that an Index of d would take.
func (d *Doc) IndexBytes() int { return len(d.nodes) * nodeBytes }

const nodeBytes = int(unsafe.Sizeof(node{}))

// Rescan does what Scan does, for a body of which the first same bytes are those
// of the document that old was made of, with the same depth function. It looks
// only at what comes after the last whole element, within them, of an array that
// is a member of the root; if there is none, at everything.
func (d *Doc) Rescan(body []byte, depth func(topName []byte) int, old Index, same int) error {
	if same == len(body) && same == old.size {
		d.Reset()
		d.body, d.nodes = body, append(d.nodes, old.nodes...)
		return nil
	}
	list, last, count := old.resumePoint(same)
	if last == 0 || len(body) > math.MaxInt32 {
		return d.Scan(body, depth)
	}
	d.Reset()
	d.body, d.depth = body, depth
	d.nodes = append(d.nodes, old.upTo(list, last)...)
	d.nodes[last].next = 0
	return d.finish(d.resume(list, last, count))
}

// resumePoint finds the node of the last element, of the last array among the
// root's members, that ends within the first same bytes, and how many elements
// the array has up to there; last is 0 if there is none.
func (x Index) resumePoint(same int) (list, last, count int) {
	if len(x.nodes) < 2 {
		return 0, 0, 0
	}
	for m := 1; m != 0 && int(x.nodes[m].from) < same; m = int(x.nodes[m].next) {
		if n := &x.nodes[m]; n.kind == Array && n.indexed && n.children > 0 && int(x.nodes[m+1].to) < same {
			list = m
		}
	}
	if list == 0 {
		return 0, 0, 0
	}
	for e := list + 1; e != 0 && int(x.nodes[e].to) < same; e = int(x.nodes[e].next) {
		last = e
		count++
	}
	return list, last, count
}

// upTo is the nodes up to those below last, an element of list. Nodes are in
// document order, so what comes after it begins at its sibling, or its list's.
func (x Index) upTo(list, last int) []node {
	end := x.nodes[last].next
	if end == 0 {
		end = x.nodes[list].next
	}
	if end == 0 {
		end = int32(len(x.nodes))
	}
	return x.nodes[:end]
}

// resume brings the scan where it was after the element last, which is number
// count of list, and goes on from there.
func (d *Doc) resume(list, last, count int) int {
	root := parent{levels: 1}
	var name openName
	for m := 1; root.last != list; m = int(d.nodes[m].next) {
		name, _ = d.name(int(d.nodes[m].nameFrom) - 1)
		d.names.push(d.body, name, 0)
		root.last = m
		root.count++
	}
	d.nodes[list].next = 0
	array := parent{self: list, levels: d.levelsBelow(name), last: last, count: count}
	d.open = 2
	end := d.elements(&array, int(d.nodes[last].to))
	if end == failed {
		return failed
	}
	d.nodes[list].kind, d.nodes[list].to = Array, int32(end)
	return d.close(Object, d.members(&root, end))
}
