package usage

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Why an answer has no price.
const (
	NoPrice       = "no_price"       // the table has none for its model then
	NotReported   = "not_reported"   // the provider did not say what was used
	NotSplit      = "not_split"      // it did not say what of it came from the cache
	Impossible    = "impossible"     // the counts contradict each other
	UnknownTier   = "unknown_tier"   // the table has no factor for the tier or region
	UnknownWrites = "unknown_writes" // written for a lifetime that has no price
)

// classes of tokens that have a price of their own.
const (
	input = iota
	output
	read
	write5m
	write1h
	write30m
	write12h
	classCount
)

// A Rate is what a model costs at a time: an Entry made ready.
type Rate struct {
	model, source string
	date, label   string    // of the source; names the rate
	from, until   time.Time // until is the day after the last
	price         [classCount]Money
	sold          [classCount]bool
	over          int64
	overInput     int64 // thousandths
	overOutput    int64
	peaks         []peak
	tiers         map[string]int64
	regions       map[string]int64
}

type peak struct {
	from, until int
	weekdays    bool
	times       int64
}

// Prices is a price table. It is immutable; nil prices nothing.
type Prices struct{ byModel map[string][]Rate }

// An EntryError says which entry of a table is wrong.
type EntryError struct {
	Index int
	Err   error
}

func (e *EntryError) Error() string { return fmt.Sprintf("prices[%d]: %v", e.Index, e.Err) }
func (e *EntryError) Unwrap() error { return e.Err }

// NewPrices checks a table. Its error is an *EntryError.
func NewPrices(entries []Entry) (*Prices, error) {
	p := &Prices{byModel: map[string][]Rate{}}
	for i := range entries {
		rates, err := entries[i].rates()
		if err == nil {
			err = p.add(rates)
		}
		if err != nil {
			return nil, &EntryError{i, err}
		}
	}
	return p, nil
}

// add refuses a rate that holds at a time at which the model has one.
func (p *Prices) add(rates []Rate) error {
	for _, r := range rates {
		for _, o := range p.byModel[r.model] {
			if r.from.Before(o.until) && o.from.Before(r.until) {
				return fmt.Errorf("%s has two prices at %s; end one the day before the other begins", r.model, day(later(r.from, o.from)))
			}
		}
		p.byModel[r.model] = append(p.byModel[r.model], r)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// end of time, for a price that holds until further notice.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func day(t time.Time) string { return t.Format(time.DateOnly) }

var classNames = [...]string{"input", "output", "read", "write_5m", "write_1h", "write_30m", "write_12h"}

// A Query asks for the price of one answer.
type Query struct {
	Model  string    // that answered, or was asked for
	At     time.Time // when the request was sent
	Tier   string    // as the answer names it
	Region string
	// Lifetime is what was asked for, for writes of which the answer does not
	// tell: "5m", "1h", "30m", "12h"; empty: the only one, or the shorter, that
	// the model sells.
	Lifetime string
}

// Find returns the rate of a model at a time.
func (p *Prices) Find(q Query) (Rate, bool) {
	if p == nil {
		return Rate{}, false
	}
	name := strings.ToLower(q.Model)
	name = name[strings.LastIndexByte(name, '/')+1:] // a router puts the vendor in front
	for _, r := range p.named(name) {
		if !q.At.Before(r.from) && q.At.Before(r.until) {
			return r, true
		}
	}
	return Rate{}, false
}

// named are the rates of a name, or of the name without its date.
func (p *Prices) named(name string) []Rate {
	if rates, ok := p.byModel[name]; ok {
		return rates
	}
	return p.byModel[undated(name)]
}

// undated takes the date off a model's name: -20251001, @20251001, -2025-10-01,
// or -latest.
func undated(name string) string {
	if s, ok := strings.CutSuffix(name, "-latest"); ok {
		return s
	}
	for _, layout := range [...]string{"20060102", time.DateOnly} {
		cut := len(name) - len(layout) - 1
		if cut <= 0 || name[cut] != '-' && name[cut] != '@' {
			continue
		}
		if _, err := time.Parse(layout, name[cut+1:]); err == nil {
			return name[:cut]
		}
	}
	return name
}

// Models returns all names in the table, sorted.
func (p *Prices) Models() []string {
	var names []string
	for name := range p.byModel {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
