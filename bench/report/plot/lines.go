package plot

import (
	"fmt"
	"math"
	"strings"
)

// Lines are curves over named places, which stand at equal distances.
type Lines struct {
	Title, About string
	XName, YName string
	X            []Place
	Series       []Series
	High         float64 // of the scale; 0: by the values
	Line         float64 // a horizontal line, 0: none
}

// A Place has a label and, below it, a second one.
type Place struct{ Label, Under string }

// A Series is a curve with a value for each place; NaN is none.
type Series struct {
	Name   string
	Colour int
	Values []float64
}

const plotHeight = 250

// SVG draws them. Curves that coincide are drawn once, with all their names.
func (l *Lines) SVG() []byte {
	p := newPaper(l.Title, l.About)
	list := l.merged()
	y := scale{0, l.high(), p.y + plotHeight, p.y, false}
	p.y += plotHeight
	left, right := float64(margin+62), float64(width-margin-10)
	for _, v := range y.ticks() {
		p.rule("rule", left, y.at(v), right, y.at(v))
		p.text(left-6, y.at(v)+4, "q", "end", plain(v))
	}
	p.turned(margin+8, p.y-plotHeight/2, clip(l.YName, plotHeight+margin, 12))
	if l.Line > 0 {
		p.rule("even", left, y.at(l.Line), right, y.at(l.Line))
	}
	x := func(i int) float64 {
		return left + 22 + (right-left-44)*float64(i)/float64(max(len(l.X)-1, 1))
	}
	for _, s := range list {
		l.curve(p, s, x, y)
	}
	p.rule("axis", left, p.y, right, p.y)
	l.places(p, x, left, right)
	p.legend(keysOf(list))
	return p.bytes()
}

func (l *Lines) high() float64 {
	if l.High > 0 {
		return l.High
	}
	most := 0.0
	for _, s := range l.Series {
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				most = max(most, v)
			}
		}
	}
	step := nice(most / 4)
	return step * max(1, math.Ceil(most/step-1e-9))
}

// merged joins series that a reader could not tell apart.
func (l *Lines) merged() (list []Series) {
	near := l.high() / 250
next:
	for _, s := range l.Series {
		for i := range list {
			if list[i].near(s, near) {
				list[i].Name += ", " + s.Name
				continue next
			}
		}
		list = append(list, s)
	}
	return list
}

func (s Series) near(o Series, by float64) bool {
	for i, v := range s.Values {
		if math.IsNaN(v) != math.IsNaN(o.Values[i]) || math.Abs(v-o.Values[i]) > by {
			return false
		}
	}
	return true
}

func (l *Lines) curve(p *paper, s Series, x func(int) float64, y scale) {
	var d strings.Builder
	pen := "M"
	for i, v := range s.Values {
		if math.IsNaN(v) {
			pen = "M"
			continue
		}
		d.WriteString(pen + num(x(i)) + " " + num(y.at(v)))
		pen = "L"
	}
	fmt.Fprintf(&p.body, `<path class="curve s%d" d="%s"/>`+"\n", s.Colour%Colours, d.String())
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			p.mark(s.Colour, x(i), y.at(v), fmt.Sprintf("%s, %s: %s", s.Name, l.X[i].Label, plain(v)))
		}
	}
}

// places writes the labels of the axis below it.
func (l *Lines) places(p *paper, x func(int) float64, left, right float64) {
	room := (right - left) / float64(max(len(l.X), 1))
	rows := 1
	for i, at := range l.X {
		lines := wrap(at.Label, room-4, 11)
		for j, text := range lines {
			p.text(x(i), p.y+16+float64(j)*14, "p", "middle", text)
		}
		rows = max(rows, len(lines))
	}
	p.y += 4 + float64(rows)*14
	p.y += l.under(p, x, room)
	for _, text := range wrap(l.XName, right-left, fontSize) {
		p.text((left+right)/2, p.y+18, "q", "middle", text)
		p.y += line - 2
	}
	p.y += 4
}

func (l *Lines) under(p *paper, x func(int) float64, room float64) float64 {
	any := 0.0
	for i, at := range l.X {
		if at.Under != "" {
			p.text(x(i), p.y+14, "p", "middle", clip(at.Under, room, 11))
			any = 16
		}
	}
	return any
}

func keysOf(list []Series) (keys []key) {
	for _, s := range list {
		keys = append(keys, key{s.Colour, s.Name})
	}
	return keys
}
