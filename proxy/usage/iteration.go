package usage

import "cmp"

// An Iteration is one run of a model, where an answer is made of several: the
// provider may run a tool, compact the history or ask another model in between.
type Iteration struct {
	Model string // empty: the answer's own
	Usage Usage
}

// Plus is the usage of both together. Of the classes that providers leave out
// where they bill none, what only one reports is that one's.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Fresh: u.Fresh.Plus(v.Fresh), CacheRead: sumKnown(u.CacheRead, v.CacheRead),
		Write5m: sumKnown(u.Write5m, v.Write5m), Write1h: sumKnown(u.Write1h, v.Write1h),
		Write30m: sumKnown(u.Write30m, v.Write30m), WriteOther: sumKnown(u.WriteOther, v.WriteOther),
		Unsplit: sumKnown(u.Unsplit, v.Unsplit), Output: u.Output.Plus(v.Output), Reasoning: u.Reasoning.Plus(v.Reasoning),
		Odd: u.Odd || v.Odd,
	}
}

// SumOf is the usage of all iterations together, whatever their models.
func SumOf(list []Iteration) Usage {
	if len(list) == 0 {
		return Usage{}
	}
	sum := list[0].Usage
	for _, it := range list[1:] {
		sum = sum.Plus(it.Usage)
	}
	return sum
}

// Bill prices an answer by its iterations: each has its model's price, and
// thresholds hold for each by itself. One without a price leaves the answer
// without, for its reason.
func (p *Prices) Bill(q Query, list []Iteration) (sum Bill) {
	for _, it := range list {
		one := q
		one.Model = cmp.Or(it.Model, q.Model)
		rate, ok := p.Find(one)
		if !ok {
			return Bill{Unpriced: NoPrice}
		}
		b := rate.Bill(one, it.Usage)
		if b.Unpriced != "" {
			return b
		}
		sum.Paid += b.Paid
		sum.Uncached += b.Uncached
	}
	return sum
}
