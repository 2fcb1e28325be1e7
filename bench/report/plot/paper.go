package plot

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Sizes in pixels. Charts are narrow, so that on a phone their letters stay legible.
const (
	width    = 480
	margin   = 12
	fontSize = 13
	line     = 18   // of text
	bold     = 1.12 // times as wide
)

// A paper is what is drawn on; its height is known at the end.
type paper struct {
	title, about string
	body         strings.Builder
	y            float64 // where the next thing begins
}

func newPaper(title, about string) *paper {
	p := &paper{title: title, about: about, y: margin}
	for _, l := range wrap(title, (width-2*margin)/bold, fontSize+2) {
		p.y += line
		p.text(margin, p.y, "h", "start", l)
	}
	p.y += line
	return p
}

// Bytes are the document.
func (p *paper) bytes() []byte {
	height := num(p.y + margin)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %s" width="%d" height="%s" role="img" aria-labelledby="t d">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n<style>%s</style>\n", escape(p.title), escape(p.about), style)
	fmt.Fprintf(&b, `<rect class="paper" width="%d" height="%s"/>`+"\n", width, height)
	b.WriteString(p.body.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// text writes one line; class is h, w (words), n (numbers), q (quiet) or p (of a place).
func (p *paper) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(&p.body, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", class, num(x), num(y), anchor, escape(s))
}

// turned writes one line from bottom to top, centred at a place.
func (p *paper) turned(x, y float64, s string) {
	fmt.Fprintf(&p.body, `<text class="q" transform="translate(%s %s) rotate(-90)" text-anchor="middle">%s</text>`+"\n", num(x), num(y), escape(s))
}

func (p *paper) rule(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&p.body, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n", class, num(x1), num(y1), num(x2), num(y2))
}

// rect fills a rectangle; told is what it stands for, for who points at it.
func (p *paper) rect(colour int, x, y, w, h float64, told string) {
	fmt.Fprintf(&p.body, `<rect class="f%d" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`+"\n", colour%Colours, num(x), num(y), num(max(w, 0)), num(h), escape(told))
}

func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// escape makes any text fit for an element, on one line.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar || r == '\t' || r == '\n' || r == '\r':
			return ' '
		case !unicode.IsGraphic(r):
			return -1 // XML takes no control characters, and no direction is changed
		}
		return r
	}, s)
	return escaper.Replace(s)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// lengthOf guesses how wide a text is. It errs on the wide side, for fonts differ.
func lengthOf(s string, size float64) float64 {
	n := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijl.,:;|!'()[] ", r):
			n += 0.36
		case strings.ContainsRune("frt", r):
			n += 0.45
		case r > 0x2e80:
			n++
		case unicode.IsUpper(r) || strings.ContainsRune("mwMW_%", r):
			n += 0.72
		default:
			n += 0.59
		}
	}
	return n * size
}

// wrap breaks a text into lines of a width, within a word where it must.
func wrap(s string, room, size float64) (lines []string) {
	now := ""
	for _, word := range strings.Fields(s) {
		if now != "" && lengthOf(now+" "+word, size) <= room {
			now += " " + word
			continue
		}
		if now != "" {
			lines = append(lines, now)
		}
		for cut := fitting(word, room, size); cut < len(word); cut = fitting(word, room, size) {
			lines, word = append(lines, word[:cut]), word[cut:]
		}
		now = word
	}
	return append(lines, now)
}

// fitting is how many bytes of a word have room; at least one letter.
func fitting(word string, room, size float64) int {
	at := 0
	for i, r := range word {
		end := i + len(string(r))
		if r == unicode.ReplacementChar {
			end = i + 1
		}
		if at > 0 && lengthOf(word[:end], size) > room {
			return at
		}
		at = end
	}
	return at
}

// clip shortens a text to a width.
func clip(s string, room, size float64) string {
	if lengthOf(s, size) <= room {
		return s
	}
	return s[:fitting(s, room-size, size)] + "…"
}
