package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/bench/economics"
)

// A rival is another way of giving agents an opener than freezing it.
type rival struct{ strategy, name, reason string }

// rivals are those that the seed design rejected, with what decides their price.
var rivals = []rival{
	{economics.PerRequestBefore, "A slot per request, before the history", "with each new text the whole history behind it is processed again"},
	{economics.PerRequestAfter, "A slot per request, behind the history", "all before it is still read; the opener itself is paid in full with each request, and moves"},
	{economics.SystemSection, "A section of the system prompt", "with each new text the history behind the system prompt is processed again"},
	{economics.DurableHistory, "Permanent history", "as cheap as freezing, until a compaction takes it; and it is never composed again"},
	{economics.PerTurn, "Composed for each turn of the user", "each prompt of the user moves what all earlier turns have written"},
	{economics.DecoratorBeforeSystem, "A decorator before the system prompt", "with each new text not even the system prompt is read"},
}

// bounds are the least and the most over all tiers of what a strategy costs.
type bounds struct{ low, high float64 }

func (b *bounds) add(v float64) {
	if b.low == 0 || v < b.low {
		b.low = v
	}
	b.high = max(b.high, v)
}

func (b bounds) String() string {
	if share(b.low) == share(b.high) {
		return share(b.low)
	}
	return share(b.low) + " to " + share(b.high)
}

// over measures a strategy at all tiers; ok is false if it was not simulated
// beside a frozen opener.
func (t *Trace) over(strategy string, of func(r, frozen *economics.Row) float64) (b bounds, ok bool) {
	for _, at := range t.tiers() {
		r, frozen := t.row(at, strategy), t.row(at, economics.Frozen)
		if r != nil && frozen != nil {
			b.add(of(r, frozen))
			ok = true
		}
	}
	return b, ok
}

// answers are the claim's in sentences, each from the rows.
func (t *Trace) answers() []string {
	list := t.verdict()
	if b, ok := t.over(economics.Frozen, func(r, _ *economics.Row) float64 { return r.CostVsNone }); ok {
		list = append(list, fmt.Sprintf("A frozen opener: input costs %s of what it costs without a cache%s.", b, t.beside(economics.Frozen)))
	}
	if b, ok := t.over(economics.Bare, func(r, frozen *economics.Row) float64 { return times(frozen, r) }); ok {
		list = append(list, fmt.Sprintf("Having it at all: input costs %s times that of the same requests without an opener.", b))
	}
	for _, v := range rivals {
		if b, ok := t.over(v.strategy, times); ok {
			list = append(list, fmt.Sprintf("%s (%s): %s times a frozen opener's cost%s. Why: %s.", v.name, v.strategy, b, t.beside(v.strategy), v.reason))
		}
	}
	return list
}

// beside is what a strategy takes and gives besides money.
func (t *Trace) beside(strategy string) string {
	r := t.row(t.tiers()[0], strategy)
	n := float64(max(r.Requests, 1))
	var parts []string
	for _, x := range []struct {
		requests int64
		words    string
	}{{r.Unnamed, "nobody can name the opener afterwards"}, {r.Absent, "there is none any more"}, {r.Stale, "it is outdated"}} {
		if x.requests > 0 {
			parts = append(parts, fmt.Sprintf("in %s of the requests %s", percent(float64(x.requests)/n), x.words))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

// verdict says how often a frozen opener is the cheapest, as asked for.
func (t *Trace) verdict() []string {
	won, all := 0, 0
	var lost []string
	for _, at := range t.tiers() {
		for _, c := range t.conditions(at) {
			switch {
			case c.Name != "as_asked":
				continue
			case c.FrozenWins:
				won++
			default:
				lost = append(lost, fmt.Sprintf("%s, where %s costs %s times as much", at, c.Best, share(c.BestVsFrozen)))
			}
			all++
		}
	}
	if all == 0 {
		return nil
	}
	text := fmt.Sprintf("Of the ways that give every request an opener, freezing it is the cheapest at %d of %d providers and lifetimes", won, all)
	if len(lost) > 0 {
		text += "; it is not at " + strings.Join(lost, "; at ")
	}
	return []string{text + "."}
}

// losses are the conditions under which a frozen opener does not win at some tier,
// each with what wins there.
func (t *Trace) losses() (rows [][]string) {
	tiers := t.tiers()
	seen := map[string]bool{}
	for _, c := range t.Result.Sensitivity {
		if seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		row, lost := []string{c.Condition}, false
		for _, at := range tiers {
			i := slices.IndexFunc(t.Result.Sensitivity, func(x economics.Condition) bool {
				return x.Name == c.Name && at.is(x.Provider, x.Model, x.Lifetime)
			})
			text := "–"
			if i >= 0 {
				text = wins(&t.Result.Sensitivity[i])
				lost = lost || !t.Result.Sensitivity[i].FrozenWins
			}
			row = append(row, text)
		}
		if lost {
			rows = append(rows, row)
		}
	}
	return rows
}

func wins(c *economics.Condition) string {
	if c.FrozenWins {
		return "frozen"
	}
	return fmt.Sprintf("**%s** ×%s", c.Best, share(c.BestVsFrozen))
}

func percent(v float64) string {
	if v > 0 && v < 0.0005 {
		return "under 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", math.Round(1000*v)/10)
}
