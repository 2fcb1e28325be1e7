package usage

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// A Bill is what one answer cost.
type Bill struct {
	Paid Money
	// Uncached is what the same tokens had cost without any cache. It may be less
	// than Paid: writes cost more than plain input.
	Uncached Money
	// Unpriced says why there is no price, empty if there is one.
	Unpriced string
}

// Label names the rate in a record: the model, the date of its price, and the
// first day on which that holds.
func (r Rate) Label() string { return r.label }

// Model is the name that the table has for the model.
func (r Rate) Model() string { return r.model }

// Source says where the price is from, and of which day or month.
func (r Rate) Source() string { return r.source + ", " + r.date }

// Until is the first moment at which the price does not hold any more, and
// whether there is one.
func (r Rate) Until() (time.Time, bool) { return r.until, r.until.Before(forever) }

// A Class is one class of tokens with its price.
type Class struct {
	Name  string
	Price Money // of one token
}

// Classes are those that the rate has a price for.
func (r Rate) Classes() []Class {
	var out []Class
	for class, name := range classNames {
		if r.sold[class] {
			out = append(out, Class{name, r.price[class]})
		}
	}
	return out
}

// Terms say in words what changes the rate.
func (r Rate) Terms() []string {
	var out []string
	if r.over > 0 {
		out = append(out, fmt.Sprintf("over %d tokens of input: input, reads and writes x%s, output x%s", r.over, factorText(r.overInput), factorText(r.overOutput)))
	}
	for _, p := range r.peaks {
		days := "every day"
		if p.weekdays {
			days = "Monday to Friday"
		}
		out = append(out, fmt.Sprintf("%02d:00-%02d:00 UTC %s: x%s", p.from, p.until, days, factorText(p.times)))
	}
	for _, m := range []map[string]int64{r.tiers, r.regions} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, fmt.Sprintf("%s: x%s", name, factorText(m[name])))
		}
	}
	return out
}

func factorText(thousandths int64) string {
	return strconv.FormatFloat(float64(thousandths)/1000, 'f', -1, 64)
}

// maxPriced bounds a believable count: no context window is near it, and no sum
// of two overflows.
const maxPriced = 1 << 32

// counts sorts a usage into classes of prices, or says why it cannot.
func (r *Rate) counts(u Usage, lifetime string) (n [classCount]int64, unpriced string) {
	switch {
	case u.Odd:
		return n, Impossible
	case u.Unsplit.Known:
		return n, NotSplit
	case !u.Fresh.Known || !u.Output.Known:
		return n, NotReported
	}
	other := r.lifetime(lifetime)
	for _, c := range [...]struct {
		class int
		count Count
	}{{input, u.Fresh}, {output, u.Output}, {read, u.CacheRead}, {write5m, u.Write5m}, {write1h, u.Write1h}, {write30m, u.Write30m}, {other, u.WriteOther}} {
		if !c.count.Known || c.count.N == 0 {
			continue
		}
		if c.count.N < 0 || c.count.N > maxPriced {
			return n, Impossible
		}
		if c.class < 0 || !r.sold[c.class] {
			return n, UnknownWrites
		}
		n[c.class] += c.count.N
	}
	if u.Reasoning.Known && (u.Reasoning.N < 0 || u.Reasoning.N > u.Output.N) {
		return n, Impossible
	}
	return n, ""
}

// lifetime is the class of writes whose lifetime was not told, -1 if there is
// none.
func (r *Rate) lifetime(asked string) int {
	switch asked {
	case "5m":
		return write5m
	case "1h":
		return write1h
	case "12h":
		return write12h
	case "30m":
		return write30m
	}
	for _, class := range [...]int{write5m, write30m} {
		if r.sold[class] {
			return class
		}
	}
	return -1
}

// at is the rate for a request of so much input, or why it has none.
func (r Rate) at(q Query, tokens int64) (Rate, string) {
	in, out := int64(1000), int64(1000)
	if r.over > 0 && tokens > r.over {
		in, out = r.overInput, r.overOutput
	}
	factor, ok := r.factor(q)
	if !ok {
		return r, UnknownTier
	}
	for class := range r.price {
		f := in
		if class == output {
			f = out
		}
		r.price[class] = r.price[class].times(f)
		for _, g := range factor {
			r.price[class] = r.price[class].times(g)
		}
	}
	return r, ""
}

// factor are those of the tier, the region and the time of day.
func (r *Rate) factor(q Query) (f [3]int64, ok bool) {
	f = [3]int64{1000, 1000, 1000}
	switch q.Tier {
	case "", "default", "standard", "auto":
	default:
		if f[0], ok = r.tiers[q.Tier]; !ok {
			return f, false
		}
	}
	switch q.Region {
	case "", "global", "not_available":
	default:
		if f[1], ok = r.regions[q.Region]; !ok {
			return f, false
		}
	}
	f[2] = r.peak(q.At.UTC())
	return f, true
}

func (r *Rate) peak(t time.Time) int64 {
	weekend := t.Weekday() == time.Saturday || t.Weekday() == time.Sunday
	for _, p := range r.peaks {
		if p.from <= t.Hour() && t.Hour() < p.until && !(p.weekdays && weekend) {
			return p.times
		}
	}
	return 1000
}

// Bill prices an answer. q is what the rate was found by.
func (r Rate) Bill(q Query, u Usage) Bill {
	n, unpriced := r.counts(u, q.Lifetime)
	if unpriced != "" {
		return Bill{Unpriced: unpriced}
	}
	in := inputOf(n)
	if r, unpriced = r.at(q, in); unpriced != "" {
		return Bill{Unpriced: unpriced}
	}
	var b Bill
	for class, count := range n {
		b.Paid += Money(count) * r.price[class]
	}
	b.Uncached = Money(in)*r.price[input] + Money(n[output])*r.price[output]
	return b
}

func inputOf(n [classCount]int64) (sum int64) {
	for class, count := range n {
		if class != output {
			sum += count
		}
	}
	return sum
}

// Lost is what it cost more that so many tokens were not read from the cache:
// they were written again where anything was, else billed as plain input. It is
// 0 for an answer that has no price.
func (r Rate) Lost(q Query, u Usage, missed int64) Money {
	n, unpriced := r.counts(u, q.Lifetime)
	if unpriced == "" {
		r, unpriced = r.at(q, inputOf(n))
	}
	if unpriced != "" || missed <= 0 || missed > maxPriced || !r.sold[read] {
		return 0
	}
	instead := input
	for class := write5m; class < classCount; class++ {
		if n[class] > 0 && (instead == input || n[class] > n[instead]) {
			instead = class // of several lifetimes, that of which most was written
		}
	}
	return Money(missed) * (r.price[instead] - r.price[read])
}

// Prefix is the part of an answer's cost that so many tokens of its input
// caused, with so many others before them. A cache reads from the beginning and
// writes behind what it read, so where they stand tells what they were.
func (r Rate) Prefix(q Query, u Usage, before, tokens int64) Money {
	n, unpriced := r.counts(u, q.Lifetime)
	if unpriced == "" {
		r, unpriced = r.at(q, inputOf(n))
	}
	if unpriced != "" {
		return 0
	}
	var cost Money
	at, from, to := int64(0), before, before+tokens
	for _, class := range [...]int{read, write1h, write12h, write5m, write30m, input} {
		end := at + n[class]
		if overlap := min(end, to) - max(at, from); overlap > 0 {
			cost += Money(overlap) * r.price[class]
		}
		at = end
	}
	return cost
}
