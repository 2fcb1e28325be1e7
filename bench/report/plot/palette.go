package plot

import "fmt"

// Colours is how many there are. Each has a mark of its own form too.
const Colours = 9

// inks are for light and for dark paper, each at least three times as light or
// dark as that.
var inks = [Colours][2]string{
	{"#707070", "#a5a5a5"}, // grey
	{"#3f4a56", "#dfe6ee"}, // slate
	{"#087f5b", "#38d9a9"}, // green
	{"#c92a2a", "#ff8787"}, // red
	{"#b35000", "#ffb366"}, // orange
	{"#6741d9", "#b197fc"}, // violet
	{"#c2255c", "#faa2c1"}, // pink
	{"#1864ab", "#74c0fc"}, // blue
	{"#7a4f01", "#d8b26e"}, // brown
}

var style = styleSheet()

func styleSheet() string {
	light, dark := "", ""
	for i, ink := range inks {
		light += fmt.Sprintf(".f%d{fill:%s}.s%d{stroke:%s}", i, ink[0], i, ink[0])
		dark += fmt.Sprintf(".f%d{fill:%s}.s%d{stroke:%s}", i, ink[1], i, ink[1])
	}
	return fmt.Sprintf("text{font:%dpx system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1b1f24}"+
		".h{font-size:%dpx;font-weight:600}.w{}.n{font-variant-numeric:tabular-nums;stroke:#fff;stroke-width:4px;paint-order:stroke}.q{fill:#57606a;font-size:12px}.p{fill:#57606a;font-size:11px}.c{font-size:11px;font-weight:600;fill:#fff}"+
		".paper{fill:#fff}.rule{stroke:#d0d7de}.axis{stroke:#57606a}.even{stroke:#1b1f24;stroke-dasharray:4 3}.curve{fill:none;stroke-width:2}.mark{stroke:#fff;stroke-width:1}"+
		"%s@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q,.p{fill:#9ea7b3}.c{fill:#0d1117}.n{stroke:#0d1117}.paper{fill:#0d1117}.rule{stroke:#30363d}.axis{stroke:#9ea7b3}.even{stroke:#e6edf3}.mark{stroke:#0d1117}%s}",
		fontSize, fontSize+2, light, dark)
}

// forms of marks around 0,0.
var forms = [Colours]string{
	`<path d="M-4 -4L4 4M4 -4L-4 4"%s/>`,
	`<rect x="-4" y="-4" width="8" height="8"%s/>`,
	`<circle r="5"%s/>`,
	`<path d="M0 -5.5L5 4H-5Z"%s/>`,
	`<path d="M0 5.5L5 -4H-5Z"%s/>`,
	`<path d="M0 -6L6 0L0 6L-6 0Z"%s/>`,
	`<path d="M-5.5 0L4 -5V5Z"%s/>`,
	`<path d="M5.5 0L-4 -5V5Z"%s/>`,
	`<path d="M-5 -2H-2V-5H2V-2H5V2H2V5H-2V2H-5Z"%s/>`,
}

// mark draws the form of a colour.
func (p *paper) mark(colour int, x, y float64, told string) {
	colour %= Colours
	class := fmt.Sprintf(` class="mark f%d"`, colour)
	if colour == 0 { // a cross has no inside
		class = ` class="curve s0"`
	}
	fmt.Fprintf(&p.body, `<g transform="translate(%s %s)">`+forms[colour]+"<title>%s</title></g>\n", num(x), num(y), class, escape(told))
}

// A key says what a colour stands for.
type key struct {
	colour int
	name   string
}

// legend lists keys, as many in a row as have room.
func (p *paper) legend(keys []key) {
	p.y += line / 2
	x := float64(margin)
	for i, k := range keys {
		room := 22 + lengthOf(k.name, fontSize) + 14
		if i > 0 && x+room > width-margin {
			x, p.y = margin, p.y+line+2
		}
		p.mark(k.colour, x+7, p.y+line/2, k.name)
		lines := wrap(k.name, width-2*margin-22, fontSize)
		for j, l := range lines {
			if j > 0 {
				p.y += line
			}
			p.text(x+20, p.y+line/2+4, "w", "start", l)
		}
		x += room
	}
	p.y += line + 2
}
