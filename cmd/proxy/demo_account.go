package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A demoAccount is what the header log says of the demo's money and misses.
type demoAccount struct {
	Paid     usage.Money `json:"paid_pusd"`
	Uncached usage.Money `json:"uncached_pusd"` // had nothing been cached
	Prefix   usage.Money `json:"prefix_pusd"`   // of Paid: what the opener caused, estimated
	Unpriced int         `json:"unpriced"`      // answers without a price
	Causes   []demoCause `json:"causes"`        // most frequent first
}

// A demoCause is one cause of cache reads that fell short.
type demoCause struct {
	Name   string      `json:"name"`
	Owner  string      `json:"owner"`
	Count  int         `json:"count"`
	Missed int64       `json:"missed_tokens"`
	Lost   usage.Money `json:"lost_pusd"`
}

// account sums the response records.
func (e *evidence) account() (a demoAccount) {
	causes := map[[2]string]*demoCause{}
	for i := range e.records {
		r := e.records[i].Response
		if r == nil {
			continue
		}
		if r.Cost != nil {
			a.Paid += usage.Money(r.Cost.Paid)
			a.Uncached += usage.Money(r.Cost.Uncached)
			a.Prefix += usage.Money(r.Cost.Prefix)
		}
		if r.Unpriced != "" && r.Usage != nil {
			a.Unpriced++
		}
		addCause(causes, r.Cause)
	}
	for _, c := range causes {
		a.Causes = append(a.Causes, *c)
	}
	slices.SortFunc(a.Causes, func(a, b demoCause) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Name+a.Owner, b.Name+b.Owner)
	})
	return a
}

func addCause(causes map[[2]string]*demoCause, c *logsink.Cause) {
	if c == nil {
		return
	}
	key := [2]string{c.Name, c.Owner}
	if causes[key] == nil {
		causes[key] = &demoCause{Name: c.Name, Owner: c.Owner}
	}
	sum := causes[key]
	sum.Count++
	sum.Missed += c.Missed
	sum.Lost += usage.Money(c.Lost)
}

func (a *demoAccount) print(w io.Writer) {
	t := section(w, "What the log says of money and misses, through Preface", 0)
	fmt.Fprintf(t, "  paid\t%v\n  had nothing been cached\t%v\n  saved by caching\t%v\n  of what was paid, the opener's part\t%v (estimated by its bytes)\n", a.Paid, a.Uncached, a.Uncached-a.Paid, a.Prefix)
	if a.Unpriced > 0 {
		fmt.Fprintf(t, "  answers without a price\t%d\n", a.Unpriced)
	}
	_ = t.Flush()
	t = section(w, "Why cache reads fell short", 0)
	fmt.Fprintln(t, "  CAUSE\tWHOSE\tANSWERS\tTOKENS NOT READ\tUSD LOST")
	for _, c := range a.Causes {
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s\t%v\n", c.Name, c.Owner, c.Count, legible.Grouped(c.Missed), c.Lost)
	}
	_ = t.Flush()
}
