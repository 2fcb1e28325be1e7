package admin

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// Heights of a timeline in pixels.
const (
	lineTop  = 22 // for the names of epochs
	linePlot = 150
	lineMark = 20 // for the marks of causes
)

// labelRoom is the width, in percent, that a name of an epoch takes.
const labelRoom = 14

// timeline draws the turns of a session, one bar each in their order: what of the
// input was read, written and fresh. A vertical line is where an epoch begins, a
// mark below a bar says that it has a cause; each bar leads to its request.
func timeline(k logsink.Key, turns []*Turn) template.HTML {
	var b strings.Builder
	most := int64(1)
	for _, t := range turns {
		r, w, f, u := classes(t)
		most = max(most, r+w+f+u)
	}
	top := nice(float64(most))
	fmt.Fprintf(&b, `<figure class="chart"><svg role="group" width="100%%" height="%d"><title>Requests of the session in their order</title><desc>%s: input tokens read from the cache, written to it, and fresh. Below: marks where a read fell short.</desc>`,
		lineTop+linePlot+lineMark, esc(legible.Plural(len(turns), "request")))
	for i := range 3 {
		y := lineTop + linePlot*i/2
		fmt.Fprintf(&b, `<line class="rule" x1="0" x2="100%%" y1="%d" y2="%d"/>`, y, y)
	}
	drawn := newEpochs(turns)
	for i, t := range turns {
		bar(&b, k, t, i, len(turns), top)
	}
	drawn.draw(&b, len(turns))
	for i := range 2 {
		fmt.Fprintf(&b, `<text class="scale" x="2" y="%d">%s</text>`, lineTop+linePlot*i/2+12, brief(int64(top)*int64(2-i)/2))
	}
	b.WriteString(`</svg><figcaption><ul class="legend">`)
	for _, l := range [][2]string{{"read", "read from cache"}, {"write", "written to cache"}, {"fresh", "fresh"}, {"unsplit", "not told apart"}, {"untold", "no usage"}, {"expected", "miss, expected"}, {"waste", "miss, avoidable"}} {
		fmt.Fprintf(&b, `<li><svg width="12" height="12" aria-hidden="true"><rect class="%s" width="12" height="12"/></svg> %s</li>`, l[0], l[1])
	}
	b.WriteString(`</ul></figcaption></figure>`)
	return template.HTML(b.String())
}

// classes are the input tokens of a turn.
func classes(t *Turn) (read, write, fresh, unsplit int64) {
	if t.Response == nil || t.Response.Usage == nil {
		return 0, 0, 0, 0
	}
	u := t.Response.Usage
	return tokens(u.CacheRead), written(u), tokens(u.Fresh), tokens(u.Unsplit)
}

func bar(b *strings.Builder, k logsink.Key, t *Turn, i, n int, top float64) {
	slot := 100 / float64(max(n, 12))
	x, width := float64(i)*slot, slot*0.84
	link := url.Values{"tenant": {k.Tenant}, "session": {k.Session}, "id": {t.Request.ID}}
	fmt.Fprintf(b, `<a href="/request?%s"><title>%s</title>`, esc(link.Encode()), esc(tellTurn(t)))
	fmt.Fprintf(b, `<rect class="hit" x="%.3f%%" width="%.3f%%" y="%d" height="%d"/>`, x, slot, lineTop, linePlot+lineMark)
	read, write, fresh, unsplit := classes(t)
	y := float64(lineTop + linePlot)
	for _, part := range []struct {
		class string
		n     int64
	}{{"read", read}, {"write", write}, {"fresh", fresh}, {"unsplit", unsplit}} {
		if h := float64(part.n) / top * linePlot; h > 0 {
			y -= h
			fmt.Fprintf(b, `<rect class="%s" x="%.3f%%" width="%.3f%%" y="%.2f" height="%.2f"/>`, part.class, x, width, y, h)
		}
	}
	if read+write+fresh+unsplit == 0 {
		fmt.Fprintf(b, `<rect class="untold" x="%.3f%%" width="%.3f%%" y="%d" height="6"/>`, x, width, lineTop+linePlot-6)
	}
	if t.Response != nil && t.Response.Cause != nil {
		class := "expected"
		if t.Response.Cause.Waste {
			class = "waste"
		}
		fmt.Fprintf(b, `<rect class="%s" x="%.3f%%" width="%.3f%%" y="%d" height="9"/>`, class, x, width, lineTop+linePlot+5)
	}
	b.WriteString(`</a>`)
}

// tellTurn is a turn in one line.
func tellTurn(t *Turn) string {
	r := t.Request
	s := fmt.Sprintf("%s, epoch %d, %s", stamp(r.Time), r.Epoch, phrase(r.Class))
	if t.Response == nil {
		return s + ", no answer in the log"
	}
	read, write, fresh, unsplit := classes(t)
	s += fmt.Sprintf(": %s read, %s written, %s fresh", grouped(read), grouped(write), grouped(fresh))
	if unsplit > 0 {
		s += ", " + grouped(unsplit) + " not told apart"
	}
	if c := t.Response.Cost; c != nil {
		s += ", " + usd(c.Paid)
	}
	if c := t.Response.Cause; c != nil {
		s += "; " + phrase(c.Name) + " " + shown(c.Detail)
	}
	return s
}

// epochs are the places at which a session's epochs begin.
type epochs []struct{ at, number int }

func newEpochs(turns []*Turn) epochs {
	var list epochs
	last := 0
	for i, t := range turns {
		if t.Request.Epoch != last {
			last = t.Request.Epoch
			list = append(list, struct{ at, number int }{i, last})
		}
	}
	return list
}

// draw draws the lines, and the names that have room. A line without a name stays
// below those of others.
func (e epochs) draw(b *strings.Builder, n int) {
	free := -1.0
	for _, begin := range e {
		x := 100 * float64(begin.at) / float64(max(n, 12))
		top := lineTop
		if x >= free && x <= 100-labelRoom {
			top = 4
			fmt.Fprintf(b, `<text class="scale" x="%.3f%%" dx="4" y="14">epoch %d</text>`, x, begin.number)
			free = x + labelRoom
		}
		fmt.Fprintf(b, `<line class="epoch" x1="%.3f%%" x2="%.3f%%" y1="%d" y2="%d"><title>epoch %d begins</title></line>`, x, x, top, lineTop+linePlot, begin.number)
	}
}

// bodyMap draws where in the body that was sent the inserted ranges stand.
func bodyMap(size int, ranges []piece) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="chart"><svg role="img" width="100%%" height="44" aria-label="The body that was sent"><title>The body that was sent</title><desc>%s bytes`, grouped(int64(size)))
	for _, p := range ranges {
		if p.Inserted {
			fmt.Fprintf(&b, ", inserted are %s from byte %s on", grouped(int64(p.Size())), grouped(int64(p.From)))
		}
	}
	b.WriteString(`.</desc>`)
	for _, p := range ranges {
		class := "theirs"
		if p.Inserted {
			class = "ours"
		}
		x, width := 100*float64(p.From)/float64(max(size, 1)), max(100*float64(p.Size())/float64(max(size, 1)), 0.4)
		fmt.Fprintf(&b, `<rect class="%s" x="%.3f%%" width="%.3f%%" y="4" height="20"><title>%s</title></rect>`, class, x, width, esc(p.Title()))
	}
	fmt.Fprintf(&b, `<text class="scale" x="0" y="40">0</text><text class="scale" text-anchor="end" x="100%%" y="40">%s bytes</text></svg>`, grouped(int64(size)))
	b.WriteString(`<figcaption><ul class="legend"><li><svg width="12" height="12" aria-hidden="true"><rect class="theirs" width="12" height="12"/></svg> the client's bytes</li><li><svg width="12" height="12" aria-hidden="true"><rect class="ours" width="12" height="12"/></svg> inserted</li></ul></figcaption></figure>`)
	return template.HTML(b.String())
}
