package account

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// longest is how many characters of a text of the log are shown.
const longest = 240

// plain makes a text of the log one line that cannot speak to a terminal or hide
// anything, and cuts it if it is too long to be read.
func plain(s string) string {
	n := 0
	for i := range s {
		if n++; n > longest {
			return visible(s[:i]) + "…"
		}
	}
	return visible(s)
}

// visible replaces what could move a cursor, end a line or hide text.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// or is plain s, or a word for no text.
func or(s, none string) string {
	if s == "" {
		return none
	}
	return plain(s)
}

// short is the beginning of a long hash.
func short(hash string) string {
	const digits = 12
	if i := strings.IndexByte(hash, ':') + 1 + digits; len(hash) > i {
		return hash[:i] + "…"
	}
	return hash
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// toTheCent is from which amount on cents are shown and nothing below them.
const toTheCent = 10_000_000_000_000

// dollars writes money with commas: "$1,234.57", "$0.1234".
func dollars(m usage.Money) string {
	sign, size := "", uint64(m)
	if m < 0 {
		sign, size = "-", -size
	}
	if size < toTheCent {
		return m.String()
	}
	const perCent = 10_000_000_000
	cents := (size + perCent/2) / perCent
	return fmt.Sprintf("%s$%s.%02d", sign, grouped(int64(cents/100)), cents%100)
}

// percent writes a share, or that there is none.
func percent(f *float64) string {
	if f == nil {
		return none
	}
	return strconv.FormatFloat(*f*100, 'f', 1, 64) + "%"
}

// none stands where there is nothing to tell.
const none = "–"

// notReported stands where no answer reported what is asked for.
const notReported = "not reported"

func (c Class) String() string {
	if c.Answers == 0 {
		return notReported
	}
	return grouped(c.Tokens)
}

// plural is "1 request" or "2 requests".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}
