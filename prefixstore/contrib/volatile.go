package contrib

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Finding is a piece of text that looks as if it differed from one run to
// the next: in a prefix it would make each new session pay for all of it.
type Finding struct {
	Kind   string // date, time, timestamp, uuid, nonce or counter
	Offset int    // in bytes
	Text   string
}

// Volatile returns the findings in text, by offset. It is a linter and prefers
// to miss some: what stands still in most texts (versions, ports, years, colours,
// commit ids, checksums, what is part of a link or a file's name) is not
// reported, and neither are dates and timestamps more than about a year from
// now, which no clock wrote.
func Volatile(text string) []Finding { return volatileAt(text, time.Now()) }

func volatileAt(text string, now time.Time) []Finding {
	var all []Finding
	for _, r := range rules {
		all = append(all, r.find(text, now)...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(len(b.Text), len(a.Text)))
	})
	end := 0
	return slices.DeleteFunc(all, func(f Finding) bool {
		if f.Offset < end {
			return true
		}
		end = f.Offset + len(f.Text)
		return false
	})
}

// A rule finds one form. The first group of form is the finding, keep says
// whether it is one where it stands.
type rule struct {
	kind string
	form *regexp.Regexp
	keep func(p place) bool
}

// A place is a candidate with a bit of what surrounds it: enough to judge by,
// and little enough that a long line costs no more.
type place struct {
	before, text, after string
	now                 time.Time
}

const surroundings = 256

func (r rule) find(text string, now time.Time) []Finding {
	var found []Finding
	for _, at := range r.form.FindAllStringSubmatchIndex(text, -1) {
		lo, hi := at[2], at[3]
		p := place{text[max(0, lo-surroundings):lo], text[lo:hi], text[hi:min(len(text), hi+surroundings)], now}
		if !p.inURL() && r.keep(p) {
			found = append(found, Finding{r.kind, lo, p.text})
		}
	}
	return found
}

const (
	year  = `20\d\d`
	day   = `(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?`
	month = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?`
	wday  = `(?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?`
)

var rules = []rule{
	{"date", regexp.MustCompile(`\b(` + year + `([-/])(?:0[1-9]|1[0-2])([-/])(?:0[1-9]|[12]\d|3[01]))(?:T\d|\b)`), place.isDate},
	{"date", regexp.MustCompile(`\b((?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])/` + year + `)\b`), place.isDate},
	{"date", regexp.MustCompile(`\b((?:0[1-9]|[12]\d|3[01])\.(?:0[1-9]|1[0-2])\.` + year + `)\b`), place.isDate},
	{"date", regexp.MustCompile(`\b(` + month + ` ` + day + `,? ` + year + `)\b`), place.isDate},
	{"date", regexp.MustCompile(`\b(` + day + ` ` + month + `,? ` + year + `)\b`), place.isDate},
	{"date", regexp.MustCompile(`\b(` + wday + `,? +` + month + ` ` + day + `)\b`), place.isDate},
	{"time", regexp.MustCompile(`(?:\b|T)((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\b`), place.isTime},
	{"timestamp", regexp.MustCompile(`\b(\d{10}(?:\d{3})?(?:\.\d+)?)\b`), place.isTimestamp},
	{"uuid", regexp.MustCompile(`(?i)\b([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\b`), place.isRandom},
	{"nonce", regexp.MustCompile(`(?i)\b([0-9a-f]{32,})\b`), place.isNonce},
	{"nonce", regexp.MustCompile(`\b(01[0-9A-HJKMNP-TV-Z]{24})\b`), place.isRandom},
	{"nonce", regexp.MustCompile(`\b((?:req|msg|sess|session|run|trace|resp|chatcmpl)[_-][0-9A-Za-z]{12,})\b`), place.isID},
	{"counter", regexp.MustCompile(`(?i)\b((?:request|run|session|attempt|iteration|invocation|execution|build) ?(?:#|no\. ?|number )\d+)\b`), place.isCounter},
	{"counter", regexp.MustCompile(`(?i)\b((?:request|run|invocation) \d+)(?:[.,;)\]]?(?:\s|$))`), place.endsClause},
	{"counter", regexp.MustCompile(`(?i)\b((?:counter|(?:request|run|session|build|invocation)[_-](?:count|number|no|id|counter))\s?[:=]\s?\d+)\b`), always},
}

func always(place) bool { return true }

// isDate takes a date that stands for itself and not for a version, and that a
// clock can have written lately.
func (p place) isDate() bool {
	return !p.inName() && !versionBefore.MatchString(p.line()) && p.recentYear()
}

var (
	versionBefore = regexp.MustCompile(`(?i)version\W{0,4}$|^#+ .*\d+\.\d+`)
	anyYear       = regexp.MustCompile(`(?:19|20)\d\d`)
	nameAfter     = regexp.MustCompile(`^(?:[-/_]|\.\w)`)
	numbered      = regexp.MustCompile(`(?i)(?:merge|pull|feature|change)[ -]$`)
	checksum      = regexp.MustCompile(`(?i)sha|md5|digest|checksum|commit|@$`)
)

func (p place) recentYear() bool {
	y, err := strconv.Atoi(anyYear.FindString(p.text))
	if err != nil {
		return true // a date without a year is of this one
	}
	this := p.now.Year()
	return this-1 <= y && y <= this+1
}

// isTime passes over the bounds of a day, pieces of addresses, and the time of
// an old date.
func (p place) isTime() bool {
	before := p.before[max(0, len(p.before)-len("2026-11-30T ")):]
	after := p.after[:min(len(p.after), len(" CEST 2026"))]
	near := place{text: before + after, now: p.now}
	return near.recentYear() && p.text != "00:00:00" && p.text != "23:59:59" &&
		!endsIn(p.before, ":.-/") && !strings.HasPrefix(p.after, ":")
}

// isTimestamp takes seconds or milliseconds of the last year or the next.
func (p place) isTimestamp() bool {
	if endsIn(p.before, ".-+/@#$") || nameAfter.MatchString(p.after) {
		return false
	}
	whole, _, _ := strings.Cut(p.text, ".")
	var n int64
	for _, c := range whole[:10] {
		n = 10*n + int64(c-'0')
	}
	return time.Unix(n, 0).Sub(p.now).Abs() < 400*24*time.Hour
}

// isNonce passes over commit ids and checksums, which name what stands still.
func (p place) isNonce() bool {
	commit := len(p.text) == 40
	return !commit && !checksum.MatchString(p.line()) && p.isRandom()
}

func (p place) isID() bool {
	_, tail, _ := strings.Cut(strings.ReplaceAll(p.text, "-", "_"), "_")
	digits := strings.Count(strings.Map(onlyDigits, tail), "0")
	return digits >= 3 && digits < len(tail)
}

// isRandom tells a random number from an example like 1234 or 0000.
func (p place) isRandom() bool {
	distinct := map[rune]bool{}
	letter := false
	for _, c := range strings.ToLower(p.text) {
		distinct[c] = true
		letter = letter || 'a' <= c && c <= 'z'
	}
	return letter && len(distinct) >= 8
}

// isCounter passes over what people number.
func (p place) isCounter() bool { return !numbered.MatchString(p.before) }

// endsClause tells "run 17." from "run 3 tests".
func (p place) endsClause() bool {
	first := strings.TrimLeft(p.after, " \t")
	return first == "" || strings.ContainsRune(".,;)]\r\n", rune(first[0]))
}

// inName reports whether the text is a piece of a longer name: of a file, a
// path, a model.
func (p place) inName() bool { return endsIn(p.before, "-/.@") || nameAfter.MatchString(p.after) }

func (p place) inURL() bool {
	word := p.before[strings.LastIndexAny(p.before, " \t\r\n")+1:]
	return strings.Contains(word, "://")
}

// line returns what stands before the text on its line.
func (p place) line() string { return p.before[strings.LastIndexByte(p.before, '\n')+1:] }

func endsIn(s, chars string) bool {
	return s != "" && strings.IndexByte(chars, s[len(s)-1]) >= 0
}

func onlyDigits(r rune) rune {
	if '0' <= r && r <= '9' {
		return '0'
	}
	return -1
}
