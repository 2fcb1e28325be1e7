package jsonspan

import "unicode/utf8"

// peek is the byte at i, or 0, which is no part of JSON, after the end.
func (d *Doc) peek(i int) byte {
	if i < len(d.body) {
		return d.body[i]
	}
	return 0
}

// next is the first byte from i on that is no white space, and where it stands;
// 0 at the end of the document.
func (d *Doc) next(i int) (c byte, at int) {
	if i < len(d.body) && d.body[i] > ' ' {
		return d.body[i], i
	}
	return d.skipSpace(i)
}

func (d *Doc) skipSpace(i int) (c byte, at int) {
	for ; i < len(d.body); i++ {
		switch c = d.body[i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c, i
		}
	}
	return 0, i
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

// value scans the value at i, which begins with c. Its node is self; levels
// below it are indexed.
func (d *Doc) value(c byte, i, self, levels int) (kind Kind, to int) {
	switch c {
	case '"':
		return String, d.str(i)
	case '{':
		return Object, d.object(i, self, levels)
	case '[':
		return Array, d.array(i, self, levels)
	case 't':
		return True, d.literal(i, "true")
	case 'f':
		return False, d.literal(i, "false")
	case 'n':
		return Null, d.literal(i, "null")
	}
	return Number, d.number(i)
}

// literal scans the word at i, of which the first byte has been seen.
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

// digits scans as many digits as there are at i, maybe none.
func (d *Doc) digits(i int) int {
	for c := d.peek(i); '0' <= c && c <= '9'; c = d.peek(i) {
		i++
	}
	return i
}
