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
	if d.open == MaxDepth {
		return d.fail(TooDeep, i)
	}
	d.open++
	p := parent{self: self, levels: levels, names: d.names.top()}
	c, i := d.next(i + 1)
	switch c {
	case '}':
		return d.leave(&p, i)
	case '"':
		return d.members(&p, d.member(&p, i))
	}
	return d.unexpected(i)
}

// members scans what is left of an object after the member that ends at to.
func (d *Doc) members(p *parent, to int) int {
	for to != failed {
		c, i := d.next(to)
		if c != ',' {
			if c != '}' {
				return d.unexpected(i)
			}
			d.names.drop(p.names)
			return d.leave(p, i)
		}
		if c, i = d.next(i + 1); c != '"' {
			return d.unexpected(i)
		}
		to = d.member(p, i)
	}
	return failed
}

// array scans the array at i. Its node is self; levels below it are indexed.
func (d *Doc) array(i, self, levels int) int {
	if d.open == MaxDepth {
		return d.fail(TooDeep, i)
	}
	d.open++
	p := parent{self: self, levels: levels}
	c, i := d.next(i + 1)
	if c == ']' {
		return d.leave(&p, i)
	}
	return d.elements(&p, d.child(&p, c, i, levels-1))
}

// elements scans what is left of an array after the element that ends at to.
func (d *Doc) elements(p *parent, to int) int {
	for to != failed {
		c, i := d.next(to)
		if c != ',' {
			if c != ']' {
				return d.unexpected(i)
			}
			return d.leave(p, i)
		}
		c, i = d.next(i + 1)
		if p.count == MaxElements && p.levels > 0 {
			return d.fail(TooLarge, i)
		}
		to = d.child(p, c, i, p.levels-1)
	}
	return failed
}

// leave passes the byte at i, which closes the object or array.
func (d *Doc) leave(p *parent, i int) int {
	d.open--
	if p.self != noNode {
		n := &d.nodes[p.self]
		n.children, n.indexed = int32(p.count), p.levels > 0
	}
	return i + 1
}

// member scans the member whose name begins at i.
func (d *Doc) member(p *parent, i int) int {
	name, end := d.name(i)
	if end == failed {
		return failed
	}
	if d.names.push(d.body, name, p.names.open) {
		return d.fail(DuplicateName, i)
	}
	c, from := d.next(end)
	if c != ':' {
		return d.unexpected(from)
	}
	levels := p.levels - 1
	if p.self == 0 {
		levels = d.levelsBelow(name)
	}
	c, from = d.next(from + 1)
	to := d.child(p, c, from, levels)
	if p.levels > 0 && to != failed {
		n := &d.nodes[p.last]
		n.nameFrom, n.nameLen, n.nameEscaped = int32(i+1), int32(end-i-2), name.from < 0
	}
	return to
}

// levelsBelow asks for the depth of the top-level member just named.
func (d *Doc) levelsBelow(name openName) int {
	if d.depth == nil {
		return DefaultDepth
	}
	return d.depth(d.names.meaning(d.body, name))
}

// child scans the value at i, which begins with c. If its parent's children are
// indexed, it gets a node, and levels below it are indexed.
func (d *Doc) child(p *parent, c byte, i, levels int) int {
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
	kind, to := d.value(c, i, self, levels)
	if self != noNode && to != failed {
		n := &d.nodes[self]
		n.kind, n.to = kind, int32(to)
	}
	return to
}

// addNode appends the node of the value at i. It is no append of a node, which
// would build it elsewhere and copy it.
func (d *Doc) addNode(i int) {
	n := len(d.nodes)
	if n == cap(d.nodes) {
		d.nodes = append(d.nodes, node{})
	}
	d.nodes = d.nodes[:n+1]
	d.nodes[n] = node{from: int32(i)}
}
