package admin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// What a chart of causes counts.
const (
	byRequests = "requests"
	byTokens   = "tokens"
	byMoney    = "money"
)

// causesShown is how many causes a chart tells apart; colours end there.
const causesShown = 7

// colourOrder are causes in the order in which they choose a colour. Each prefers
// the one at its place, so that the first of them have one and the same in every
// chart, whatever it counts.
var colourOrder = slices.Concat([]string{
	explain.Cold, explain.Expired, explain.HistoryRewritten, explain.SystemChanged, explain.ToolsChanged, explain.Provider,
}, causeNames[:])

// colours gives each of at most causesShown names a CSS class of its own. The
// last colour, grey, is for the rest, or for who comes last.
func colours(names []string) map[string]string {
	of := map[string]string{}
	taken := [causesShown]bool{}
	choose := func(name string, prefer int) {
		for taken[prefer] {
			prefer = (prefer + 1) % causesShown
		}
		taken[prefer] = true
		of[name] = fmt.Sprintf("c%d", prefer)
	}
	if slices.Contains(names, allOthers) {
		choose(allOthers, causesShown-1)
	}
	for i, name := range colourOrder {
		if of[name] == "" && slices.Contains(names, name) {
			choose(name, i%(causesShown-1))
		}
	}
	return of
}

// allOthers stands for the causes that a chart does not tell apart.
const allOthers = "all others"

// causeChart stacks the causes of misses over time, the most frequent at the
// bottom.
func causeChart(list []Step, step time.Duration, by string) *chart {
	of, unit, values := causeValue(by)
	totals := map[string]float64{}
	for i := range list {
		for _, k := range list[i].Causes {
			totals[k.Name] += of(k)
		}
	}
	names := make([]string, 0, len(totals))
	for _, name := range causeNames {
		if totals[name] > 0 {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(totals[b], totals[a]) })
	rest := len(names) > causesShown
	if rest {
		names = append(names[:causesShown-1:causesShown-1], allOthers)
	}
	c := &chart{Title: "Causes of misses over time", Unit: unit, Values: values, Names: names, Step: step}
	place, class := map[string]int{}, colours(names)
	for i, name := range names {
		place[name] = i
		c.Class = append(c.Class, class[name])
	}
	for i := range list {
		row := make([]float64, len(names))
		for _, k := range list[i].Causes {
			at, ok := place[k.Name]
			if !ok && rest {
				at, ok = len(names)-1, true
			}
			if ok {
				row[at] += of(k)
			}
		}
		c.Rows = append(c.Rows, row)
	}
	if len(list) > 0 {
		c.From = list[0].Start
	}
	return c
}

func causeValue(by string) (of func(Cause) float64, unit string, values func(float64) string) {
	whole := func(f float64) string { return brief(int64(math.Round(f))) }
	switch by {
	case byTokens:
		return func(c Cause) float64 { return float64(c.Missed) }, "tokens not read", whole
	case byMoney:
		return func(c Cause) float64 { return float64(c.Lost) }, "money lost", func(f float64) string { return usd(int64(f)) }
	}
	return func(c Cause) float64 { return float64(c.Requests) }, "requests with a miss", func(f float64) string {
		if f != math.Trunc(f) {
			return "" // half a request
		}
		return whole(f)
	}
}

// tokenChart stacks the classes of input tokens over time.
func tokenChart(list []Step, step time.Duration) *chart {
	c := &chart{
		Title: "Input tokens over time", Unit: "input tokens", Values: func(f float64) string { return brief(int64(math.Round(f))) },
		Names: []string{"read from cache", "written to cache", "fresh", "not told apart"}, Class: []string{"read", "write", "fresh", "unsplit"}, Step: step,
	}
	for i := range list {
		s := &list[i].Sums
		c.Rows = append(c.Rows, []float64{float64(s.Read), float64(s.Write), float64(s.Fresh), float64(s.Unsplit)})
	}
	if len(list) > 0 {
		c.From = list[0].Start
	}
	return c
}
