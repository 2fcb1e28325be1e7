package jsonspan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

func unlike(x uint64, c byte) uint64 { return (x ^ uint64(c)*ones) + ^uint64(tops) }

// word is the word at i, filled up with NULs at the end of the document.
func word(b []byte, i int) uint64 {
	if i <= len(b)-8 {
		return binary.LittleEndian.Uint64(b[i:])
	}
	return lastWord(b, i)
}

//go:noinline
func lastWord(b []byte, i int) (x uint64) {
	for i, c := range b[i:] {
		x |= uint64(c) << (8 * i)
	}
	return x
}

// str scans the string whose opening quote is at i.
func (d *Doc) str(i int) int {
	b := d.body
	free := uint64(0x80)
	for i++; ; {
		x := word(b, i)
		quote, slash := unlike(x, '"'), unlike(x, '\\')
		free |= slash << 8
		strange := quote & unlike(x, 'n') & unlike(x, 't')
		closing := free &^ (quote | x)
		marks := (closing | strange&^free | (x - ' '*ones) | x) & tops
		if marks == 0 {
			free = slash >> 56
			i += 8
			continue
		}
		at := bits.TrailingZeros64(marks)
		i += at / 8
		if closing>>at&1 != 0 {
			return i + 1
		}
		if i = d.special(i, free>>at&1 == 0); i == failed {
			return failed
		}
		free = 0x80
	}
}

// name scans the name whose opening quote is at i.
func (d *Doc) name(i int) (n openName, end int) {
	b := d.body
	for at := i + 1; ; at += 8 {
		x := word(b, at)
		quote := unlike(x, '"')
		marks := (^(quote & unlike(x, '\\')) | (x - ' '*ones) | x) & tops
		if marks == 0 {
			continue
		}
		first := bits.TrailingZeros64(marks)
		if (quote|x)>>first&1 != 0 {
			return d.longName(i)
		}
		end := at + first/8
		return openName{head: head(b, i+1, end-i-1), from: int32(i + 1), size: int32(end - i - 1)}, end + 1
	}
}

//go:noinline
func (d *Doc) longName(i int) (n openName, end int) {
	if end = d.str(i); end == failed {
		return n, failed
	}
	raw := d.body[i+1 : end-1]
	if bytes.IndexByte(raw, '\\') < 0 { // beyond ASCII
		return openName{head: head(d.body, i+1, len(raw)), from: int32(i + 1), size: int32(len(raw))}, end
	}
	if loneSurrogate(raw) {
		return n, d.fail(InvalidUTF8, i)
	}
	return d.names.unescape(raw), end
}

func (d *Doc) special(i int, escaped bool) int {
	b := d.body
	if i >= len(b) {
		return d.fail(Syntax, len(b))
	}
	c := b[i]
	if escaped {
		n := int(escapes[c])
		if n == 0 || n == 6 && !hex(b, i+1) {
			return d.unexpected(i)
		}
		return i - 1 + n
	}
	if c < ' ' {
		return d.fail(Syntax, i)
	}
	if i = nonASCII(b, i); i < 0 {
		return d.fail(InvalidUTF8, ^i)
	}
	return i
}

// nonASCII is the offset after the characters beyond ASCII that begin at i, or
// ^j if there is none at j.
func nonASCII(b []byte, i int) int {
	for i < len(b) && b[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return ^i
		}
		i += n
	}
	return i
}

var escapes = [256]uint8{'"': 2, '\\': 2, '/': 2, 'b': 2, 'f': 2, 'n': 2, 'r': 2, 't': 2, 'u': 6}

func hex(b []byte, i int) bool {
	_, ok := hex4(b, i)
	return ok
}
