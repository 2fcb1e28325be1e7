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

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// size shows a number of bytes of text and about how many tokens they are: a
// guard, not a count, which only a provider can give.
func size(n int) string { return fmt.Sprintf("%d bytes, ~%d tokens", n, (n+3)/4) }

// printJSON writes v on one line.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
