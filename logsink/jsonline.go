package logsink

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"
)

// The functions here write JSON without reflection: a request and a response
// record are written for every request that passes, and encoding/json took five
// times as long for them (BenchmarkAppendJSON). Names come with their
// punctuation, e.g. `,"id":`.

func appendStr(dst []byte, name, s string) []byte {
	return appendJSONString(append(dst, name...), s)
}

func appendOptStr(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return appendStr(dst, name, s)
}

func appendInt(dst []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(dst, name...), n, 10)
}

func appendOptInt(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return appendInt(dst, name, n)
}

func appendIntPtr(dst []byte, name string, n *int64) []byte {
	if n == nil {
		return dst
	}
	return appendInt(dst, name, *n)
}

func appendOptTrue(dst []byte, name string, b bool) []byte {
	if !b {
		return dst
	}
	return append(append(dst, name...), "true"...)
}

func appendDigest(dst []byte, name string, d Digest) []byte {
	dst = append(append(dst, name...), '"')
	if !d.IsZero() {
		dst = append(dst, digestPrefix...)
		dst = hex.AppendEncode(dst, d[:])
	}
	return append(dst, '"')
}

// appendTime writes t as encoding/json does. A time that JSON cannot hold (a
// year above 9999, an offset of a day) becomes the zero time: a record is worth
// more than its clock.
func appendTime(dst []byte, name string, t time.Time) []byte {
	_, offset := t.Zone()
	if offset%60 != 0 || offset >= 24*3600 || offset <= -24*3600 {
		t = t.UTC()
	}
	if y := t.Year(); y < 0 || y > 9999 {
		t = time.Time{}
	}
	dst = append(append(dst, name...), '"')
	dst = t.AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}

// plain holds the bytes that stand for themselves in a JSON string.
var plain = func() (p [256]bool) {
	for b := 0x20; b < utf8.RuneSelf; b++ {
		p[b] = b != '"' && b != '\\'
	}
	return p
}()

// appendJSONString writes s as a JSON string in the one form of RFC 8785:
// quotation mark, backslash and control characters are escaped, the latter as
// \b \t \n \f \r or \u00xx, and nothing else is. What is not UTF-8 becomes
// U+FFFD, one for each byte.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if allPlain(s) {
		dst = append(dst, s...)
	} else {
		dst = appendEscaped(dst, s)
	}
	return append(dst, '"')
}

// allPlain reports whether all bytes of s stand for themselves, as they do in
// nearly all strings of a record. It looks at eight at a time, the last of
// which may overlap those before: byte by byte took half the time of a record.
func allPlain(s string) bool {
	if len(s) < 8 {
		for i := range len(s) {
			if !plain[s[i]] {
				return false
			}
		}
		return true
	}
	b := []byte(s) // read only: no copy is made
	odd := oddBytes(binary.LittleEndian.Uint64(b[len(b)-8:]))
	for ; len(b) > 8; b = b[8:] {
		odd |= oddBytes(binary.LittleEndian.Uint64(b))
	}
	return odd&(0x80*everyByte) == 0
}

const everyByte = 0x0101010101010101

// oddBytes leaves all high bits 0 if the eight bytes of w stand for themselves.
// Otherwise some is set: that of a byte beyond ASCII, or one that a subtraction
// borrows because the byte is below 0x20, a quotation mark or a backslash (the
// exclusive or makes those two 0).
func oddBytes(w uint64) uint64 {
	return w | (w - ' '*everyByte) | ((w ^ '"'*everyByte) - everyByte) | ((w ^ '\\'*everyByte) - everyByte)
}

func appendEscaped(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if plain[b] {
			i++
			continue
		}
		if b < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[start:i]...), b)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(append(dst, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += n
	}
	return append(dst, s[start:]...)
}

func appendEscape(dst []byte, b byte) []byte {
	const hexDigits = "0123456789abcdef"
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
}
