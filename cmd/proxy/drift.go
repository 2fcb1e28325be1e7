package main

import (
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// maxDrift is how many lines a difference shows.
const maxDrift = 40

// drift shows in lines how the opening messages b differ from a: what is common
// at both ends is left out, then a's lines with -, b's with +. It is nil if they
// are equal.
func drift(a, b []logsink.Message) []string {
	old, now := linesOf(a), linesOf(b)
	head := 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	old, now = old[head:], now[head:]
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	var out []string
	for _, l := range old {
		out = append(out, "- "+l)
	}
	for _, l := range now {
		out = append(out, "+ "+l)
	}
	if len(out) > maxDrift {
		more := len(out) - maxDrift
		out = append(out[:maxDrift], "… and "+legible.Plural(more, "line")+" more")
	}
	return out
}

// linesOf writes messages as lines, each message under a line with its role.
func linesOf(ms []logsink.Message) []string {
	var lines []string
	for _, m := range ms {
		lines = append(lines, "["+m.Role+"]")
		lines = append(lines, strings.Split(legible.Visible(m.Text), "\n")...)
	}
	return lines
}
