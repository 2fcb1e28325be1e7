package account

import (
	"fmt"
	"strconv"

	"github.com/seed-9236c7ca/preface/internal/legible"
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
			return legible.OneLine(s[:i]) + "…"
		}
	}
	return legible.OneLine(s)
}

// or is plain s, or a word for no text.
func or(s, none string) string {
	if s == "" {
		return none
	}
	return plain(s)
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
	return fmt.Sprintf("%s$%s.%02d", sign, legible.Grouped(int64(cents/100)), cents%100)
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
	return legible.Grouped(c.Tokens)
}
