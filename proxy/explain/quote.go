package explain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxQuoted is how many characters of a client's text a detail quotes.
const maxQuoted = 40

// printable is a client's text, cut to a length that a line has room for, and
// without anything that a terminal would act on.
func printable(s string) string {
	if len(s) <= maxQuoted && plainASCII(s) {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxQuoted {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return printable(s)
}

// glimpse is the beginning of a token that looks like one of its kind, with the
// name that stands before it: enough to find it, too little to use it.
func glimpse(s string) string {
	const most = 6
	at := len(s) - len(value(s))
	if len(s)-at <= most {
		return printable(s)
	}
	return printable(s[:at] + s[at:at+most] + "…")
}
