package report

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/bench/economics"
	"github.com/seed-9236c7ca/preface/internal/legible"
)

// Markdown is the report's page. Its plots are found in folder, relative to it.
func (r *Report) Markdown(folder string) []byte {
	var p page
	p.head(1, "What an opener costs")
	p.say("An opener is text that every agent must see first. This page says what each way of giving it costs, from recorded traffic played against the providers' prompt caches. All numbers are made by one command and none by hand:")
	p.say("```sh\n%s\n```", oneLine(r.Command))
	if len(r.Notes) > 0 {
		p.list(r.Notes)
	}
	p.say("Costs are of input, relative to the same tokens without a cache (“of none”), unless said otherwise. Prices are those of %s: %s.", r.Options.PriceDate.Format(time.DateOnly), r.prices())
	p.goldens(r)
	pictures := r.plots()
	for i := range r.Traces {
		t := &r.Traces[i]
		p.trace(t, func(kind string, at tier) {
			for _, x := range pictures {
				if x.trace == i && x.kind == kind && x.tier == at {
					p.image(x.title, path.Join(folder, x.file))
				}
			}
		})
	}
	p.assumptions(r)
	return []byte(strings.TrimRight(p.b.String(), "\n") + "\n")
}

// prices are the labels of all prices used.
func (r *Report) prices() string {
	var list []string
	for _, t := range r.Traces {
		for _, row := range t.Result.Rows {
			label := code(row.Price)
			if row.Price == "" {
				label = row.Provider + ": " + row.Note
			}
			if !slices.Contains(list, label) {
				list = append(list, label)
			}
		}
	}
	return strings.Join(list, ", ")
}

// goldens compares with what others published.
func (p *page) goldens(r *Report) {
	var rows [][]string
	var reasons []string
	wrong := 0
	for _, t := range r.Traces {
		for _, g := range t.Result.Goldens {
			rows = append(rows, goldenRow(&g))
			if !g.OK {
				wrong++
			}
			if reason := fmt.Sprintf("%s, %s: %s.", code(g.Trace), g.Source, g.Why); g.Published > 0 && g.Why != "" && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	p.head(2, "How far the simulator can be trusted")
	p.say("Each figure is held to one that was computed independently from the same file; %d of %d are within the tolerance. Beside them stands what others published.", len(rows)-wrong, len(rows))
	p.table([]string{"figure", "here", "independently", "tolerance", "published", "difference"}, rows)
	if len(reasons) > 0 {
		p.say("Why figures differ from those published:")
		p.list(reasons)
	}
}

func goldenRow(g *economics.Golden) []string {
	row := []string{code(g.Trace) + " " + g.Name, fmt.Sprintf("%.4f", g.Got), fmt.Sprintf("%.4g", g.Want), fmt.Sprintf("±%.4g", g.Tolerance), "–", "–"}
	if !g.OK {
		row[1] = "**" + row[1] + "**"
	}
	if g.Published > 0 {
		row[4], row[5] = fmt.Sprintf("%.4g", g.Published), fmt.Sprintf("%+.4f", g.Difference)
	}
	return row
}

// trace is all that is said of one.
func (p *page) trace(t *Trace, show func(kind string, at tier)) {
	if len(t.Result.Rows) == 0 {
		return
	}
	first := t.Result.Rows[0]
	p.head(2, "Trace "+code(t.Name))
	p.say("%s%s. The opener has %s tokens; its text changes: %s (%s new texts per request).", t.origin(), t.size(), legible.Grouped(first.OpenerTokens), strings.ReplaceAll(first.Change, "_", " "), short(first.ChangeRate))
	p.head(3, "The answer, and the price of each alternative")
	p.say("The claim is that an opener composed once per session, frozen, and put right behind the system prompt is the cheapest that reaches every request, and that each alternative has its price:")
	p.list(t.answers())
	p.comparison(t)
	show("cost", tier{})
	p.limits(t)
	p.breakEvens(t)
	p.shown(t, show)
	p.rows(t)
}

// shown are the plots of some tiers: all would be hard to read.
func (p *page) shown(t *Trace, show func(kind string, at tier)) {
	if len(t.Result.BreakEvens) == 0 {
		return
	}
	p.head(3, "Plots")
	if list := t.shown(); len(list) < len(t.tiers()) {
		p.say("They are of %s; the flags -provider and -lifetime choose others.", joined(list))
	}
	for _, kind := range []string{"hit_rate", "wins", "wins_fresh", "sensitivity"} {
		for _, at := range t.shown() {
			show(kind, at)
		}
	}
}

func joined(list []tier) string {
	var names []string
	for _, at := range list {
		names = append(names, at.String())
	}
	return strings.Join(names, " and ")
}

// origins are of public traces, by a part of their names.
var origins = []struct{ name, words string }{
	{"cc_traces", "Real sessions of Claude Code that WEKA recorded (kv-cache-tester, Apache-2.0), as token counts and block numbers: "},
	{"mooncake_conversation", "An hour of Kimi's conversations (Mooncake, FAST'25, Apache-2.0), as token counts and block numbers: "},
	{"mooncake_synthetic", "Built from public data sets (Mooncake, FAST'25, Apache-2.0), as token counts and block numbers: "},
}

func (t *Trace) origin() string {
	for _, o := range origins {
		if strings.Contains(t.Name, o.name) {
			return o.words
		}
	}
	return ""
}

func (t *Trace) size() string {
	r := t.Result.Rows[0]
	if !t.knowsSessions() {
		return legible.Grouped(r.Requests) + " requests; sessions are not told apart"
	}
	return fmt.Sprintf("%s sessions, %s requests", legible.Grouped(r.Sessions), legible.Grouped(r.Requests))
}

// comparison is each strategy's cost relative to a frozen opener's.
func (p *page) comparison(t *Trace) {
	head := []string{"strategy"}
	for _, at := range t.tiers() {
		head = append(head, at.String())
	}
	var rows [][]string
	for _, name := range economics.Strategies() {
		row, any := []string{name}, false
		for _, at := range t.tiers() {
			r, frozen := t.row(at, name), t.row(at, economics.Frozen)
			text := "–"
			if r != nil {
				any, text = true, share(r.CostVsNone)
				if frozen != nil && r != frozen {
					text += " (×" + share(times(r, frozen)) + ")"
				}
			}
			row = append(row, text)
		}
		if any {
			rows = append(rows, row)
		}
	}
	p.say("Cost of none, and in brackets how many times a frozen opener's cost:")
	p.table(head, rows)
}

// limits are the conditions under which a frozen opener does not win.
func (p *page) limits(t *Trace) {
	if len(t.Result.Sensitivity) == 0 {
		return
	}
	p.head(3, "When a frozen opener does not win")
	rows := t.losses()
	if len(rows) == 0 {
		p.say("It wins under all conditions that were tried.")
		return
	}
	head := []string{"condition"}
	for _, at := range t.tiers() {
		head = append(head, at.String())
	}
	p.say("In bold the cheapest that gives every request an opener, and its cost relative to frozen. Where no outdated text is allowed, a frozen opener is out as soon as one request sees one, also if it is cheaper (×1 and more).")
	p.table(head, rows)
}

// breakEvens are the answers, by question; those that are the same stand once.
func (p *page) breakEvens(t *Trace) {
	if len(t.Result.BreakEvens) == 0 {
		return
	}
	p.head(3, "Break-evens")
	var asked []string
	for _, b := range t.Result.BreakEvens {
		if !slices.Contains(asked, b.Question) {
			asked = append(asked, b.Question)
			p.say("**%s**", b.Question)
			p.list(t.answersTo(b.Question))
		}
	}
}

func (t *Trace) answersTo(question string) (items []string) {
	var answers []string
	who := map[string][]string{}
	for _, b := range t.Result.BreakEvens {
		if b.Question != question {
			continue
		}
		answer := strings.ReplaceAll(strings.TrimSuffix(b.Answer, ";"), string(economics.ChangeEachRequest), "each request")
		if len(who[answer]) == 0 {
			answers = append(answers, answer)
		}
		who[answer] = append(who[answer], t.nameOf(&b))
	}
	for _, a := range answers {
		names := strings.Join(who[a], ", ")
		if len(answers) == 1 && len(who[a]) > 2 {
			names = "all"
		}
		items = append(items, names+": "+a+".")
	}
	return items
}

// nameOf is whom a study is about.
func (t *Trace) nameOf(b *economics.BreakEven) string {
	for _, at := range t.tiers() {
		if at.is(b.Provider, b.Model, b.Lifetime) {
			return at.String()
		}
	}
	for _, at := range t.tiers() {
		if at.is(b.Provider, b.Model, at.lifetime) {
			return strings.TrimSuffix(at.String(), " "+at.lifetime)
		}
	}
	return b.Provider
}

// rows is the table that is in rows.csv too, with what people read of it.
func (p *page) rows(t *Trace) {
	p.head(3, "All rows")
	head := []string{"strategy", "hits by tokens", "by requests", "by cost", "of none", "USD", "first token, s (mean / p90)", "outdated", "absent", "nameless"}
	for _, at := range t.tiers() {
		var rows [][]string
		for _, r := range t.rows(at) {
			n := float64(max(r.Requests, 1))
			rows = append(rows, []string{r.Strategy, percent(r.HitRateTokens), percent(r.HitRateRequests), percent(r.HitRateCost), share(r.CostVsNone), spent(&r),
				fmt.Sprintf("%.2f / %.2f", r.FirstTokenSeconds.Mean, r.FirstTokenSeconds.P90), percent(float64(r.Stale) / n), percent(float64(r.Absent) / n), percent(float64(r.Unnamed) / n)})
		}
		p.say("**%s**, %s:", at, code(t.rows(at)[0].Model))
		p.table(head, rows)
	}
}

func spent(r *economics.Row) string {
	if r.Price == "" {
		return "–"
	}
	return money(r.CostUSD)
}

// assumptions lists each once, with the traces of those that not all have.
func (p *page) assumptions(r *Report) {
	p.head(2, "What is taken for granted")
	var all []string
	for _, t := range r.Traces {
		for _, a := range t.Result.Assumptions {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	for i, a := range all {
		var of []string
		for _, t := range r.Traces {
			if slices.Contains(t.Result.Assumptions, a) {
				of = append(of, code(t.Name))
			}
		}
		if len(of) < len(r.Traces) {
			all[i] = strings.Join(of, ", ") + ": " + a
		}
	}
	p.list(all)
}
