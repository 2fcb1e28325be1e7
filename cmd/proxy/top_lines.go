package main

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/proxy/admin"
)

// topLines writes an overview for a terminal of a width. Whatever a client or a
// provider chose in it is made visible, so that it cannot speak to the terminal.
func topLines(s *admin.Summary, width int) []string {
	state := "ready"
	if !s.Ready {
		state = "draining"
	}
	lines := []string{
		fmt.Sprintf("preface %s  %s  %s  %d active of %d sessions  %s", legible.OneLine(s.Version), stamp(s.Now), state, s.Active, s.Known, legible.Plural(s.Alarms, "alarm")), "",
	}
	lines = append(lines, topSums(s, width)...)
	lines = append(lines, topCauses(&s.Day, width)...)
	return append(lines, topSessions(s, width)...)
}

// A topTable lays out cells: the first to the left, the others to the right in
// columns of these widths. A cell that has no room is left out with all behind
// it, since part of a number is another number.
type topTable struct {
	width   int // of the terminal
	name    int
	columns []int
}

// newTopTable narrows the column of names for the first of the others to fit.
func newTopTable(width, name int, columns ...int) topTable {
	return topTable{width, max(1, min(name, width-columns[0])), columns}
}

func (t topTable) line(name string, cells ...string) string {
	line, used := padTo(name, t.name), t.name
	for i, c := range cells {
		if used += t.columns[i]; used > t.width {
			break
		}
		line += fmt.Sprintf("%*s", t.columns[i], c)
	}
	return line
}

func topSums(s *admin.Summary, width int) []string {
	t := newTopTable(width, 30, 15, 15, 20)
	lines := []string{t.line("", "last hour", "last day", "since "+s.Past.From.UTC().Format("01-02 15:04"))}
	row := func(name string, show func(*admin.Group) string) {
		lines = append(lines, t.line(name, show(&s.Hour), show(&s.Day), show(&s.Total)))
	}
	priced := func(of func(*admin.Group) int64) func(*admin.Group) string {
		return func(g *admin.Group) string { return topPriced(g.Priced, of(g)) }
	}
	row("requests", func(g *admin.Group) string { return fmt.Sprint(g.Requests) })
	row("  failed", func(g *admin.Group) string { return fmt.Sprint(g.Failed) })
	row("  without a price", func(g *admin.Group) string { return fmt.Sprint(g.Unpriced) })
	row("hit rate of input tokens", func(g *admin.Group) string { return topShare(g.Rates.OfInputTokens) })
	row("hit rate of requests", func(g *admin.Group) string { return topShare(g.Rates.OfRequests) })
	row("saved of cost", func(g *admin.Group) string { return topShare(g.Rates.OfCost) })
	row("paid", priced(func(g *admin.Group) int64 { return g.Paid }))
	row("  for the prefix, estimated", priced(func(g *admin.Group) int64 { return g.Prefix }))
	row("had nothing been cached", priced(func(g *admin.Group) int64 { return g.Uncached }))
	row("saved", priced(func(g *admin.Group) int64 { return g.Saved }))
	row("lost to misses", priced(func(g *admin.Group) int64 { return g.Lost }))
	row("  avoidable", priced(func(g *admin.Group) int64 { return g.Wasted }))
	return lines
}

func topCauses(g *admin.Group, width int) []string {
	if len(g.Causes) == 0 {
		return nil
	}
	t := newTopTable(width, 30, 15, 15, 20)
	lines := []string{"", t.line("causes of misses, last day", "requests", "tokens", "lost")}
	for _, c := range g.Causes[:min(len(g.Causes), 8)] {
		lines = append(lines, t.line(topCause(c.Name), fmt.Sprint(c.Requests), fmt.Sprint(c.Missed), topPriced(g.Priced, c.Lost)))
	}
	return lines
}

func topCause(name string) string { return legible.OneLine(strings.ReplaceAll(name, "_", " ")) }

// topSessions lists the sessions used last, their names in the room that is left.
func topSessions(s *admin.Summary, width int) []string {
	if len(s.Recent) == 0 {
		return nil
	}
	const cause = 20
	t := newTopTable(width, max(16, min(60, width-47-cause)), 7, 9, 9, 11, 11, cause)
	lines := []string{"", t.line("sessions now", "last", "requests", "hit rate", "paid", "saved", "last cause")}
	for i := range s.Recent {
		r := &s.Recent[i]
		lines = append(lines, t.line(shown(r.Session), topAgo(s.Now.Sub(r.Last)), fmt.Sprint(r.Requests),
			topShare(r.HitRate()), topPriced(r.Priced, r.Paid), topPriced(r.Priced, r.Saved()), clipTo(topCause(r.Cause), cause-1)))
	}
	return lines
}

func topShare(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", *share*100)
}

// topPriced shows what n requests with a price amount to: nothing can be told of none.
func topPriced(n, p int64) string {
	if n == 0 {
		return "-"
	}
	return topMoney(p)
}

// topMoney shows picodollars.
func topMoney(p int64) string {
	sign, d := "", math.Abs(float64(p))/1e12
	if p < 0 {
		sign = "-"
	}
	if d == 0 || d >= 1 {
		return fmt.Sprintf("%s$%.2f", sign, d)
	}
	return fmt.Sprintf("%s$%.4f", sign, d)
}

func topAgo(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// clipTo cuts a line that is wider than the terminal.
func clipTo(line string, width int) string {
	w := 0
	for i, r := range line {
		if w += runeWidth(r); w > width {
			return line[:i]
		}
	}
	return line
}

// padTo makes a text as wide as a column, cut with … if it is wider.
func padTo(text string, width int) string {
	if cut := clipTo(text, width); cut != text {
		text = clipTo(text, width-1) + "…"
	}
	w := 0
	for _, r := range text {
		w += runeWidth(r)
	}
	return text + strings.Repeat(" ", max(0, width-w))
}

// runeWidth is how many columns a character takes, near enough: letters of East
// Asia and pictures take two, marks on others none.
func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r >= 0x1f300 && r < 0x1fb00, r >= 0xff01 && r <= 0xff60:
		return 2
	case r == utf8.RuneError:
		return 1
	}
	return 1
}
