// Package legible makes what stands in a log fit for people's eyes: on terminals,
// in pages and in reports.
//
// # Invariants
//
//  1. A text that passed Visible or OneLine cannot move a cursor, hide anything or
//     turn the direction of what stands beside it. It is not escaped for a page.
package legible

import (
	"strconv"
	"strings"
	"unicode"
)

// Visible replaces what could move a cursor, hide text or turn its direction, save
// line ends and tabs.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// OneLine is Visible for a text that must not leave its line: of white space only
// the plain blank stays.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Short is the beginning of a long hash, with the name of its kind if it has one:
// "sha256:0123456789ab…".
func Short(hash string) string {
	const digits = 12
	if i := strings.IndexByte(hash, ':') + 1 + digits; len(hash) > i {
		return hash[:i] + "…"
	}
	return hash
}

// Grouped writes a whole number with commas: 1,234,567.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is "1 message" or "2,345 messages".
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(int64(n)) + " " + noun + "s"
}
