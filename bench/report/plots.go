package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9236c7ca/preface/bench/economics"
	"github.com/seed-9236c7ca/preface/bench/report/plot"
)

// A picture is a plot's place in a report.
type picture struct {
	file, title string
	trace       int
	kind        string // cost, hit_rate, wins, wins_fresh, sensitivity
	tier        tier
	draw        func() []byte
}

// plots are all that can be drawn from the results.
func (r *Report) plots() (list []picture) {
	taken := map[string]bool{}
	for i := range r.Traces {
		t := &r.Traces[i]
		name := fileName(t.Name, taken)
		add := func(kind string, at tier, title string, draw func() []byte) {
			file := strings.TrimRight(kind+"-"+name+"-"+strings.NewReplacer(" ", "-", "/", "-").Replace(at.String()), "-")
			list = append(list, picture{fileName(file, taken) + ".svg", title, i, kind, at, draw})
		}
		if len(t.Result.Rows) > 0 {
			add("cost", tier{}, t.costTitle(), t.costs)
		}
		for _, at := range t.shown() {
			t.picturesOf(at, add)
		}
	}
	return list
}

func (t *Trace) picturesOf(at tier, add func(kind string, at tier, title string, draw func() []byte)) {
	if b := t.study("hit_rate", at); b != nil {
		add("hit_rate", at, "Hit rate by how often the opener's text changes: "+at.String(), func() []byte { return t.hitRates(b, at) })
	}
	for _, kind := range [...]string{"length_by_change", "length_by_change_fresh"} {
		if b := t.study(kind, at); b != nil && b.Y != nil {
			title := b.Question + " " + at.String()
			add(map[string]string{"length_by_change": "wins", "length_by_change_fresh": "wins_fresh"}[kind], at, title, func() []byte { return t.wins(b, title) })
		}
	}
	if list := t.conditions(at); len(list) > 0 {
		add("sensitivity", at, "Cost relative to a frozen opener, by condition: "+at.String(), func() []byte { return t.sensitivity(list, at) })
	}
}

// colourOf is the same for a strategy in all plots.
func colourOf(strategy string) int {
	return max(slices.Index(economics.Strategies(), strategy), 0)
}

// letters stand for strategies where there is room for one.
var letters = map[string]string{
	economics.None: "N", economics.Bare: "B", economics.Frozen: "F", economics.PerRequestBefore: "P", economics.PerRequestAfter: "A",
	economics.PerTurn: "T", economics.SystemSection: "S", economics.DurableHistory: "H", economics.DecoratorBeforeSystem: "D",
}

// priced reports whether all rows have a price in money.
func (t *Trace) priced() bool {
	return !slices.ContainsFunc(t.Result.Rows, func(r economics.Row) bool { return r.Price == "" })
}

func (t *Trace) costTitle() string {
	switch {
	case !t.priced():
		return "Cost of input by strategy, relative to no cache"
	case t.knowsSessions():
		return "Cost of a session by strategy"
	}
	return "Cost of 1,000 requests by strategy"
}

const brackets = "; in brackets the input alone, relative to no cache"

// costs are bars for each strategy at each tier.
func (t *Trace) costs() []byte {
	unit := "USD for a session: input, output and surcharges" + brackets
	of := func(r *economics.Row) float64 { return r.CostUSDPerSession }
	switch {
	case !t.priced():
		unit, of = "cost of input relative to no cache", func(r *economics.Row) float64 { return r.CostVsNone }
	case !t.knowsSessions():
		unit, of = "USD for 1,000 requests: input, output and surcharges"+brackets, func(r *economics.Row) float64 { return 1000 * r.CostUSD / float64(max(r.Requests, 1)) }
	}
	b := plot.Bars{Title: t.costTitle() + ", trace " + t.Name, Unit: unit}
	for _, at := range t.tiers() {
		b.Groups = append(b.Groups, t.costGroup(at, of))
	}
	b.About = fmt.Sprintf("Bars of %d strategies at %d providers and lifetimes; the same numbers are in rows.csv.", len(economics.Strategies()), len(b.Groups))
	return b.SVG()
}

func (t *Trace) costGroup(at tier, of func(*economics.Row) float64) plot.Group {
	list := t.rows(at)
	g := plot.Group{Name: at.String()}
	if at.model != "" && !strings.Contains(g.Name, at.model) {
		g.Name += ", " + at.model
	}
	for i := range list {
		r := &list[i]
		label := share(r.CostVsNone)
		if t.priced() {
			label = money(of(r)) + " (" + label + ")"
		}
		g.Bars = append(g.Bars, plot.Bar{Name: r.Strategy, Colour: colourOf(r.Strategy), Value: of(r), Label: label})
	}
	return g
}

// hitRates are curves over the rate of changes.
func (t *Trace) hitRates(b *economics.BreakEven, at tier) []byte {
	l := plot.Lines{
		Title: fmt.Sprintf("Hit rate by how often the opener's text changes: %s, trace %s", at, t.Name),
		About: b.Answer, XName: b.X.Name + " (below: " + b.X.Unit + ")", YName: "share of input tokens read", High: 1,
		Series: curves(b.Series),
	}
	for i, label := range b.X.Labels {
		l.X = append(l.X, plot.Place{Label: strings.ReplaceAll(label, "_", " "), Under: short(b.X.Values[i])})
	}
	return l.SVG()
}

func curves(list []economics.Series) (out []plot.Series) {
	for _, s := range list {
		out = append(out, plot.Series{Name: s.Name, Colour: colourOf(s.Name), Values: s.Values})
	}
	return out
}

// wins is a map of who is cheapest where.
func (t *Trace) wins(b *economics.BreakEven, title string) []byte {
	g := plot.Grid{Title: title + ", trace " + t.Name, About: b.Answer, XName: b.X.Name + " … " + b.X.Unit, YName: b.Y.Name, X: b.X.Labels}
	for _, label := range b.Y.Labels {
		g.Y = append(g.Y, strings.ReplaceAll(label, "_", " "))
	}
	for _, row := range b.Winner {
		var cells []plot.Cell
		for _, name := range row {
			cells = append(cells, plot.Cell{Name: name, Letter: letters[name], Colour: colourOf(name)})
		}
		g.Cells = append(g.Cells, cells)
	}
	return g.SVG()
}

// sensitivity compares strategies with a frozen opener under each condition.
func (t *Trace) sensitivity(list []economics.Condition, at tier) []byte {
	d := plot.Dots{
		Title: fmt.Sprintf("Cost relative to a frozen opener, by condition: %s, trace %s", at, t.Name),
		XName: "cost of input, frozen = 1; left of the line is cheaper than frozen", Line: 1,
	}
	lost := 0
	for _, c := range list {
		verdict := "frozen wins"
		if !c.FrozenWins {
			verdict = fmt.Sprintf("%s, %s×", c.Best, share(c.BestVsFrozen))
			lost++
		}
		d.Rows = append(d.Rows, plot.Row{Words: c.Condition, Verdict: verdict})
	}
	d.About = fmt.Sprintf("Frozen does not win under %d of %d conditions.", lost, len(list))
	for _, name := range economics.Strategies() {
		if s, ok := against(list, name); ok && name != economics.Bare {
			d.Series = append(d.Series, s)
		}
	}
	return d.SVG()
}

// against is a strategy's cost in each condition; NaN where it has none.
func against(list []economics.Condition, strategy string) (out plot.Series, any bool) {
	out = plot.Series{Name: strategy, Colour: colourOf(strategy)}
	for _, c := range list {
		v := math.NaN()
		for _, s := range c.VsFrozen {
			if s.Name == strategy && len(s.Values) > 0 {
				v, any = s.Values[0], true
			}
		}
		out.Values = append(out.Values, v)
	}
	return out, any
}

// share writes a ratio with three digits that mean something.
func share(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// short writes a rate in few letters.
func short(v float64) string {
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func money(v float64) string {
	if v >= 0.995 {
		return "$" + strconv.FormatFloat(v, 'f', 2, 64)
	}
	return "$" + strconv.FormatFloat(v, 'g', 3, 64)
}
