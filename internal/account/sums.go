package account

import (
	"encoding/json"
	"math"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A Class sums one class of tokens over the answers that reported it.
type Class struct {
	Tokens  int64
	Answers int64 // that reported it; the sum of the others is not known
}

// MarshalJSON writes null for a sum of nothing.
func (c Class) MarshalJSON() ([]byte, error) {
	out := struct {
		Tokens  *int64 `json:"tokens"`
		Answers int64  `json:"reported_by"`
	}{Answers: c.Answers}
	if c.Answers > 0 {
		out.Tokens = &c.Tokens
	}
	return json.Marshal(out)
}

func (c *Class) add(n usage.Count) {
	if n.Known {
		c.Tokens += n.N
		c.Answers++
	}
}

func (c *Class) plus(d Class) {
	c.Tokens += d.Tokens
	c.Answers += d.Answers
}

// Tokens are sums by class. All but Input and Reasoning are disjoint.
type Tokens struct {
	Input      Class `json:"input"` // inclusive: everything but output
	Fresh      Class `json:"fresh"`
	Read       Class `json:"cache_read"`
	Write5m    Class `json:"cache_write_5m"`
	Write1h    Class `json:"cache_write_1h"`
	Write30m   Class `json:"cache_write_30m"`
	WriteOther Class `json:"cache_write_other"` // lifetime not told
	Unsplit    Class `json:"unsplit"`           // not told apart into fresh and read
	Output     Class `json:"output"`
	Reasoning  Class `json:"reasoning"` // part of Output
}

func (t *Tokens) add(u usage.Usage) {
	t.Input.add(u.Input())
	t.Fresh.add(u.Fresh)
	t.Read.add(u.CacheRead)
	t.Write5m.add(u.Write5m)
	t.Write1h.add(u.Write1h)
	t.Write30m.add(u.Write30m)
	t.WriteOther.add(u.WriteOther)
	t.Unsplit.add(u.Unsplit)
	t.Output.add(u.Output)
	t.Reasoning.add(u.Reasoning)
}

func (t *Tokens) plus(o *Tokens) {
	to, from := t.all(), o.all()
	for i := range to {
		to[i].plus(*from[i])
	}
}

func (t *Tokens) all() [10]*Class {
	return [...]*Class{&t.Input, &t.Fresh, &t.Read, &t.Write5m, &t.Write1h, &t.Write30m, &t.WriteOther, &t.Unsplit, &t.Output, &t.Reasoning}
}

// Written is the sum of all writes, and how many answers reported one kind at
// least.
func (t *Tokens) Written() Class {
	var sum Class
	for _, c := range [...]Class{t.Write5m, t.Write1h, t.Write30m, t.WriteOther} {
		sum.Tokens += c.Tokens
		sum.Answers = max(sum.Answers, c.Answers)
	}
	return sum
}

// Sums are what some requests amount to. Money is in picodollars.
type Sums struct {
	Requests   int64 `json:"requests"`     // model calls sent
	Failed     int64 `json:"failed"`       // of these: refused, in error, cut, or left by the client
	Unanswered int64 `json:"unanswered"`   // of these: no answer is recorded, so nothing is known of their cost
	Counts     int64 `json:"token_counts"` // requests to count tokens, which are no model calls

	Answers    int64  `json:"answers"`    // with success, so that usage could be reported
	Impossible int64  `json:"impossible"` // of these: usage that contradicts itself, in no sum of tokens
	Tokens     Tokens `json:"tokens"`
	Told       int64  `json:"reads_told"` // answers with a count of reads
	Hits       int64  `json:"reads_any"`  // of these: that read anything
	ToldInput  int64  `json:"reads_told_input"`

	Priced    int64       `json:"priced"`
	PricedNow int64       `json:"priced_now"` // of these: by the table given to the report
	Unpriced  int64       `json:"unpriced"`
	Paid      usage.Money `json:"paid_pusd"`
	Uncached  usage.Money `json:"uncached_pusd"` // had nothing been cached

	Prefixed   int64       `json:"prefixed"`         // requests that carried a prefix
	PrefixTold int64       `json:"prefix_told"`      // of these: whose part of the cost is known
	Estimated  int64       `json:"prefix_estimates"` // of these: by the share of bytes
	Prefix     usage.Money `json:"prefix_pusd"`

	Shortfalls int64       `json:"shortfalls"` // reads that fell short
	Missed     int64       `json:"missed_tokens"`
	Lost       usage.Money `json:"lost_pusd"`
	Avoidable  usage.Money `json:"avoidable_pusd"` // of Lost
	LostUntold int64       `json:"lost_untold"`    // shortfalls that have no price
}

// Saved is what caching saved; negative where writes cost more than reads saved.
func (s *Sums) Saved() usage.Money { return plus(s.Uncached, -s.Paid) }

// add takes in one request.
func (s *Sums) add(x *exchange) {
	if x.class == "count" {
		s.Counts++
		return
	}
	s.Requests++
	if x.inject {
		s.Prefixed++
	}
	if x.resp == nil {
		s.Unanswered++
		return
	}
	if x.resp.Failed() {
		s.Failed++
	}
	s.addUsage(x)
	s.addCost(x)
	s.addCause(x)
}

func (s *Sums) addUsage(x *exchange) {
	if !success(x.resp) {
		return
	}
	s.Answers++
	if x.impossible() {
		s.Impossible++
		return
	}
	s.Tokens.add(x.usage)
	if u := x.usage; u.CacheRead.Known {
		s.Told++
		s.ToldInput += u.Fresh.N + u.CacheRead.N + u.Written().N
		if u.CacheRead.N > 0 {
			s.Hits++
		}
	}
}

func (s *Sums) addCost(x *exchange) {
	switch c := x.cost; {
	case x.unpriced != "":
		s.Unpriced++
	case c != nil:
		s.Priced++
		if x.now {
			s.PricedNow++
		}
		s.Paid = plus(s.Paid, usage.Money(c.Paid))
		s.Uncached = plus(s.Uncached, usage.Money(c.Uncached))
		s.addPrefix(x)
	}
}

func (s *Sums) addPrefix(x *exchange) {
	if !x.inject || x.now {
		return // what stood before the prefix is not in the log, so its part cannot be told later
	}
	s.PrefixTold++
	s.Prefix = plus(s.Prefix, usage.Money(x.cost.Prefix))
	if x.cost.Estimated {
		s.Estimated++
	}
}

func (s *Sums) addCause(x *exchange) {
	c := x.resp.Cause
	if c == nil {
		return
	}
	s.Shortfalls++
	s.Missed += believable(c.Missed)
	s.Lost = plus(s.Lost, x.lost)
	if c.Waste {
		s.Avoidable = plus(s.Avoidable, x.lost)
	}
	if !x.lostTold {
		s.LostUntold++
	}
}

// plus adds other sums.
func (s *Sums) plus(o *Sums) {
	for _, f := range []struct {
		to *int64
		n  int64
	}{
		{&s.Requests, o.Requests}, {&s.Failed, o.Failed}, {&s.Unanswered, o.Unanswered}, {&s.Counts, o.Counts},
		{&s.Answers, o.Answers}, {&s.Impossible, o.Impossible}, {&s.Told, o.Told}, {&s.Hits, o.Hits}, {&s.ToldInput, o.ToldInput},
		{&s.Priced, o.Priced}, {&s.PricedNow, o.PricedNow}, {&s.Unpriced, o.Unpriced},
		{&s.Prefixed, o.Prefixed}, {&s.PrefixTold, o.PrefixTold}, {&s.Estimated, o.Estimated},
		{&s.Shortfalls, o.Shortfalls}, {&s.Missed, o.Missed}, {&s.LostUntold, o.LostUntold},
	} {
		*f.to += f.n
	}
	for _, f := range []struct {
		to *usage.Money
		m  usage.Money
	}{{&s.Paid, o.Paid}, {&s.Uncached, o.Uncached}, {&s.Prefix, o.Prefix}, {&s.Lost, o.Lost}, {&s.Avoidable, o.Avoidable}} {
		*f.to = plus(*f.to, f.m)
	}
	s.Tokens.plus(&o.Tokens)
}

// The ends of what a sum of money can be.
const (
	most  = usage.Money(math.MaxInt64)
	least = usage.Money(-math.MaxInt64)
)

// plus adds money and stays at an end that is passed.
func plus(a, b usage.Money) usage.Money {
	switch {
	case b > 0 && a > most-b:
		return most
	case b < 0 && a < least-b:
		return least
	}
	return a + b
}

// full reports whether a sum has come to an end of what it can be.
func (s *Sums) full() bool {
	for _, m := range [...]usage.Money{s.Paid, s.Uncached, s.Prefix, s.Lost, s.Avoidable} {
		if m == most || m == least {
			return true
		}
	}
	return false
}

// maxTokens bounds a count that is believed: no context window is near it, and
// no sum of a log's records overflows.
const maxTokens = 1 << 32

func believable(n int64) int64 { return max(0, min(n, maxTokens)) }

// success reports whether the provider answered with success, and so charges.
func success(p *logsink.Response) bool { return p.Status/100 == 2 }
