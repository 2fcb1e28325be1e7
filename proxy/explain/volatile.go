package explain

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
)

// A shape is how a token looks that is another in each request. Where several
// fit, the first one is named.
type shape struct {
	kind string
	re   *regexp.Regexp
}

const (
	months = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}`
	days   = `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:day|sday|nesday|rsday|urday)?`
)

var shapes = []shape{
	{"UUID", regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)},
	{"date", regexp.MustCompile(`\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}`)},
	{"date", regexp.MustCompile(`(?:` + days + `,? )?` + months + ` \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|\d{1,2}\.? ` + months + `(?:,? \d{4})?`)},
	{"date", regexp.MustCompile(`\b` + days + `\b`)},
	{"time", regexp.MustCompile(`\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp]\.?[Mm]\b)?`)},
	{"time", regexp.MustCompile(`\b[12]\d{9}(?:\d{3}){0,3}\b`)}, // seconds, or finer, since 1970
}

// around is how far from a difference a token is looked for, in bytes.
const around = 48

// volatile names what kind of token a difference at byte d stands in, and the
// token in both texts. The kind is empty if it is none that changes by itself.
func volatile(a, b []byte, d int) (kind, was, is string) {
	wa, da := window(a, d)
	wb, db := window(b, d)
	for _, s := range shapes {
		was, is = covering(s.re, wa, da), covering(s.re, wb, db)
		if was != "" && is != "" && was != is {
			return s.kind, was, is
		}
	}
	if was, is = word(wa, da), word(wb, db); was == is { // the difference is behind the word
		return "", "", ""
	}
	return bareKind(was, is), was, is
}

// window is the text around byte d, and where d is in it.
func window(b []byte, d int) (string, int) {
	from := max(0, d-around)
	return string(b[min(from, len(b)):min(len(b), d+around)]), min(d, len(b)) - min(from, len(b))
}

// covering is the match that byte d is in, or right behind.
func covering(re *regexp.Regexp, s string, d int) string {
	for _, m := range re.FindAllStringIndex(s, -1) {
		if m[0] <= d && d <= m[1] {
			return s[m[0]:m[1]]
		}
	}
	return ""
}

// word is the word that byte d is in, with its name if one stands before it as
// in cch=36ee5.
func word(s string, d int) string {
	from, to := d, d
	for from > 0 && wordByte(s[from-1]) {
		from--
	}
	if from > 0 && from < len(s) && s[from-1] == '\\' { // the letter of an escape
		from++
	}
	for to < len(s) && wordByte(s[to]) {
		to++
	}
	return s[min(from, to):to]
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c == '=' || c == '+' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// bareKind tells counters and nonces by their look.
func bareKind(was, is string) string {
	a, b := value(was), value(is)
	switch {
	case a == "" || b == "":
		return ""
	case digits(a) && digits(b) && len(a) <= 9 && len(b) <= 9:
		return "counter"
	case random(a) && random(b):
		return "nonce"
	}
	return ""
}

// value is what follows the name in name=value.
func value(s string) string { return s[strings.LastIndexByte(s, '=')+1:] }

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// random reports whether a word looks like one that nobody wrote: digits and
// letters mixed, or many hexadecimal digits.
func random(s string) bool {
	if len(s) < 4 {
		return false
	}
	number := strings.ContainsAny(s, "0123456789")
	hex := strings.Trim(s, "0123456789abcdefABCDEF-_") == ""
	letters := strings.Trim(s, "0123456789-_") != ""
	return hex && (number || len(s) >= 8) || number && letters && len(s) >= 8
}

// sameMeaning reports whether two JSON values differ only in how they are written.
func sameMeaning(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
