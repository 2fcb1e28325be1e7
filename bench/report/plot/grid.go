package plot

// A Grid says for each pair of places who is first there.
type Grid struct {
	Title, About string
	XName, YName string
	X, Y         []string
	Cells        [][]Cell // [y][x]
}

// A Cell is a name with its colour, and its letter to stand in the place.
type Cell struct {
	Name, Letter string
	Colour       int
}

const cellHeight = 26

// SVG draws it.
func (g *Grid) SVG() []byte {
	p := newPaper(g.Title, g.About)
	names := 0.0
	for _, y := range g.Y {
		names = max(names, lengthOf(y, 12))
	}
	names = min(names, width/4)
	left := margin + 20 + names + 8
	w := (width - margin - left) / float64(max(len(g.X), 1))
	top := p.y
	for j, row := range g.Cells {
		p.text(left-6, p.y+17, "q", "end", clip(g.Y[j], names+4, 12))
		for i, c := range row {
			x := left + float64(i)*w
			p.rect(c.Colour, x+0.5, p.y+0.5, w-1, cellHeight-1, g.Y[j]+", "+g.X[i]+": "+c.Name)
			p.text(x+w/2, p.y+17, "c", "middle", c.Letter)
		}
		p.y += cellHeight
	}
	p.turned(margin+8, (top+p.y)/2, clip(g.YName, p.y-top, 12))
	for i, x := range g.X {
		p.text(left+(float64(i)+0.5)*w, p.y+16, "p", "middle", clip(x, w+2, 11))
	}
	p.y += line + 2
	p.text(left+(width-margin-left)/2, p.y+14, "q", "middle", clip(g.XName, width-margin-left, 12))
	p.y += line
	g.legend(p)
	return p.bytes()
}

// legend lists the names that occur, in the order of their colours.
func (g *Grid) legend(p *paper) {
	var cells [Colours]*Cell
	for _, row := range g.Cells {
		for i := range row {
			cells[row[i].Colour%Colours] = &row[i]
		}
	}
	p.y += line / 2
	x := float64(margin)
	for _, c := range cells {
		if c == nil {
			continue
		}
		room := 26 + lengthOf(c.Name, fontSize) + 14
		if x > margin && x+room > width-margin {
			x, p.y = margin, p.y+line+4
		}
		p.rect(c.Colour, x, p.y, 20, line, c.Name)
		p.text(x+10, p.y+13, "c", "middle", c.Letter)
		p.text(x+26, p.y+13, "w", "start", clip(c.Name, width-2*margin-26, fontSize))
		x += room
	}
	p.y += line + 2
}
