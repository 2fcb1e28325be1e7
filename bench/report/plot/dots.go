package plot

import (
	"fmt"
	"math"
)

// Dots are rows of values on one logarithmic scale.
type Dots struct {
	Title, About string
	XName        string
	Series       []Series // Values[i] is that of row i; NaN and what is not above 0 is none
	Rows         []Row
	Line         float64 // a vertical line
}

// A Row has words over its dots, and a verdict behind them.
type Row struct{ Words, Verdict string }

// SVG draws them.
func (d *Dots) SVG() []byte {
	p := newPaper(d.Title, d.About)
	low, high := d.span()
	s := scale{low, high, margin + 10, width - margin - 10, true}
	for i, r := range d.Rows {
		r.head(p)
		p.rule("rule", s.from, p.y+9, s.to, p.y+9)
		p.rule("even", s.at(d.Line), p.y, s.at(d.Line), p.y+18)
		for _, x := range d.Series {
			if v := x.Values[i]; v > 0 {
				p.mark(x.Colour, s.at(v), p.y+9, fmt.Sprintf("%s: %.3f", x.Name, v))
			}
		}
		p.y += line + 4
	}
	p.rule("axis", s.from, p.y, s.to, p.y)
	for _, v := range s.ticks() {
		p.rule("axis", s.at(v), p.y, s.at(v), p.y+4)
		p.text(s.at(v), p.y+17, "q", "middle", plain(v))
	}
	p.y += line + 4
	for _, text := range wrap(d.XName, s.to-s.from, fontSize) {
		p.text((s.from+s.to)/2, p.y+12, "q", "middle", text)
		p.y += line - 2
	}
	p.legend(keysOf(d.Series))
	return p.bytes()
}

// head writes the words, and the verdict in their last line if it has room there.
func (r *Row) head(p *paper) {
	lines := wrap(r.Words, width-2*margin, fontSize)
	for _, l := range lines {
		p.y += line - 1
		p.text(margin, p.y, "w", "start", l)
	}
	verdict := clip(r.Verdict, width-2*margin, 12)
	if lengthOf(lines[len(lines)-1], fontSize)+lengthOf(verdict, 12)+20 > width-2*margin {
		p.y += line - 2
	}
	p.text(width-margin, p.y, "q", "end", verdict)
	p.y += 4
}

// span is where the values are, a little wider.
func (d *Dots) span() (low, high float64) {
	low, high = d.Line, d.Line
	for _, s := range d.Series {
		for _, v := range s.Values {
			if v > 0 && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low / 1.15, high * 1.15
}
