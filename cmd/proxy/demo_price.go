package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// listPrices is the built-in table.
var listPrices = sync.OnceValues(func() (*usage.Prices, error) { return loadPrices("") })

// costOf is what one answer cost by the built-in price table, in USD.
func costOf(model string, at time.Time, t provider.Tokens) (float64, error) {
	if t == (provider.Tokens{}) {
		return 0, nil
	}
	if t.Write12h != 0 {
		return 0, fmt.Errorf("the demo has no price for what model %q wrote for 12 hours", model)
	}
	p, err := listPrices()
	if err != nil {
		return 0, err
	}
	q := usage.Query{Model: model, At: at}
	rate, known := p.Find(q)
	if !known {
		return 0, fmt.Errorf("the price table has no price for model %q", model)
	}
	b := rate.Bill(q, usage.Usage{
		Fresh: usage.Of(t.Fresh), CacheRead: usage.Of(t.CacheRead), Write5m: usage.Of(t.Write5m), Write1h: usage.Of(t.Write1h),
		Write30m: usage.Of(t.Write30m), Output: usage.Of(t.Output),
	})
	if b.Unpriced != "" {
		return 0, fmt.Errorf("an answer of model %q has no price: %s", model, b.Unpriced)
	}
	return b.Paid.USD(), nil
}
