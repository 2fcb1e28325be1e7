package proxy

import (
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// price fills in the cost, or why there is none.
func (a *accountant) price(ans *answer) {
	if ans.resp.Status/100 != 2 || ans.req.Class == classCount {
		return // providers charge nothing for an error, nor for counting
	}
	rate, ok := ans.prices.Find(ans.query)
	if !ok {
		ans.resp.Unpriced = usage.NoPrice
		return
	}
	bill := ans.bill(&rate)
	if ans.resp.Unpriced = bill.Unpriced; bill.Unpriced != "" {
		return
	}
	c := &logsink.Cost{Paid: int64(bill.Paid), Uncached: int64(bill.Uncached), Price: rate.Label()}
	if before, prefix := ans.prefixTokens(); prefix > 0 {
		c.Prefix, c.Estimated = int64(rate.Prefix(ans.query, ans.first(), before, prefix)), true
	}
	ans.resp.Cost = c
}

func (ans *answer) bill(rate *usage.Rate) usage.Bill {
	if len(ans.iterations) > 0 {
		return ans.prices.Bill(ans.query, ans.iterations)
	}
	return rate.Bill(ans.query, ans.usage)
}

// first is the usage of the run that read the request as it was sent. What a
// later one reads, of an answer that is made of several, is what the provider
// made of it.
func (ans *answer) first() usage.Usage {
	if len(ans.iterations) > 0 {
		return ans.iterations[0].Usage
	}
	return ans.usage
}

// prefixTokens estimates how many tokens of the input are the prefix's, and how
// many stand before them: by their share of the body's bytes. No provider counts
// them apart.
func (ans *answer) prefixTokens() (before, prefix int64) {
	input := ans.first().Input()
	if !input.Known || ans.req.Size == 0 {
		return 0, 0
	}
	share := func(bytes int) int64 { return input.N * int64(bytes) / int64(ans.req.Size) }
	for _, s := range ans.req.Splices {
		if s.Kind == kindPrefix {
			return share(ans.before), share(s.Length)
		}
	}
	return 0, 0
}
