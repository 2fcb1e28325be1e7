package admin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// What a chart of causes counts.
const (
	byRequests = "requests"
	byTokens   = "tokens"
	byMoney    = "money"
)

// causesShown is how many causes a chart tells apart; colours end there.
const causesShown = 7

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
		names = append(names[:causesShown-1:causesShown-1], "all others")
	}
	c := &chart{Title: "Causes of misses over time", Unit: unit, Values: values, Names: names, Step: step}
	place := map[string]int{}
	for i, name := range names {
		place[name] = i
		c.Class = append(c.Class, fmt.Sprintf("c%d", i))
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
			return fmt.Sprintf("%.1f", f)
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
