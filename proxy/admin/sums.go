package admin

import (
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// Sums are what some answers amount to. Tokens are in disjoint classes, money
// is in picodollars (10^-12 USD).
type Sums struct {
	Requests int64 `json:"requests"` // model calls that ended, however they did
	Failed   int64 `json:"failed"`   // of these: refused, in error, cut, or left by the client
	Counts   int64 `json:"counts"`   // token counts, which are no model calls

	// Told is how many requests have a count of cache reads; the tokens of the
	// others are in no hit rate. Hits is how many of Told read anything.
	Told   int64 `json:"told"`
	Hits   int64 `json:"hits"`
	Fresh  int64 `json:"fresh"`
	Read   int64 `json:"read"`
	Write  int64 `json:"write"`
	Output int64 `json:"output"`
	// Unsplit is input that is not told apart into fresh and read.
	Unsplit int64 `json:"unsplit"`

	Priced   int64 `json:"priced"`   // requests with a cost
	Unpriced int64 `json:"unpriced"` // requests with usage and no cost
	Paid     int64 `json:"paid_pusd"`
	Uncached int64 `json:"uncached_pusd"` // had nothing been cached
	Prefix   int64 `json:"prefix_pusd"`   // part of Paid that the prefix caused
	Lost     int64 `json:"lost_pusd"`     // what misses cost
	Wasted   int64 `json:"wasted_pusd"`   // of Lost, what was avoidable

	causes [causeCount]causeSum
}

type causeSum struct{ requests, missed, lost int64 }

// input is the inclusive input of the requests whose reads are told.
func (s *Sums) input() int64 { return s.Fresh + s.Read + s.Write }

// Saved is what caching saved; negative if writes cost more than reads saved.
func (s *Sums) Saved() int64 { return s.Uncached - s.Paid }

// add takes in one answer.
func (s *Sums) add(req *logsink.Request, resp *logsink.Response) {
	if req.Class == "count" {
		s.Counts++
		return
	}
	s.Requests++
	if resp.Failed() {
		s.Failed++
	}
	s.addUsage(resp.Usage)
	s.addCost(resp)
	if c := resp.Cause; c != nil {
		s.Lost += c.Lost
		if c.Waste {
			s.Wasted += c.Lost
		}
		s.causes[causeNumber(c.Name)].add(c)
	}
}

func (c *causeSum) add(of *logsink.Cause) {
	c.requests++
	c.missed += of.Missed
	c.lost += of.Lost
}

func (s *Sums) addUsage(u *logsink.Usage) {
	if u == nil {
		return
	}
	s.Output += tokens(u.Output)
	s.Unsplit += tokens(u.Unsplit)
	if u.CacheRead == nil {
		return // not reported is not 0
	}
	s.Told++
	if *u.CacheRead > 0 {
		s.Hits++
	}
	s.Read += *u.CacheRead
	s.Fresh += tokens(u.Fresh)
	s.Write += written(u)
}

func (s *Sums) addCost(resp *logsink.Response) {
	switch c := resp.Cost; {
	case c != nil:
		s.Priced++
		s.Paid += c.Paid
		s.Uncached += c.Uncached
		s.Prefix += c.Prefix
	case resp.Usage != nil:
		s.Unpriced++
	}
}

// plus adds other sums.
func (s *Sums) plus(o *Sums) {
	for _, f := range []struct {
		to *int64
		n  int64
	}{
		{&s.Requests, o.Requests}, {&s.Failed, o.Failed}, {&s.Counts, o.Counts}, {&s.Told, o.Told}, {&s.Hits, o.Hits},
		{&s.Fresh, o.Fresh}, {&s.Read, o.Read}, {&s.Write, o.Write}, {&s.Output, o.Output}, {&s.Unsplit, o.Unsplit},
		{&s.Priced, o.Priced}, {&s.Unpriced, o.Unpriced}, {&s.Paid, o.Paid}, {&s.Uncached, o.Uncached},
		{&s.Prefix, o.Prefix}, {&s.Lost, o.Lost}, {&s.Wasted, o.Wasted},
	} {
		*f.to += f.n
	}
	for i := range s.causes {
		c := &s.causes[i]
		c.requests += o.causes[i].requests
		c.missed += o.causes[i].missed
		c.lost += o.causes[i].lost
	}
}

func tokens(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func written(u *logsink.Usage) int64 {
	return tokens(u.Write5m) + tokens(u.Write1h) + tokens(u.Write30m) + tokens(u.WriteOther)
}

// causeNames are the causes that are counted, in the order in which charts stack
// them. The last stands for names that are none of these.
var causeNames = [...]string{
	explain.Cold, explain.ConcurrentCold, explain.Expired, explain.BelowMinimum, explain.PartialBlock,
	explain.NoMark, explain.LookbackExceeded, explain.MarkMoved, explain.ModelChanged, explain.ToolsChanged,
	explain.SystemChanged, explain.PrefixChanged, explain.HistoryRewritten, explain.ParameterChanged, explain.KeyChanged,
	explain.UpstreamChanged, explain.ImageChanged, explain.ThinkingDropped, explain.Provider, explain.Unknown, "other",
}

const causeCount = len(causeNames)

var causeNumbers = func() map[string]int {
	m := make(map[string]int, causeCount)
	for i, name := range causeNames {
		m[name] = i
	}
	return m
}()

func causeNumber(name string) int {
	if i, ok := causeNumbers[name]; ok {
		return i
	}
	return causeCount - 1
}

// A ring has the sums of the latest spans of time, each step long.
type ring struct {
	step  time.Duration
	spans []span
}

type span struct {
	number int64 // of steps since 1970; 0: not used yet
	sums   Sums
}

func newRing(step time.Duration, n int) ring { return ring{step, make([]span, n)} }

// at returns the sums of the span that holds t, or nil if newer ones have its place.
func (r *ring) at(t time.Time) *Sums {
	n := t.UnixNano() / int64(r.step)
	s := &r.spans[int(n%int64(len(r.spans)))]
	if n < s.number || n <= 0 {
		return nil
	}
	if s.number != n {
		*s = span{number: n}
	}
	return &s.sums
}

// latest returns a copy of the spans up to now, oldest first, and where the first begins.
func (r *ring) latest(now time.Time) ([]Sums, time.Time) {
	last := now.UnixNano() / int64(r.step)
	first := last - int64(len(r.spans)) + 1
	list := make([]Sums, len(r.spans))
	for i := range list {
		if s := &r.spans[int((first+int64(i))%int64(len(r.spans)))]; s.number == first+int64(i) {
			list[i] = s.sums
		}
	}
	return list, time.Unix(0, first*int64(r.step)).UTC()
}
