package admin

import (
	"cmp"
	"slices"
	"time"
)

// A Summary is the overview at one moment, as /api/overview gives it.
type Summary struct {
	Version string    `json:"version"`
	Now     time.Time `json:"now"`
	Past    Past      `json:"past"`
	Ready   bool      `json:"ready"`
	// Total is since Past.From; Hour and Day are the last 60 minutes and 24 hours.
	Total  Group   `json:"total"`
	Hour   Group   `json:"hour"`
	Day    Group   `json:"day"`
	Models []Model `json:"models"` // of Total, dearest first
	// Minutes and Hours are the last ones, oldest first; empty ones are there.
	Minutes []Step `json:"minutes"`
	Hours   []Step `json:"hours"`

	Known  int       `json:"sessions_known"`  // sessions in the index
	Active int       `json:"sessions_active"` // with an answer in the last five minutes
	Recent []Session `json:"sessions_recent"` // used last
	Misses []Miss    `json:"costliest_misses"`
	Alarms int       `json:"alarms"`
}

// A Group is sums with what follows from them.
type Group struct {
	Sums
	Saved  int64   `json:"saved_pusd"` // negative if writes cost more than reads saved
	Rates  Rates   `json:"rates"`
	Causes []Cause `json:"causes"` // of misses, most frequent first
}

// Rates are shares from 0 to 1, each of what its name says; nil if there is
// nothing to divide by.
type Rates struct {
	OfInputTokens *float64 `json:"hit_rate_of_input_tokens"` // tokens read of all input tokens
	OfRequests    *float64 `json:"hit_rate_of_requests"`     // requests that read anything of all with a count of reads
	OfCost        *float64 `json:"saved_of_uncached_cost"`   // money saved of the price had nothing been cached; may be negative
}

// A Cause is how often a cause was seen, and what it cost.
type Cause struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
	Missed   int64  `json:"missed_tokens"`
	Lost     int64  `json:"lost_pusd"`
}

// A Step is one span of time.
type Step struct {
	Start time.Time `json:"start"`
	Group
}

// A Model is the sums of one model.
type Model struct {
	Name string `json:"name"`
	Group
}

func groupOf(s Sums) Group {
	g := Group{Sums: s, Saved: s.Saved(), Causes: []Cause{}, Rates: Rates{
		OfInputTokens: share(s.Read, s.input()), OfRequests: share(s.Hits, s.Told), OfCost: share(s.Saved(), s.Uncached),
	}}
	for i, c := range s.causes {
		if c.requests > 0 {
			g.Causes = append(g.Causes, Cause{causeNames[i], c.requests, c.missed, c.lost})
		}
	}
	slices.SortStableFunc(g.Causes, func(a, b Cause) int { return cmp.Compare(b.Requests, a.Requests) })
	return g
}

func share(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	f := float64(part) / float64(whole)
	return &f
}

// active is how long a session counts as active after an answer.
const active = 5 * time.Minute

// recentShown is how many sessions a summary lists.
const recentShown = 12

// Summary returns the overview of now.
func (o *Overview) Summary() Summary {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now().UTC()
	s := Summary{Now: now, Past: o.past, Total: groupOf(o.total), Known: len(o.sessions.of), Alarms: len(o.alarms), Models: []Model{}, Recent: []Session{}}
	minutes, from := o.minutes.latest(now)
	s.Minutes, s.Hour = steps(minutes, from, time.Minute), groupOf(sum(minutes))
	hours, from := o.hours.latest(now)
	s.Hours, s.Day = steps(hours, from, time.Hour), groupOf(sum(hours[len(hours)-24:]))
	for name, m := range o.models {
		s.Models = append(s.Models, Model{name, groupOf(*m)})
	}
	slices.SortFunc(s.Models, func(a, b Model) int { return cmp.Or(cmp.Compare(b.Paid, a.Paid), cmp.Compare(a.Name, b.Name)) })
	s.Active, s.Recent = o.sessions.recent(now)
	s.Misses = slices.DeleteFunc(slices.Clone(o.misses), func(m Miss) bool { return now.Sub(m.Time) > missAge })
	slices.SortFunc(s.Misses, func(a, b Miss) int { return cmp.Compare(b.Cause.Lost, a.Cause.Lost) })
	return s
}

func steps(list []Sums, from time.Time, step time.Duration) []Step {
	out := make([]Step, len(list))
	for i := range list {
		out[i] = Step{from.Add(time.Duration(i) * step), groupOf(list[i])}
	}
	return out
}

func sum(list []Sums) Sums {
	var total Sums
	for i := range list {
		total.plus(&list[i])
	}
	return total
}

// recent counts the active sessions, and returns those used last.
func (x *index) recent(now time.Time) (activeOnes int, list []Session) {
	list = []Session{}
	for e := x.first().next; e != &x.ends && now.Sub(e.Last) <= active; e = e.next {
		activeOnes++
	}
	for e := x.first().next; e != &x.ends && len(list) < recentShown; e = e.next {
		list = append(list, e.Session)
	}
	return activeOnes, list
}
