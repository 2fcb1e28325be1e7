package account

import (
	"cmp"
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// How many names are told apart, and how many of them are shown: clients choose
// names of models, and each session may have a prefix of its own.
const (
	namesApart = 4096
	rowsShown  = 50
	daysShown  = 400
)

// A sorter sums by name. Names beyond namesApart are summed in one.
type sorter struct {
	rows map[string]*Sums
	rest Sums
	full bool
}

func newSorter() sorter { return sorter{rows: map[string]*Sums{}} }

func (s *sorter) at(name string) *Sums {
	if row := s.rows[name]; row != nil {
		return row
	}
	if len(s.rows) >= namesApart {
		s.full = true
		return &s.rest
	}
	row := new(Sums)
	s.rows[name] = row
	return row
}

// A Group is what the requests of one name amount to.
type Group struct {
	Name string `json:"name"`
	Sums
	Saved usage.Money `json:"saved_pusd"`
	Rates Rates       `json:"rates"`
}

// Rates are shares, each of what its name says; nil if there is nothing to
// divide by.
type Rates struct {
	OfInputTokens *float64 `json:"hit_rate_of_input_tokens"` // tokens read of all input tokens
	OfRequests    *float64 `json:"hit_rate_of_requests"`     // answers that read anything of all with a count of reads
	OfCost        *float64 `json:"saved_of_uncached_cost"`   // money saved of the price had nothing been cached; may be negative
	PrefixOfCost  *float64 `json:"prefix_of_paid"`           // the prefix's part of what was paid
}

func groupOf(name string, s *Sums) Group {
	g := Group{Name: name, Sums: *s, Saved: s.Saved(), Rates: Rates{
		OfInputTokens: share(s.Tokens.Read.Tokens, s.ToldInput), OfRequests: share(s.Hits, s.Told), OfCost: share(int64(s.Saved()), int64(s.Uncached)),
	}}
	if s.PrefixTold > 0 {
		g.Rates.PrefixOfCost = share(int64(s.Prefix), int64(s.Paid))
	}
	return g
}

func share(part, whole int64) *float64 {
	if whole <= 0 {
		return nil
	}
	f := float64(part) / float64(whole)
	return &f
}

// A Table has a group for each name.
type Table struct {
	Rows []Group `json:"rows"`
	// Rest sums what has no row, of Others names; 0 if they were too many to be
	// told apart.
	Rest   *Group `json:"rest,omitempty"`
	Others int    `json:"others,omitempty"`
}

// byPaid orders the dearest first.
func byPaid(a, b *Group) int {
	return cmp.Or(cmp.Compare(b.Paid, a.Paid), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
}

func byName(a, b *Group) int { return cmp.Compare(a.Name, b.Name) }

// table has the first of the sorter's rows in an order.
func (s *sorter) table(order func(a, b *Group) int, most int) Table {
	list := make([]Group, 0, len(s.rows))
	for name, row := range s.rows {
		list = append(list, groupOf(name, row))
	}
	slices.SortFunc(list, func(a, b Group) int { return order(&a, &b) })
	t := Table{Rows: list[:min(len(list), most)]}
	others := list[len(t.Rows):]
	if len(others) == 0 && !s.full {
		return t
	}
	rest := s.rest
	for i := range others {
		rest.plus(&others[i].Sums)
	}
	g := groupOf("", &rest)
	t.Rest = &g
	if !s.full {
		t.Others = len(others)
	}
	return t
}
