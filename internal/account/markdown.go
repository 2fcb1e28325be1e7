package account

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// WriteMarkdown writes the report as Markdown with tables.
func (r *Report) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	d := r.document()
	fmt.Fprintf(b, "# %s\n\n", d.Title)
	for _, f := range d.Facts {
		fmt.Fprintf(b, "- %s: %s\n", f.Name, escaped(f.Value))
	}
	for i := range d.Answers {
		a := &d.Answers[i]
		fmt.Fprintf(b, "\n## %s\n\n**%s**\n\n", a.Question, escaped(a.Short))
		for _, l := range a.Lines {
			fmt.Fprintf(b, "- %s\n", escaped(l))
		}
	}
	for i := range d.Sections {
		d.Sections[i].markdown(b)
	}
	return b.Flush()
}

func (s *section) markdown(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n", s.Title)
	if len(s.Rows) == 0 {
		fmt.Fprint(w, "\nNone.\n")
		return
	}
	for _, n := range s.Notes {
		fmt.Fprintf(w, "\n%s\n", escaped(n))
	}
	heads, rules := "\n|", "\n|"
	for _, c := range s.Columns {
		heads += " " + c.Name + " |"
		if c.Number {
			rules += "---:|"
		} else {
			rules += "---|"
		}
	}
	fmt.Fprint(w, heads, rules, "\n")
	for i := range s.Rows {
		fmt.Fprint(w, "|")
		for _, c := range s.Rows[i].Cells {
			fmt.Fprint(w, " ", c.markdown(), " |")
		}
		fmt.Fprint(w, "\n")
	}
}

// markdown is a cell's text. A command is shown as one unless it has a character
// that means something in a cell.
func (c *cell) markdown() string {
	if c.Command && c.Text != "" && !strings.ContainsAny(c.Text, "`|<&\\") {
		return "`" + c.Text + "`"
	}
	return escaped(c.Text)
}

// escaped writes a text so that nothing in it is markup, a link, or the end of a
// cell. It never begins a line.
func escaped(s string) string {
	var b strings.Builder
	list := []rune(s)
	for i, r := range list {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case means(list, i):
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// means reports whether a character means something to Markdown where it stands:
// also in what becomes a link or a formula by itself.
func means(s []rune, i int) bool {
	next := rune(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '\\', '`', '*', '[', ']', '|', '~', '@', '#':
		return true
	case '_':
		return i == 0 || !isWord(s[i-1]) || !isWord(next)
	case '$':
		return next < '0' || next > '9'
	case ':':
		return next == '/'
	case '.':
		return i >= 3 && strings.EqualFold(string(s[i-3:i]), "www")
	}
	return false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
