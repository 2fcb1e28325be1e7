package jsonspan

// A parent is an object or array whose children are being scanned.
type parent struct {
	self   int     // its node, or noNode
	levels int     // how many levels below it are indexed
	last   int     // the node of its latest child, if children are indexed
	count  int     // children so far
	names  nameTop // the open names before its own
}

// object scans the object at i. Its node is self; levels below it are indexed.
func (d *Doc) object(i, self, levels int) int {
	p := parent{self: self, levels: levels, names: d.names.top()}
	if i = d.enter(i); i == failed {
		return failed
	}
	for more := d.peek(i) != '}'; more; {
		if i = d.member(&p, i); i == failed {
			return failed
		}
		if more = d.peek(i) == ','; more {
			i = d.space(i + 1)
		}
	}
	d.names.drop(p.names)
	return d.leave(&p, i, '}')
}

// array scans the array at i. Its node is self; levels below it are indexed.
func (d *Doc) array(i, self, levels int) int {
	p := parent{self: self, levels: levels}
	if i = d.enter(i); i == failed {
		return failed
	}
	for more := d.peek(i) != ']'; more; {
		if p.count == MaxElements && levels > 0 {
			return d.fail(TooLarge, i)
		}
		if i = d.child(&p, i, levels-1); i == failed {
			return failed
		}
		if more = d.peek(i) == ','; more {
			i = d.space(i + 1)
		}
	}
	return d.leave(&p, i, ']')
}

// enter passes the byte at i, which opens an object or array.
func (d *Doc) enter(i int) int {
	if d.open++; d.open > MaxDepth {
		return d.fail(TooDeep, i)
	}
	return d.space(i + 1)
}

// leave passes the byte at i, which is to close the object or array.
func (d *Doc) leave(p *parent, i int, closing byte) int {
	if d.peek(i) != closing {
		return d.unexpected(i)
	}
	d.open--
	if p.self != noNode {
		n := &d.nodes[p.self]
		n.children, n.indexed = int32(p.count), p.levels > 0
	}
	return i + 1
}

// member scans the member at i and the white space behind it.
func (d *Doc) member(p *parent, i int) int {
	if d.peek(i) != '"' {
		return d.unexpected(i)
	}
	end := d.str(i)
	if end == failed {
		return failed
	}
	from, size := i+1, end-i-2
	escaped, reason := d.names.push(d.body, from, size, p.names)
	if reason != "" {
		return d.fail(reason, i)
	}
	if i = d.space(end); d.peek(i) != ':' {
		return d.unexpected(i)
	}
	levels := p.levels - 1
	if p.self == 0 {
		levels = d.levelsBelow()
	}
	i = d.child(p, d.space(i+1), levels)
	if p.levels > 0 && i != failed {
		n := &d.nodes[p.last]
		n.nameFrom, n.nameLen, n.nameEscaped = int32(from), int32(size), escaped
	}
	return i
}

// levelsBelow asks for the depth of the top-level member just named.
func (d *Doc) levelsBelow() int {
	if d.depth == nil {
		return DefaultDepth
	}
	return d.depth(d.names.last(d.body))
}

// child scans the value at i and the white space behind it. If its parent's
// children are indexed, it gets a node, and levels below it are indexed.
func (d *Doc) child(p *parent, i, levels int) int {
	self := noNode
	if p.levels > 0 {
		self = len(d.nodes)
		if self == MaxValues {
			return d.fail(TooLarge, i)
		}
		if p.count > 0 {
			d.nodes[p.last].next = int32(self)
		}
		p.last = self
		d.addNode(i)
	}
	p.count++
	if i = d.value(i, self, levels); i == failed {
		return failed
	}
	return d.space(i)
}

func (d *Doc) addNode(i int) {
	n := len(d.nodes)
	if n == cap(d.nodes) {
		d.nodes = append(d.nodes, node{})
	}
	d.nodes = d.nodes[:n+1]
	d.nodes[n] = node{from: int32(i)}
}
