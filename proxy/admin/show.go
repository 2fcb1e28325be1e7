package admin

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-9236c7ca/preface/internal/legible"
)

// longestShown is how many characters of a name a page shows.
const longestShown = 96

// shown is visible for a name, on one line and cut in its middle if it is long:
// the ends are what tells names apart.
func shown(name string) string {
	name = strings.NewReplacer("\n", "␊", "\t", "␉").Replace(legible.Visible(name))
	if name == "" {
		return "(empty)"
	}
	if n := utf8.RuneCountInString(name); n > longestShown {
		r := []rune(name)
		return string(r[:longestShown/2]) + "…" + string(r[n-longestShown/2:])
	}
	return name
}

// short shows the beginning of a hash.
func short(hash string) string {
	hash = strings.TrimPrefix(hash, "sha256:")
	if len(hash) > 12 {
		hash = hash[:12] + "…"
	}
	return shown(hash)
}

// usd shows picodollars with as many digits as tell something.
func usd(p int64) string {
	sign, d := "", math.Abs(float64(p))/1e12
	if p < 0 {
		sign = "−"
	}
	switch {
	case p == 0:
		return "$0"
	case d >= 1000:
		return sign + "$" + grouped(int64(math.Round(d)))
	case d >= 0.995:
		return fmt.Sprintf("%s$%.2f", sign, d)
	case d >= 0.0995:
		return fmt.Sprintf("%s$%.3f", sign, d)
	case d >= 0.000995:
		return fmt.Sprintf("%s$%.4f", sign, d)
	case d >= 0.000001:
		return sign + "$" + strings.TrimRight(fmt.Sprintf("%.6f", d), "0")
	}
	return sign + "<$0.000001"
}

// priced shows what n requests with a price amount to: nothing can be told of none.
func priced(n, p int64) string {
	if n == 0 {
		return "–"
	}
	return usd(p)
}

// grouped shows a whole number: 1,234,567.
func grouped(n int64) string { return strings.Replace(legible.Grouped(n), "-", "−", 1) }

// brief shows a number in four characters or so: 1234 as 1.2k.
func brief(n int64) string {
	f := math.Abs(float64(n))
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if f < u.size {
			continue
		}
		digits := 1
		if f >= 100*u.size {
			digits = 0
		}
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/u.size, 'f', digits, 64), ".0") + u.name
	}
	return strconv.FormatInt(n, 10)
}

// percent shows a share, and a dash for one that cannot be told.
func percent(share *float64) string {
	if share == nil {
		return "–"
	}
	return strings.Replace(fmt.Sprintf("%.1f%%", *share*100), "-", "−", 1)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// clock shows the time of today, and other days with their date.
func clock(t, now time.Time) string {
	if t.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
		return t.UTC().Format("15:04:05")
	}
	return t.UTC().Format("01-02 15:04")
}

// ago shows how long before now t was, roughly.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < 2*time.Second:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	default:
		return fmt.Sprintf("%dd ago", d/(24*time.Hour))
	}
}

// took shows a duration with three digits or so.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// phrase shows a word of the record as people write it: tools_changed is tools changed.
func phrase(word string) string { return shown(strings.ReplaceAll(word, "_", " ")) }
