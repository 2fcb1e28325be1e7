package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
)

// A Line is one of a difference: its sign is " ", "-", "+", or "…" where
// lines are left out.
type Line struct {
	Sign string `json:"sign"`
	Text string `json:"text"`
}

// Bounds of a difference.
const (
	diffCells   = 1 << 20 // of the table for what is between the common ends
	diffContext = 2       // equal lines around a change
	diffLines   = 200
	diffLong    = 400 // characters of a line
)

// diff shows how b differs from a, line by line; it is nil if they are equal.
func diff(a, b []string) []Line {
	head, tail := commonEnds(a, b)
	if head == len(a) && head == len(b) {
		return nil
	}
	lines := keep(nil, " ", a[:head])
	lines = append(lines, changed(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return condense(keep(lines, " ", a[len(a)-tail:]))
}

// commonEnds is how many elements a and b begin with alike, and how many of the
// others they end with alike.
func commonEnds[T comparable](a, b []T) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

func keep(lines []Line, sign string, texts []string) []Line {
	for _, t := range texts {
		lines = append(lines, Line{sign, t})
	}
	return lines
}

// changed finds the longest common subsequence, or calls all of it changed if
// that would take too long.
func changed(a, b []string) []Line {
	if len(a)*len(b) > diffCells || len(a) == 0 || len(b) == 0 {
		return keep(keep(nil, "-", a), "+", b)
	}
	w := len(b) + 1
	longest := make([]int32, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*w+j] = longest[(i+1)*w+j+1] + 1
			} else {
				longest[i*w+j] = max(longest[(i+1)*w+j], longest[i*w+j+1])
			}
		}
	}
	var lines []Line
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, Line{" ", a[i]})
			i, j = i+1, j+1
		case longest[(i+1)*w+j] >= longest[i*w+j+1]:
			lines = append(lines, Line{"-", a[i]})
			i++
		default:
			lines = append(lines, Line{"+", b[j]})
			j++
		}
	}
	return keep(keep(lines, "-", a[i:]), "+", b[j:])
}

// condense leaves out equal lines that are far from a change, and what is too much.
func condense(lines []Line) []Line {
	near := make([]bool, len(lines))
	for i := range lines {
		if lines[i].Sign != " " {
			for j := max(0, i-diffContext); j < min(len(lines), i+diffContext+1); j++ {
				near[j] = true
			}
		}
	}
	var out []Line
	skipped := 0
	for i, l := range lines {
		if !near[i] {
			skipped++
			continue
		}
		if len(out) >= diffLines {
			return append(out, Line{"…", legible.Plural(len(lines)-i, "line") + " more"})
		}
		if skipped > 0 {
			out = append(out, Line{"…", legible.Plural(skipped, "equal line")})
			skipped = 0
		}
		out = append(out, Line{l.Sign, cut(l.Text)})
	}
	return out
}

// cut shortens a line for showing.
func cut(line string) string {
	if len(line) <= diffLong {
		return line
	}
	return strings.ToValidUTF8(line[:diffLong], "") + fmt.Sprintf("… (%s bytes)", grouped(int64(len(line))))
}

// readable writes a part of a request for reading: JSON by its members, in their
// order, and texts with their line ends. What is no JSON is shown as it is.
func readable(part string, b []byte) []string {
	opened, closed := "[", "]"
	if part == "parameters" {
		opened, closed = "{", "}"
	}
	var w jsonWriter
	d := json.NewDecoder(bytes.NewReader([]byte(opened + string(b) + closed)))
	d.UseNumber()
	if _, err := d.Token(); err != nil || !json.Valid([]byte(opened+string(b)+closed)) {
		return strings.Split(legible.Visible(string(b)), "\n")
	}
	w.members(d, 0, part == "parameters")
	return w.lines
}

// A jsonWriter writes a valid document as lines.
type jsonWriter struct{ lines []string }

func (w *jsonWriter) members(d *json.Decoder, depth int, object bool) {
	for d.More() {
		label := ""
		if object {
			t, err := d.Token()
			if err != nil {
				return
			}
			label = shown(fmt.Sprint(t)) + ": "
		}
		w.value(d, depth, label)
	}
	_, _ = d.Token() // its end; the document is valid
}

func (w *jsonWriter) value(d *json.Decoder, depth int, label string) {
	t, err := d.Token()
	if err != nil {
		return
	}
	indent := strings.Repeat("  ", depth)
	switch v := t.(type) {
	case json.Delim:
		if label == "" {
			label = "- "
		}
		w.lines = append(w.lines, indent+strings.TrimRight(label, " "))
		w.members(d, depth+1, v == '{')
	case string:
		lines := strings.Split(legible.Visible(v), "\n")
		w.lines = append(w.lines, indent+label+lines[0])
		for _, l := range lines[1:] {
			w.lines = append(w.lines, indent+strings.Repeat(" ", len(label))+l)
		}
	case nil:
		w.lines = append(w.lines, indent+label+"null")
	default:
		w.lines = append(w.lines, indent+label+fmt.Sprint(v))
	}
}

// A Place is where two texts part, with what stands around it.
type Place struct {
	Offset int    `json:"offset"` // of the first byte that differs
	Before string `json:"before"` // what both have
	Old    string `json:"old"`
	New    string `json:"new"`
	After  string `json:"after"` // what both have again
}

// placeContext is how many bytes around a difference are shown.
const placeContext = 80

// part finds where b first differs from a; nil if they are equal.
func part(a, b []byte) *Place {
	if bytes.Equal(a, b) {
		return nil
	}
	head, tail := commonEnds(a, b)
	old, now := a[head:len(a)-tail], b[head:len(b)-tail]
	return &Place{
		Offset: head, Before: text8(b[max(0, head-placeContext):head]),
		Old: text8(old[:min(len(old), 2*placeContext)]), New: text8(now[:min(len(now), 2*placeContext)]),
		After: text8(b[len(b)-tail : min(len(b), len(b)-tail+placeContext)]),
	}
}

func text8(b []byte) string { return legible.Visible(strings.ToValidUTF8(string(b), "\uFFFD")) }
