package economics

import (
	"fmt"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/seed-9236c7ca/preface/configs"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A tariff is what tokens cost at one model and lifetime, per token, for prompts
// of ordinary length and for those over a threshold. Prices are in any unit: a
// tariff of multipliers has an input of 1,000.
type tariff struct {
	label string // "" where there is no price: then the unit is not money
	band  [2]band
	over  int64 // tokens of input above which band[1] holds; 0: never
}

type band struct{ input, read, write, output usage.Money }

// multipliers is a tariff of thousandths of the input's price.
func multipliers(write, read usage.Money) tariff {
	b := band{input: 1000, write: write, read: read}
	return tariff{band: [2]band{b, b}}
}

// bandOf is 0 or 1 by the length of a prompt.
func (t *tariff) bandOf(input int64) int {
	if t.over > 0 && input > t.over {
		return 1
	}
	return 0
}

// tariffOf finds the price of a model's tokens, written for a lifetime. Writes
// that have no price are plain input.
func tariffOf(p *usage.Prices, q usage.Query) (tariff, bool) {
	rate, ok := p.Find(q)
	if !ok {
		return tariff{}, false
	}
	t := tariff{label: rate.Label(), over: threshold(rate, q)}
	t.band[0] = bandAt(rate, q, 0)
	t.band[1] = bandAt(rate, q, t.over)
	return t, true
}

// bandAt asks what a token costs in a prompt of more than so many.
func bandAt(rate usage.Rate, q usage.Query, over int64) band {
	n := over + 1
	b := band{input: paid(rate, q, usage.Usage{Fresh: usage.Of(n)}) / usage.Money(n)}
	b.read, b.write = b.input, b.input
	if bill := rate.Bill(q, answer(usage.Usage{CacheRead: usage.Of(n)})); bill.Unpriced == "" {
		b.read = bill.Paid / usage.Money(n)
	}
	if bill := rate.Bill(q, answer(usage.Usage{WriteOther: usage.Of(n)})); bill.Unpriced == "" && q.Lifetime != "" {
		b.write = bill.Paid / usage.Money(n)
	}
	b.output = paid(rate, q, usage.Usage{Fresh: usage.Of(n), Output: usage.Of(1)}) - b.input*usage.Money(n)
	return b
}

func paid(rate usage.Rate, q usage.Query, u usage.Usage) usage.Money {
	return rate.Bill(q, answer(u)).Paid
}

// answer makes counts that were not set known.
func answer(u usage.Usage) usage.Usage {
	for _, c := range [...]*usage.Count{&u.Fresh, &u.Output} {
		c.Known = true
	}
	return u
}

// threshold is the longest prompt that costs the ordinary price, 0 if all do. It
// is found by asking, since a rate tells it in words only.
func threshold(rate usage.Rate, q usage.Query) int64 {
	ordinary := paid(rate, q, usage.Usage{Fresh: usage.Of(1)})
	dear := func(n int64) bool {
		return paid(rate, q, usage.Usage{Fresh: usage.Of(n)}) != ordinary*usage.Money(n)
	}
	low, high := int64(1), int64(1<<31)
	if !dear(high) {
		return 0
	}
	for high-low > 1 {
		if mid := (low + high) / 2; dear(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// builtinPrices is the table in the binary.
var builtinPrices = sync.OnceValues(func() (*usage.Prices, error) {
	var file struct {
		Prices []usage.Entry `yaml:"prices"`
	}
	if err := yaml.UnmarshalWithOptions(configs.Prices, &file, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("cannot read the built-in price table: %w", err)
	}
	return usage.NewPrices(file.Prices)
})
