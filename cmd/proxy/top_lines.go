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
		fmt.Sprintf("preface %s  %s  %s  %d active of %d sessions  %s", legible.Visible(s.Version), stamp(s.Now), state, s.Active, s.Known, legible.Plural(s.Alarms, "alarm")), "",
		fmt.Sprintf("%-30s %14s %14s %14s", "", "last hour", "last day", "since "+s.Past.From.UTC().Format("01-02 15:04")),
	}
	groups := []*admin.Group{&s.Hour, &s.Day, &s.Total}
	row := func(name string, show func(*admin.Group) string) {
		line := fmt.Sprintf("%-30s", name)
		for _, g := range groups {
			line += fmt.Sprintf(" %14s", show(g))
		}
		lines = append(lines, line)
	}
	row("requests", func(g *admin.Group) string { return fmt.Sprint(g.Requests) })
	row("  failed", func(g *admin.Group) string { return fmt.Sprint(g.Failed) })
	row("hit rate of input tokens", func(g *admin.Group) string { return topShare(g.Rates.OfInputTokens) })
	row("hit rate of requests", func(g *admin.Group) string { return topShare(g.Rates.OfRequests) })
	row("saved of cost", func(g *admin.Group) string { return topShare(g.Rates.OfCost) })
	row("paid", func(g *admin.Group) string { return topMoney(g.Paid) })
	row("  for the prefix, estimated", func(g *admin.Group) string { return topMoney(g.Prefix) })
	row("had nothing been cached", func(g *admin.Group) string { return topMoney(g.Uncached) })
	row("saved", func(g *admin.Group) string { return topMoney(g.Saved) })
	row("lost to misses", func(g *admin.Group) string { return topMoney(g.Lost) })
	row("  avoidable", func(g *admin.Group) string { return topMoney(g.Wasted) })
	lines = append(lines, topCauses(&s.Day)...)
	return append(lines, topSessions(s, width)...)
}

func topCauses(g *admin.Group) []string {
	if len(g.Causes) == 0 {
		return nil
	}
	lines := []string{"", fmt.Sprintf("%-30s %14s %14s %14s", "causes of misses, last day", "requests", "tokens", "lost")}
	for _, c := range g.Causes[:min(len(g.Causes), 8)] {
		lines = append(lines, fmt.Sprintf("%-30s %14d %14d %14s", legible.Visible(strings.ReplaceAll(c.Name, "_", " ")), c.Requests, c.Missed, topMoney(c.Lost)))
	}
	return lines
}

// topSessions lists the sessions used last, their names in the room that is left.
func topSessions(s *admin.Summary, width int) []string {
	if len(s.Recent) == 0 {
		return nil
	}
	name := max(16, min(60, width-62))
	lines := []string{"", fmt.Sprintf("%-*s %6s %8s %8s %10s %10s  %s", name, "sessions now", "last", "requests", "hit rate", "paid", "saved", "last cause")}
	for i := range s.Recent {
		r := &s.Recent[i]
		lines = append(lines, fmt.Sprintf("%s %6s %8d %8s %10s %10s  %s", padTo(shown(r.Session), name), topAgo(s.Now.Sub(r.Last)),
			r.Requests, topShare(r.HitRate()), topMoney(r.Paid), topMoney(r.Saved()), legible.Visible(strings.ReplaceAll(r.Cause, "_", " "))))
	}
	return lines
}

func topShare(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", *share*100)
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
