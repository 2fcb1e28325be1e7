package jsonspan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// hex4 is the number that the four hexadecimal digits at i give.
func hex4(b []byte, i int) (r rune, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape is the character that the escape at the start of b, which is a valid
// one, stands for, and the escape's length: 12 for a surrogate pair. A lone
// surrogate gives U+FFFD and false.
func unescape(b []byte) (r rune, size int, ok bool) {
	switch b[1] {
	case 'b':
		return '\b', 2, true
	case 'f':
		return '\f', 2, true
	case 'n':
		return '\n', 2, true
	case 'r':
		return '\r', 2, true
	case 't':
		return '\t', 2, true
	case 'u':
		return unescapeHex(b)
	}
	return rune(b[1]), 2, true
}

func unescapeHex(b []byte) (r rune, size int, ok bool) {
	r, _ = hex4(b, 2)
	if !utf16.IsSurrogate(r) {
		return r, 6, true
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		low, _ := hex4(b, 8)
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12, true
		}
	}
	return utf8.RuneError, 6, false
}

// appendUnescaped appends what raw, the inside of a valid string, means. The
// result is never longer than raw.
func appendUnescaped(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		r, n, _ := unescape(raw[i:])
		dst = utf8.AppendRune(append(dst, raw[:i]...), r)
		raw = raw[i+n:]
	}
}

// means reports whether raw, the inside of a valid string, means s.
func means(raw []byte, s string) bool {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return string(raw) == s
		}
		if len(s) < i || string(raw[:i]) != s[:i] {
			return false
		}
		r, n, _ := unescape(raw[i:])
		got, size := utf8.DecodeRuneInString(s[i:])
		if got != r || got == utf8.RuneError && size != len("\ufffd") {
			return false
		}
		raw, s = raw[i+n:], s[i+size:]
	}
}

// loneSurrogate reports whether raw, the inside of a valid string, has an
// escape that is half of a surrogate pair.
func loneSurrogate(raw []byte) bool {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return false
		}
		_, n, ok := unescape(raw[i:])
		if !ok {
			return true
		}
		raw = raw[i+n:]
	}
}

// AppendQuoted appends s as a JSON string. Only ", \ and control characters are
// escaped; <, >, & and non-ASCII text stand as they are. A byte that is no UTF-8
// becomes \ufffd.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r >= utf8.RuneSelf && (r != utf8.RuneError || n > 1) {
			i += n
			continue
		}
		dst = appendEscape(append(dst, s[done:i]...), r)
		i += n
		done = i
	}
	return append(append(dst, s[done:]...), '"')
}

// appendEscape appends the shortest escape of r, which is below U+10000.
func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
