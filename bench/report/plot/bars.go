package plot

// Bars are groups of bars that share one scale, from 0 on.
type Bars struct {
	Title, About string
	Unit         string // what the scale counts
	Groups       []Group
}

// A Group is some bars under a heading.
type Group struct {
	Name string
	Bars []Bar
}

// A Bar is one value with what is written behind it.
type Bar struct {
	Name   string
	Colour int
	Value  float64
	Label  string
}

const (
	barRoom  = 18
	barThick = 12
)

// SVG draws them.
func (b *Bars) SVG() []byte {
	p := newPaper(b.Title, b.About)
	names, labels, most := b.sizes()
	left, right := margin+names+8, width-margin-labels-8
	s := scale{0, most, left, right, false}
	if most <= 0 {
		s.high = 1
	}
	for _, g := range b.Groups {
		for _, l := range wrap(g.Name, width-2*margin, fontSize) {
			p.y += line
			p.text(margin, p.y, "w", "start", l)
		}
		p.y += 6
		g.draw(p, s)
	}
	p.y += 4
	for _, v := range s.ticks() {
		p.text(s.at(v), p.y+12, "q", "middle", plain(v))
	}
	p.y += line + 4
	for _, text := range wrap(b.Unit, width-2*margin, 12) {
		p.text(width/2, p.y+12, "q", "middle", text)
		p.y += line - 2
	}
	return p.bytes()
}

// sizes are the rooms that names and labels take, and the highest value.
func (b *Bars) sizes() (names, labels, most float64) {
	for _, g := range b.Groups {
		for _, x := range g.Bars {
			names, labels = max(names, lengthOf(x.Name, fontSize)), max(labels, lengthOf(x.Label, fontSize))
			most = max(most, x.Value)
		}
	}
	return min(names, width*2/5), min(labels, width/3), most
}

func (g *Group) draw(p *paper, s scale) {
	top := p.y
	for _, v := range s.ticks() {
		p.rule("rule", s.at(v), top, s.at(v), top+barRoom*float64(len(g.Bars)))
	}
	for _, b := range g.Bars {
		p.text(s.from-8, p.y+13, "w", "end", clip(b.Name, s.from-margin, fontSize))
		p.rect(b.Colour, s.from, p.y+3, s.at(b.Value)-s.from, barThick, b.Name+": "+b.Label)
		p.text(s.at(b.Value)+6, p.y+13, "n", "start", clip(b.Label, width-margin-s.at(b.Value)-6, fontSize))
		p.y += barRoom
	}
	p.rule("axis", s.from, top, s.from, p.y)
	p.y += 8
}
