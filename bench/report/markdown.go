package report

import (
	"fmt"
	"strings"
	"unicode"
)

// A page is Markdown in the making.
type page struct{ b strings.Builder }

func (p *page) head(level int, text string) {
	fmt.Fprintf(&p.b, "%s %s\n\n", strings.Repeat("#", level), text)
}

func (p *page) say(format string, args ...any) {
	fmt.Fprintf(&p.b, format+"\n\n", args...)
}

func (p *page) list(items []string) {
	for _, it := range items {
		fmt.Fprintf(&p.b, "- %s\n", it)
	}
	p.b.WriteString("\n")
}

// table writes rows whose first column is words and whose others are numbers.
func (p *page) table(head []string, rows [][]string) {
	line := func(cells []string) { p.b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	p.b.WriteString("|---" + strings.Repeat("|--:", len(head)-1) + "|\n")
	for _, r := range rows {
		line(r)
	}
	p.b.WriteString("\n")
}

func (p *page) image(title, file string) {
	fmt.Fprintf(&p.b, "![%s](%s)\n\n", escaped(title), file)
}

// code is a text of somebody else's as a code span, which has no markup in it.
// Nothing ends it but its own fence, which is longer than any in the text.
func code(s string) string {
	s = oneLine(s)
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 || s == "" {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

// escaped is a text with all that could be markup made plain.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		if strings.ContainsRune("\\`*{}[]<>()#|~&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, s)
}
