package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seed-9236c7ca/preface/internal/account"
	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A demoAccount is what the header log says of the demo's money and misses.
type demoAccount struct {
	Paid     usage.Money     `json:"paid_pusd"`
	Uncached usage.Money     `json:"uncached_pusd"` // had nothing been cached
	Saved    usage.Money     `json:"saved_pusd"`
	Prefix   usage.Money     `json:"prefix_pusd"` // of Paid: what the opener caused, estimated
	Unpriced int64           `json:"unpriced"`    // answers without a price
	Causes   []account.Cause `json:"causes"`      // dearest first
}

// readAccount has the log summed as "proxy report" does.
func (e *evidence) readAccount(ctx context.Context, r logsink.Reader) error {
	all, err := account.Read(ctx, r, account.Options{Until: time.Now().Add(time.Hour)})
	if err != nil {
		return err
	}
	t := &all.Total
	e.account = demoAccount{Paid: t.Paid, Uncached: t.Uncached, Saved: t.Saved, Prefix: t.Prefix, Unpriced: t.Unpriced, Causes: all.Causes}
	return nil
}

func (a *demoAccount) print(w io.Writer) {
	t := section(w, "What the log says of money and misses, through Preface", 0)
	fmt.Fprintf(t, "  paid\t%v\n  had nothing been cached\t%v\n  saved by caching\t%v\n  of what was paid, the opener's part\t%v (estimated by its bytes)\n", a.Paid, a.Uncached, a.Saved, a.Prefix)
	if a.Unpriced > 0 {
		fmt.Fprintf(t, "  answers without a price\t%d\n", a.Unpriced)
	}
	_ = t.Flush()
	t = section(w, "Why cache reads fell short", 0)
	fmt.Fprintln(t, "  CAUSE\tWHOSE\tANSWERS\tTOKENS NOT READ\tUSD LOST")
	for _, c := range a.Causes {
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s\t%v\n", c.Name, c.Owner, c.Requests, legible.Grouped(c.Missed), c.Lost)
	}
	_ = t.Flush()
}
