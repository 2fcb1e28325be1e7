package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// shown makes a text that a client chose fit for a terminal: as it is if it is
// one plain word, else quoted, with everything escaped that could move a cursor.
func shown(s string) string {
	odd := func(r rune) bool {
		return !unicode.IsGraphic(r) || r == ' ' || r == '"' || r == unicode.ReplacementChar
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// visible replaces what could move a cursor or hide text, save line ends and
// tabs.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// short shows the beginning of a long hash.
func short(hash string) string {
	const digits = 12
	name, hex, ok := strings.Cut(hash, ":")
	if !ok {
		name, hex = "", hash
	} else {
		name += ":"
	}
	if len(hex) > digits {
		hex = hex[:digits] + "…"
	}
	return name + hex
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// size shows a number of bytes of text and about how many tokens they are: a
// guard, not a count, which only a provider can give.
func size(n int) string { return fmt.Sprintf("%d bytes, ~%d tokens", n, (n+3)/4) }

// plural is "1 message" or "2 messages".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// printJSON writes v on one line.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
