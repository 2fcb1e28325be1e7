package account

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// longest is how many characters of a text of the log are shown.
const longest = 240

// plain makes a text of the log one line that cannot speak to a terminal or hide
// anything.
func plain(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > longest {
			b.WriteRune('…')
			break
		}
		if !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
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

// dollars writes money with commas: "$1,234.5678".
func dollars(m usage.Money) string {
	sign, s := "", m.String()
	if rest, minus := strings.CutPrefix(s, "-"); minus {
		sign, s = "-", rest
	}
	whole, cents, _ := strings.Cut(strings.TrimPrefix(s, "$"), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		panic("BUG: money is written as " + s)
	}
	return sign + "$" + grouped(n) + "." + cents
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
