package admin

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/internal/legible"
)

// A chart is a stack of areas over time. Positions along the time are in percent,
// so that it fits every width with letters of one size.
type chart struct {
	Title  string
	Unit   string // of a value, e.g. "requests"
	Values func(float64) string
	Names  []string // of the series, bottom first
	Class  []string // CSS class of each
	Rows   [][]float64
	From   time.Time
	Step   time.Duration
}

// Heights of a chart in pixels.
const (
	chartTop    = 8
	chartPlot   = 168
	chartBottom = 24
)

// empty reports whether there is nothing to draw.
func (c *chart) empty() bool { return c.most() == 0 }

// most is the height of the highest stack.
func (c *chart) most() float64 {
	most := 0.0
	for _, row := range c.Rows {
		sum := 0.0
		for _, v := range row {
			sum += max(0, v)
		}
		most = max(most, sum)
	}
	return most
}

// HTML draws the chart with its legend and a table of the same numbers.
func (c *chart) HTML() template.HTML {
	var b strings.Builder
	top := nice(c.most())
	fmt.Fprintf(&b, `<figure class="chart"><svg role="img" width="100%%" height="%d" aria-label="%s"><title>%s</title><desc>%s</desc>`,
		chartTop+chartPlot+chartBottom, esc(c.Title), esc(c.Title), esc(c.describe()))
	c.areas(&b, top)
	c.rules(&b, top)
	c.times(&b)
	b.WriteString(`</svg><figcaption>`)
	c.legend(&b)
	b.WriteString(`</figcaption></figure>`)
	return template.HTML(b.String())
}

// describe is what the chart says, for who cannot see it.
func (c *chart) describe() string {
	var parts []string
	for i, name := range c.Names {
		sum := 0.0
		for _, row := range c.Rows {
			sum += row[i]
		}
		parts = append(parts, phrase(name)+" "+c.Values(sum))
	}
	to := c.From.Add(time.Duration(len(c.Rows)) * c.Step)
	return fmt.Sprintf("%s from %s to %s UTC, stacked: %s.", c.Unit, stamp(c.From), stamp(to), strings.Join(parts, ", "))
}

// areas draws the series as steps: what was in a span stands over all of it.
func (c *chart) areas(b *strings.Builder, top float64) {
	fmt.Fprintf(b, `<svg x="0" y="%d" width="100%%" height="%d" viewBox="0 0 %d 1000" preserveAspectRatio="none">`, chartTop, chartPlot, len(c.Rows))
	under := make([]float64, len(c.Rows))
	for s := range c.Names {
		over := slices.Clone(under)
		for i, row := range c.Rows {
			over[i] += max(0, row[s])
		}
		b.WriteString(`<path class="` + c.Class[s] + `" d="M0 ` + level(under[0], top))
		for i := range over {
			fmt.Fprintf(b, "L%d %sH%d", i, level(over[i], top), i+1)
		}
		for i := len(under) - 1; i >= 0; i-- {
			fmt.Fprintf(b, "L%d %sH%d", i+1, level(under[i], top), i)
		}
		b.WriteString(`Z"/>`)
		under = over
	}
	b.WriteString(`</svg>`)
}

// level is the place of a value on a scale of a thousand, from the top.
func level(v, top float64) string {
	return fmt.Sprintf("%.5g", 1000-1000*v/top)
}

// rules draws three horizontal lines and says their values.
func (c *chart) rules(b *strings.Builder, top float64) {
	for i := range 3 {
		y := float64(chartTop) + float64(chartPlot)*float64(i)/2
		fmt.Fprintf(b, `<line class="rule" x1="0" x2="100%%" y1="%.0f" y2="%.0f"/>`, y, y)
		if i < 2 {
			fmt.Fprintf(b, `<text class="scale" x="2" y="%.0f">%s</text>`, y+12, esc(c.Values(top*float64(2-i)/2)))
		}
	}
}

// times writes five moments below the plot, the last at its end.
func (c *chart) times(b *strings.Builder) {
	layout := "15:04"
	if total := time.Duration(len(c.Rows)) * c.Step; total > 36*time.Hour {
		layout = "01-02 15h"
	}
	anchors := [5]string{"start", "middle", "middle", "middle", "end"}
	for i, a := range anchors {
		t := c.From.Add(time.Duration(len(c.Rows)) * c.Step * time.Duration(i) / 4)
		class := "scale"
		if i%2 == 1 {
			class = "scale wide" // a phone has no room for it
		}
		fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%d%%" y="%d">%s</text>`, class, a, i*25, chartTop+chartPlot+16, t.UTC().Format(layout))
	}
}

func (c *chart) legend(b *strings.Builder) {
	b.WriteString(`<ul class="legend">`)
	for i := len(c.Names) - 1; i >= 0; i-- { // as they are stacked, from the top
		sum := 0.0
		for _, row := range c.Rows {
			sum += row[i]
		}
		fmt.Fprintf(b, `<li><svg width="12" height="12" aria-hidden="true"><rect class="%s" width="12" height="12"/></svg> %s <b>%s</b></li>`, c.Class[i], esc(phrase(c.Names[i])), esc(c.Values(sum)))
	}
	b.WriteString(`</ul>`)
}

// nice is the next number up of which half is one that people like.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 6, 8, 10} {
		if m*unit >= v {
			return m * unit
		}
	}
	return 10 * unit
}

func esc(s string) string { return html.EscapeString(legible.Visible(s)) }
