package economics

import (
	"fmt"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// input is what input costs at the price of prompts of ordinary length. It is in
// whole units, so sums do not depend on their order.
func (t *tariff) input(k classes) usage.Money {
	b := &t.band[0]
	return usage.Money(k.fresh)*b.input + usage.Money(k.read)*b.read + usage.Money(k.written)*b.write
}

// vsNone is what input costs relative to the same without a cache.
func (t *tariff) vsNone(k classes) float64 {
	return ratio(t.input(k), usage.Money(k.input())*t.band[0].input)
}

// paid is what input and output cost, by the length of prompts.
func (t *tariff) paid(bands [2]classes) (sum usage.Money) {
	for i, k := range bands {
		b := &t.band[i]
		sum += usage.Money(k.fresh)*b.input + usage.Money(k.read)*b.read + usage.Money(k.written)*b.write + usage.Money(k.output)*b.output
	}
	return sum
}

func ratio[T usage.Money | int64](a, b T) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// all are the tokens of both bands.
func (s *sums) all() classes {
	k := s.tokens[0]
	k.add(s.tokens[1])
	return k
}

// vsNone is the cell's cost of input relative to none. What keepalives read is
// cost alone: nobody would send them without a cache.
func (c *cell) vsNone() float64 {
	k := c.sums.all()
	return ratio(c.tier.tariff.input(k), usage.Money(c.served())*c.tier.tariff.band[0].input)
}

// served is the input of requests that somebody wanted.
func (c *cell) served() int64 {
	return c.sums.all().input() - c.sums.kept[0].input() - c.sums.kept[1].input()
}

// row is what a cell came to.
func (c *cell) row(s *scene, o Options, sessions int64) Row {
	k := c.sums.all()
	t := &c.tier.tariff
	r := Row{
		Trace: o.Trace, Provider: c.tier.provider, Model: c.tier.model, Lifetime: cache.LifetimeName(c.tier.lifetime),
		Strategy: c.strategy.name, OpenerTokens: c.opener, Marks: string(s.plan.marks), Change: s.plan.change.String(), ChangeRate: ratio(s.texts, c.sums.requests),
		Sessions: sessions, Requests: c.sums.requests, Tokens: c.tier.sort(k),
		HitRateTokens:   ratio(k.read-c.sums.kept[0].read-c.sums.kept[1].read, c.served()),
		HitRateRequests: c.detail.hitRatios / max(1, float64(c.detail.firstToken.n)),
		HitRateCost:     ratio(usage.Money(k.read)*t.band[0].read, t.input(k)),
		HitRateLastHalf: c.detail.half.last(), SessionHit: c.detail.session.spread(),
		CostVsNone: c.vsNone(), FirstTokenSeconds: c.detail.firstToken.spread(),
		Stale: c.sums.flaws.stale, Absent: c.sums.flaws.absent, Unnamed: c.sums.flaws.unnamed, Keepalives: c.sums.keepalives,
		Price: t.label, Note: c.note(),
	}
	if c.tier.rules.Kind == cache.ByBlocks && s.plan.capacity > 0 {
		r.Lifetime, r.CapacityTokens = "lru", s.plan.capacity
	}
	if t.label != "" {
		r.CostUSD, r.NoneUSD, r.KeepaliveUSD = t.paid(c.sums.tokens).USD(), t.paid(c.uncached()).USD(), t.paid(c.sums.kept).USD()
		r.CostUSDPerSession = r.CostUSD / max(1, float64(sessions))
	}
	return r
}

// uncached is what requests that somebody wanted would have been without a cache.
func (c *cell) uncached() (out [2]classes) {
	for i, k := range c.sums.tokens {
		kept := c.sums.kept[i]
		out[i] = classes{fresh: k.input() - kept.input(), output: k.output - kept.output}
	}
	return out
}

// sort puts what was written into the class of its lifetime.
func (t *tier) sort(k classes) Tokens {
	out := Tokens{Fresh: k.fresh, Read: k.read, Output: k.output}
	switch t.written() {
	case cache.Lifetime5m:
		out.Write5m = k.written
	case cache.Lifetime30m:
		out.Write30m = k.written
	case cache.Lifetime1h:
		out.Write1h = k.written
	case 12 * time.Hour:
		out.Write12h = k.written
	default:
		out.Fresh += k.written
	}
	return out
}

func (c *cell) note() string {
	note := c.tier.note
	if c.tier.lifetime == 0 && c.tier.rules.PaidWrites {
		note = fmt.Sprintf("nobody sells this lifetime: priced as %s", cache.LifetimeName(c.tier.written()))
	}
	return note
}

// compareBare fills in what an opener costs beside none, row by row.
func compareBare(rows []Row, cells []*cell) {
	bare := map[*tier]usage.Money{}
	for _, c := range cells {
		if c.strategy.name == Bare {
			bare[c.tier] = c.tier.tariff.input(c.sums.all())
		}
	}
	for i, c := range cells {
		rows[i].CostVsBare = ratio(c.tier.tariff.input(c.sums.all()), bare[c.tier])
	}
}
