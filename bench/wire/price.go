package wire

import (
	"fmt"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// priceDay is the day of the prices: that of facts/economics.md.
var priceDay = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// A pricer says what input costs, and what it would cost without a cache.
type pricer func(cache.Tokens) (paid, plain usage.Money)

func newPricer(o Options, rules cache.Rules) (pricer, error) {
	q := usage.Query{Model: o.Model, At: priceDay}
	if rules.PaidWrites {
		q.Lifetime = o.Lifetime
	}
	rate, ok := o.Prices.Find(q)
	if !ok {
		return nil, fmt.Errorf("no price of model %q on %s", o.Model, priceDay.Format(time.DateOnly))
	}
	return func(t cache.Tokens) (paid, plain usage.Money) {
		b := rate.Bill(q, usage.Usage{
			Fresh: usage.Of(t.Fresh), CacheRead: usage.Of(t.Read), WriteOther: some(t.Written()), Output: usage.Of(0),
		})
		return b.Paid, b.Uncached
	}, nil
}

// some is a count that is known if there is anything to count.
func some(n int64) usage.Count {
	if n == 0 {
		return usage.Count{}
	}
	return usage.Of(n)
}
