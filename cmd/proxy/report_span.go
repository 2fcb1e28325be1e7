package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// span reads -since and -until.
func span(fs *flagSet, since, until string, now time.Time) (from, to time.Time, err error) {
	to = now.UTC().Truncate(time.Second)
	if until != "" {
		var wholeDay, ok bool
		if to, wholeDay, ok = when(until, now.UTC().Truncate(time.Second)); !ok {
			return from, to, fs.misused("cannot read -until %q: want %s", until, whenForms)
		}
		if wholeDay {
			to = to.AddDate(0, 0, 1)
		}
	}
	from, _, ok := when(since, to)
	if !ok {
		return from, to, fs.misused("cannot read -since %q: want %s", since, whenForms)
	}
	if !from.Before(to) {
		return from, to, fs.misused("-since %s is not before -until %s, which is %s", since, cmp.Or(until, "now"), to.Format(time.RFC3339))
	}
	return from, to, nil
}

const whenForms = "a time span such as 7d, 24h or 90m, a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00Z"

// when reads a point in time: so long before another, the beginning of a day, or
// a time of day.
func when(s string, end time.Time) (t time.Time, wholeDay, ok bool) {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, true, true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), false, true
	}
	d, ok := ago(s)
	return end.Add(-d), false, ok
}

// ago reads a span of time: weeks, days, or what Go has units for.
func ago(s string) (time.Duration, bool) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if n, found := strings.CutSuffix(s, unit); found {
			count, err := strconv.ParseUint(n, 10, 16)
			return time.Duration(count) * length, err == nil && count > 0 && count <= longestSpan/uint64(length)
		}
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d > 0
}

// longestSpan is what a duration holds, about: 273 years.
const longestSpan = 100_000 * uint64(24*time.Hour)

// explainCommand is what shows more of a session, as it can be pasted.
func (f *reportFlags) explainCommand(k logsink.Key) string {
	words := []string{"proxy explain"}
	if f.config != "" {
		words = append(words, "-config", quoted(f.config))
	}
	if f.log != "" {
		words = append(words, "-log", quoted(f.log))
	}
	words = append(words, "-tenant", quoted(k.Tenant[:min(len(k.Tenant), 12)]))
	if strings.HasPrefix(k.Session, "-") {
		words = append(words, "--")
	}
	return asCalled(strings.Join(append(words, quoted(k.Session)), " "))
}

// quoted writes a word for a shell: as it is if it is a plain one, else so that
// nothing but letters, digits and a few signs stands in it.
func quoted(word string) string {
	plain := func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_./:@%+,=", c) >= 0
	}
	var b strings.Builder
	spaced, odd := word == "", false
	for i := range len(word) {
		if c := word[i]; plain(c) || c == ' ' {
			spaced = spaced || c == ' '
			b.WriteByte(c)
		} else {
			odd = true
			b.WriteString(`\x` + strconv.FormatUint(uint64(c)|0x100, 16)[1:])
		}
	}
	switch {
	case odd:
		return "$'" + b.String() + "'"
	case spaced:
		return "'" + word + "'"
	}
	return word
}
