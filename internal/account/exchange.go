package account

import (
	"cmp"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// BeforePrices is why an answer has no cost although its usage is known: it was
// recorded without, by a version that knew no prices, or with accounting off.
const BeforePrices = "before_prices"

// asked is what is kept of a request until its answer comes.
type asked struct {
	at                  time.Time // when it was sent
	id, thread          string
	model, route, class string
	epoch               int
	inject              bool
}

func askedOf(q *logsink.Request) asked {
	return asked{
		at: q.Time, id: q.ID, thread: q.Thread, model: q.Model, route: q.Route, class: q.Class,
		epoch: q.Epoch, inject: q.Decision == logsink.Inject,
	}
}

// orphaned is what an answer tells of a request that has no record: it was
// dropped by retention, or the queue had no room for it.
func orphaned(p *logsink.Response) asked {
	return asked{at: p.Time, id: p.ID, thread: p.Thread, model: p.Model, epoch: p.Epoch}
}

// An exchange is a request with what became of it.
type exchange struct {
	asked
	resp *logsink.Response // nil: no answer is recorded

	usage    usage.Usage
	cost     *logsink.Cost
	now      bool   // the cost is by the table that the report was given
	unpriced string // why there is no cost; empty also if nothing is charged
	lost     usage.Money
	lostTold bool
}

func newExchange(a asked, p *logsink.Response, prices *usage.Prices) *exchange {
	x := &exchange{asked: a, resp: p}
	if p == nil {
		return x
	}
	x.model = cmp.Or(p.Model, a.model)
	x.usage = counts(p.Usage)
	x.price(prices)
	return x
}

// price finds the cost: as recorded or, where none is, by the table. An answer
// without success is not charged, and so neither priced nor unpriced.
func (x *exchange) price(prices *usage.Prices) {
	p := x.resp
	if x.class == "count" || !success(p) {
		return
	}
	x.cost, x.unpriced = p.Cost, p.Unpriced
	if x.cost != nil {
		x.unpriced = ""
	} else if x.unpriced == "" {
		x.unpriced = BeforePrices
		if p.Usage == nil {
			x.unpriced = usage.NotReported
		}
	}
	if p.Cause != nil && x.cost != nil {
		x.lost, x.lostTold = usage.Money(p.Cause.Lost), true
	}
	if prices != nil && (x.unpriced == BeforePrices || x.unpriced == usage.NoPrice) {
		x.priceNow(prices)
	}
}

// priceNow prices by the table. Where the provider served the answer from, and
// what lifetime was asked for, are not in the log.
func (x *exchange) priceNow(prices *usage.Prices) {
	q := usage.Query{Model: x.model, At: x.at, Tier: x.resp.Tier}
	rate, ok := prices.Find(q)
	if !ok {
		x.unpriced = usage.NoPrice
		return
	}
	bill := rate.Bill(q, x.usage)
	if list := x.iterations(); len(list) > 0 {
		bill = prices.Bill(q, list)
	}
	if x.unpriced = bill.Unpriced; bill.Unpriced != "" {
		return
	}
	x.now, x.cost = true, &logsink.Cost{Paid: int64(bill.Paid), Uncached: int64(bill.Uncached), Price: rate.Label()}
	if c := x.resp.Cause; c != nil {
		x.lost, x.lostTold = rate.Lost(q, x.usage, c.Missed), true
	}
}

// iterations are those of the record.
func (x *exchange) iterations() []usage.Iteration {
	var list []usage.Iteration
	for _, it := range x.resp.Iterations {
		list = append(list, usage.Iteration{Model: it.Model, Usage: counts(it.Usage)})
	}
	return list
}

// impossible reports whether the usage contradicts itself.
func (x *exchange) impossible() bool {
	u := x.usage
	for _, c := range [...]usage.Count{u.Fresh, u.CacheRead, u.Write5m, u.Write1h, u.Write30m, u.WriteOther, u.Unsplit, u.Output, u.Reasoning} {
		if c.N < 0 || c.N > maxTokens {
			return true
		}
	}
	return x.unpriced == usage.Impossible
}

// counts are those of a record.
func counts(u *logsink.Usage) usage.Usage {
	if u == nil {
		return usage.Usage{}
	}
	of := func(n *int64) usage.Count {
		if n == nil {
			return usage.Count{}
		}
		return usage.Of(*n)
	}
	return usage.Usage{
		Fresh: of(u.Fresh), CacheRead: of(u.CacheRead), Write5m: of(u.Write5m), Write1h: of(u.Write1h), Write30m: of(u.Write30m),
		WriteOther: of(u.WriteOther), Unsplit: of(u.Unsplit), Output: of(u.Output), Reasoning: of(u.Reasoning),
	}
}
