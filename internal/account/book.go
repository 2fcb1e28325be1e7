package account

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A book is a report in the making.
type book struct {
	sessions                       int64
	total                          Sums
	days, models, routes, prefixes sorter
	causes                         causes
	unpriced                       map[Unpriced]int64 // by reason and model
	contributors                   map[string][]logsink.Contribution
	dearest                        top[Session]
	misses                         top[Miss]
}

func newBook() *book {
	return &book{
		days: newSorter(), models: newSorter(), routes: newSorter(), prefixes: newSorter(),
		causes: causes{}, unpriced: map[Unpriced]int64{}, contributors: map[string][]logsink.Contribution{},
		dearest: top[Session]{order: dearerSession}, misses: top[Miss]{order: dearerMiss},
	}
}

// add takes in one request with the prefix it carried, "" if none.
func (b *book) add(x *exchange, prefix string) {
	b.total.add(x)
	b.days.at(x.at.UTC().Format(time.DateOnly)).add(x)
	b.models.at(x.model).add(x)
	b.routes.at(x.route).add(x)
	b.prefixes.at(prefix).add(x)
	if x.class == "count" || x.resp == nil {
		return
	}
	b.causes.add(x)
	if x.unpriced != "" {
		b.addUnpriced(x)
	}
}

func (b *book) addUnpriced(x *exchange) {
	key := Unpriced{Reason: x.unpriced, Model: x.model}
	if b.unpriced[key] == 0 && len(b.unpriced) >= namesApart {
		key.Model = ""
	}
	b.unpriced[key]++
}

// causes sums by cause.
type causes map[causeKey]*Cause

type causeKey struct {
	name, owner string
	avoidable   bool
}

func (c causes) add(x *exchange) {
	of := x.resp.Cause
	if of == nil {
		return
	}
	key := causeKey{of.Name, of.Owner, of.Waste}
	if c[key] == nil && len(c) >= namesApart {
		key = causeKey{}
	}
	sum := c[key]
	if sum == nil {
		sum = &Cause{Name: key.name, Owner: key.owner, Avoidable: key.avoidable}
		c[key] = sum
	}
	sum.Requests++
	sum.Expected += believable(of.Expected)
	sum.Missed += believable(of.Missed)
	sum.Lost = plus(sum.Lost, x.lost)
	if !x.lostTold {
		sum.LostUntold++
	}
}

// list has the dearest first.
func (c causes) list() []Cause {
	list := make([]Cause, 0, len(c))
	for _, sum := range c {
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.Missed, a.Missed), cmp.Compare(b.Requests, a.Requests),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Owner, b.Owner), boolCompare(a.Avoidable, b.Avoidable))
	})
	return list
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func dearerSession(a, b *Session) int {
	return cmp.Or(cmp.Compare(b.Paid, a.Paid), cmp.Compare(b.Tokens.Input.Tokens, a.Tokens.Input.Tokens), cmp.Compare(b.Requests, a.Requests), compareKeys(a.Key, b.Key))
}

func dearerMiss(a, b *Miss) int {
	return cmp.Or(cmp.Compare(b.Cause.Lost, a.Cause.Lost), cmp.Compare(b.Cause.Missed, a.Cause.Missed), a.Time.Compare(b.Time),
		compareKeys(a.Key, b.Key), cmp.Compare(a.Request, b.Request))
}

func compareKeys(a, b logsink.Key) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Session, b.Session))
}

// close makes the report of what was taken in.
func (b *book) close(o *Options) *Report {
	r := &Report{
		Since: o.Since, Until: o.Until, Tenant: o.Tenant, PricesNow: o.Prices != nil, Full: b.total.full(),
		Sessions: b.sessions, Total: groupOf("total", &b.total),
		Days: b.days.table(byName, daysShown), Models: b.models.table(byPaid, rowsShown),
		Routes: b.routes.table(byPaid, rowsShown), Prefixes: b.prefixes.table(byPaid, rowsShown),
		Causes: b.causes.list(), Unpriced: b.unpricedList(),
		DearestSessions: slices.Clip(b.dearest.list), DearestMisses: slices.Clip(b.misses.list),
	}
	r.Contributors, r.Undivided = b.shares()
	if o.Explain != nil {
		for i := range r.DearestSessions {
			s := &r.DearestSessions[i]
			s.Command = o.Explain(s.Key)
		}
		for i := range r.DearestMisses {
			m := &r.DearestMisses[i]
			m.Command = o.Explain(m.Key)
		}
	}
	return r
}

func (b *book) unpricedList() []Unpriced {
	list := make([]Unpriced, 0, len(b.unpriced))
	for u, n := range b.unpriced {
		u.Requests = n
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b Unpriced) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Model, b.Model))
	})
	return list
}

// shares divides what each prefix cost among its contributors by their bytes, and
// returns also what could not be divided: of prefixes whose contributors are not
// known.
func (b *book) shares() (list []Contributor, undivided usage.Money) {
	sums := contributors{}
	undivided = b.prefixes.rest.Prefix
	for prefix, row := range b.prefixes.rows {
		if !sums.add(row, b.contributors[prefix]) {
			undivided = plus(undivided, row.Prefix)
		}
	}
	list = make([]Contributor, 0, len(sums))
	for key, c := range sums {
		list = append(list, Contributor{
			Name: key.name, Kind: key.kind, Versions: len(c.versions), Requests: c.requests, Bytes: c.bytes, Cost: c.cost,
		})
	}
	slices.SortFunc(list, func(a, b Contributor) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return list, undivided
}

// contributors sums by contributor. One whose kind was changed is another.
type contributors map[contributorKey]*contributorSum

type contributorKey struct{ name, kind string }

type contributorSum struct {
	versions map[string]bool // hashes of its text
	requests int64
	bytes    int
	cost     usage.Money
}

// add divides what the requests with one prefix cost for it, and reports whether
// there was anyone to divide it among.
func (s contributors) add(row *Sums, parts []logsink.Contribution) (divided bool) {
	for i, m := range divide(row.Prefix, parts) {
		c := &parts[i]
		if c.Bytes <= 0 {
			continue
		}
		divided = true
		key := contributorKey{c.Name, c.Kind}
		sum := s[key]
		if sum == nil {
			sum = &contributorSum{versions: map[string]bool{}}
			s[key] = sum
		}
		sum.versions[c.SHA256] = true
		sum.requests += row.Prefixed
		sum.bytes = max(sum.bytes, c.Bytes)
		sum.cost = plus(sum.cost, m)
	}
	return divided
}

// divide divides money by bytes, so that the parts are the whole: each gets what
// is between where it begins and where it ends.
func divide(whole usage.Money, parts []logsink.Contribution) []usage.Money {
	var all, at int64
	for _, p := range parts {
		all += int64(max(0, p.Bytes))
	}
	out := make([]usage.Money, len(parts))
	if all == 0 {
		return out
	}
	for i, p := range parts {
		from := portion(whole, at, all)
		at += int64(max(0, p.Bytes))
		out[i] = portion(whole, at, all) - from
	}
	return out
}
