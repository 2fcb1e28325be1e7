package jsonspan_test

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// plainString is what str does, byte by byte: where the string that opens at i
// ends, or where and why it is refused.
func plainString(b []byte, i int) (end int, reason string) {
	for i++; i < len(b); {
		c := b[i]
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case c == '"':
			return i + 1, ""
		case c == '\\':
			if n = plainEscape(b[i+1:]); n == 0 {
				return unexpected(b, i+1)
			}
			n++
		case c < ' ':
			return i, jsonspan.Syntax
		case r == utf8.RuneError && n == 1:
			return i, jsonspan.InvalidUTF8
		}
		i += n
	}
	return len(b), jsonspan.Syntax
}

// plainEscape is the length of the escape that b goes on with after a backslash.
func plainEscape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		for i := 1; i <= 4; i++ {
			if i == len(b) || !('0' <= b[i] && b[i] <= '9' || 'a' <= b[i]|0x20 && b[i]|0x20 <= 'f') {
				return 0
			}
		}
		return 5
	}
	return 0
}

func unexpected(b []byte, i int) (int, string) {
	if r, n := utf8.DecodeRune(b[min(i, len(b)):]); r == utf8.RuneError && n == 1 {
		return i, jsonspan.InvalidUTF8
	}
	return i, jsonspan.Syntax
}

// checkString scans an object with a string of the given inside, first as a value
// and then as a name, and compares both with plainString.
func checkString(t *testing.T, d *jsonspan.Doc, inside []byte) {
	t.Helper()
	for _, around := range [][2]string{{`{"a":"`, `"}`}, {`{"`, `":0}`}} {
		body := append(append([]byte(around[0]), inside...), around[1]...)
		opens := len(around[0]) - 1
		end, reason := plainString(body, opens)
		if reason == "" && end != len(body)-len(around[1])+1 {
			continue // the string ended early: what follows is another matter
		}
		err := d.Scan(body, nil)
		if reason == "" && err != nil && opens == 1 && err.(*jsonspan.Error).Reason == jsonspan.InvalidUTF8 {
			continue // a lone surrogate in a name, which only names may not have
		}
		if reason == "" && err != nil || reason != "" && (err == nil || *err.(*jsonspan.Error) != jsonspan.Error{Reason: reason, Offset: end}) {
			t.Fatalf("Scan(%q) = %v, want %q at byte %d", body, err, reason, end)
		}
		if v := d.Root().First(); reason == "" && v.Span().To != end && v.NameSpan().To != end {
			t.Fatalf("Scan(%q) ends the string at %d or %d, want %d", body, v.NameSpan().To, v.Span().To, end)
		}
	}
}

// eachWay runs a test by words and by blocks, if this processor has those.
func eachWay(t *testing.T, test func(t *testing.T, d *jsonspan.Doc)) {
	t.Run("words", func(t *testing.T) {
		defer jsonspan.Portable()()
		test(t, new(jsonspan.Doc))
	})
	t.Run("blocks", func(t *testing.T) {
		if !jsonspan.Wide() {
			t.Skip("this processor has no blocks")
		}
		test(t, new(jsonspan.Doc))
	})
}

// Every pair of bytes, at the start and in the middle of a word and a block, and
// over their ends.
func TestInvariant1_EveryPairOfBytesInStrings(t *testing.T) {
	eachWay(t, func(t *testing.T, d *jsonspan.Doc) {
		for _, place := range []int{0, 7, 31, 62, 63} {
			inside := []byte(strings.Repeat("abcdefgh-abcdef ", (place+16)/16+place/31*4))
			for pair := range 1 << 16 {
				inside[place], inside[place+1] = byte(pair>>8), byte(pair)
				checkString(t, d, inside)
			}
		}
	})
}

// Every byte in the place of each digit of an escape.
func TestInvariant1_EveryDigitOfEscapes(t *testing.T) {
	eachWay(t, func(t *testing.T, d *jsonspan.Doc) {
		for place := range 4 {
			for c := range 1 << 8 {
				inside := []byte(strings.Repeat(`\u0a9f`, 22))
				inside[2+place] = byte(c)
				checkString(t, d, inside)
			}
		}
	})
}

// Every four bytes of those at which UTF-8 or escapes turn from right to wrong.
func TestInvariant1_EveryBoundaryOfUTF8(t *testing.T) {
	edges := []byte("\"\\u0\x1f \x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xec\xed\xef\xf0\xf3\xf4\xf5")
	eachWay(t, func(t *testing.T, d *jsonspan.Doc) {
		for i := range len(edges) * len(edges) * len(edges) * len(edges) {
			from := i % 64 // the block's end is everywhere among them in the course of it
			inside := bytes.Repeat([]byte("a"), 132)
			for k := range 4 {
				inside[from+k] = edges[i%len(edges)]
				i /= len(edges)
			}
			checkString(t, d, inside[from:from+4])
			checkString(t, d, inside)
		}
	})
}

// Long mixes of what a scan treats in different ways.
func TestInvariant1_RandomStrings(t *testing.T) {
	parts := []string{`\n`, `\t`, `\"`, `\\`, `\\\\`, `\/`, `\r`, `\u00e9`, `\uD83D\uDE00`, `\ud83d`, "é", "中", "😀", "a", " ", "n", "t", "word",
		"the quick brown fox", "\x7f", `\u00g0`, `\x`, "\x01", "\xff", "\xe4\xb8", `\`}
	eachWay(t, func(t *testing.T, d *jsonspan.Doc) {
		rnd := rand.New(rand.NewSource(1))
		for range 20_000 {
			var inside []byte
			good := len(parts) - 7
			wrong := rnd.Intn(4) // how many
			for range rnd.Intn(80) {
				inside = append(inside, parts[rnd.Intn(good)]...)
			}
			for range wrong {
				at := rnd.Intn(len(inside) + 1)
				inside = slices.Insert(inside, at, []byte(parts[good+rnd.Intn(7)])...)
			}
			checkString(t, d, inside)
		}
	})
}
