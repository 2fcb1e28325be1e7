package jsonspan

import "unicode/utf8"

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

// unexpected refuses the byte at i, or the end of the document.
func (d *Doc) unexpected(i int) int {
	if i < len(d.body) && d.body[i] >= utf8.RuneSelf {
		if r, n := utf8.DecodeRune(d.body[i:]); r == utf8.RuneError && n == 1 {
			return d.fail(InvalidUTF8, i)
		}
	}
	return d.fail(Syntax, i)
}

// value scans the value at i. Its node is self; levels below it are indexed.
func (d *Doc) value(i, self, levels int) int {
	kind, to := Null, 0
	switch c := d.peek(i); c {
	case '{':
		kind, to = Object, d.object(i, self, levels)
	case '[':
		kind, to = Array, d.array(i, self, levels)
	case '"':
		kind, to = String, d.str(i)
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
		n.to, n.kind = int32(to), kind
	}
	return to
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
