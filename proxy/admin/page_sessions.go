package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A query selects and orders sessions of the overview.
type query struct {
	Text     string // in the session's name, tenant, model or prefix
	Route    string
	Cause    string
	Decision string
	Prefix   string
	Sort     string // last, since, requests, input, read, hit, paid, saved, lost, misses
	Up       bool   // least first
	From, N  int
}

// orders compare sessions, greatest first.
var orders = map[string]func(a, b *Session) int{
	"last":     func(a, b *Session) int { return b.Last.Compare(a.Last) },
	"since":    func(a, b *Session) int { return b.Since.Compare(a.Since) },
	"requests": func(a, b *Session) int { return cmp.Compare(b.Requests, a.Requests) },
	"input":    func(a, b *Session) int { return cmp.Compare(b.Input, a.Input) },
	"hit":      func(a, b *Session) int { return cmp.Compare(b.hit(), a.hit()) },
	"paid":     func(a, b *Session) int { return cmp.Compare(b.Paid, a.Paid) },
	"saved":    func(a, b *Session) int { return cmp.Compare(b.Saved(), a.Saved()) },
	"lost":     func(a, b *Session) int { return cmp.Compare(b.Lost, a.Lost) },
	"misses":   func(a, b *Session) int { return cmp.Compare(b.Misses, a.Misses) },
}

// hit is the hit rate of input tokens; sessions without one come last.
func (s *Session) hit() float64 {
	if s.Input == 0 {
		return -1
	}
	return float64(s.Read) / float64(s.Input)
}

// HitRate is the hit rate of input tokens, nil if it is not told.
func (s *Session) HitRate() *float64 { return share(s.Read, s.Input) }

// sessionsAtOnce is how many a page lists.
const sessionsAtOnce = 50

func parseQuery(q url.Values) (query, error) {
	got := query{Text: q.Get("q"), Route: q.Get("route"), Cause: q.Get("cause"), Decision: q.Get("decision"), Prefix: q.Get("prefix"), Sort: q.Get("sort"), Up: q.Get("order") == "up", N: sessionsAtOnce}
	if got.Sort == "" {
		got.Sort = "last"
	}
	if orders[got.Sort] == nil {
		return got, fmt.Errorf("%w: there is no order %.40q", errAsked, got.Sort)
	}
	for _, f := range []struct {
		name string
		to   *int
		most int
	}{{"from", &got.From, sessionsKept}, {"n", &got.N, 1000}} {
		text := q.Get(f.name)
		if text == "" {
			continue
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i > f.most {
			return got, fmt.Errorf("%w: %s is to be a number from 0 to %d", errAsked, f.name, f.most)
		}
		*f.to = i
	}
	return got, nil
}

func (q *query) selects(s *Session) bool {
	has := func(want, is string) bool { return want == "" || want == is }
	if !has(q.Route, s.Route) || !has(q.Cause, s.Cause) || !has(q.Decision, s.Decision) || !has(q.Prefix, s.Prefix) {
		return false
	}
	return q.Text == "" || strings.Contains(s.Session, q.Text) || strings.HasPrefix(s.Tenant, q.Text) || strings.Contains(s.Model, q.Text)
}

// order returns what compares two sessions as the query wants.
func (q *query) order() func(a, b *entry) int {
	first := orders[q.Sort]
	return func(a, b *entry) int {
		c := first(&a.Session, &b.Session)
		switch {
		case c != 0 && q.Up:
			return -c
		case c != 0:
			return c
		}
		if c = strings.Compare(a.Session.Session, b.Session.Session); c != 0 {
			return c
		}
		return strings.Compare(a.Tenant, b.Tenant)
	}
}

// A Found is what a query gave.
type Found struct {
	Sessions []Session `json:"sessions"`
	From     int       `json:"from"`
	Matched  int       `json:"matched"` // sessions that the query selects
	Known    int       `json:"known"`   // sessions that were looked at
}

// find answers a query from memory: it asks nothing of the log.
func (o *Overview) find(q query) Found {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := Found{Sessions: []Session{}, From: q.From, Known: len(o.sessions.of)}
	best := selection{order: q.order(), most: q.From + q.N}
	for _, e := range o.sessions.of {
		if q.selects(&e.Session) {
			f.Matched++
			best.offer(e)
		}
	}
	for _, e := range best.sorted()[min(q.From, len(best.list)):] {
		f.Sessions = append(f.Sessions, e.Session)
	}
	return f
}

// A selection keeps the first of what it is offered, so that the first page of a
// hundred thousand sessions costs no sort of all. It keeps up to twice as many as
// are wanted, and now and then drops those that come after.
type selection struct {
	order func(a, b *entry) int
	most  int
	list  []*entry
	last  *entry // all that were dropped come after it; nil: none were
}

func (s *selection) offer(e *entry) {
	if s.last != nil && s.order(e, s.last) > 0 {
		return
	}
	if s.list = append(s.list, e); len(s.list) >= 2*s.most+64 {
		s.sorted()
		if s.most > 0 {
			s.last = s.list[s.most-1]
		}
	}
}

// sorted returns the first ones in order.
func (s *selection) sorted() []*entry {
	slices.SortFunc(s.list, s.order)
	s.list = s.list[:min(s.most, len(s.list))]
	return s.list
}

// A sessionsView is the page of sessions.
type sessionsView struct {
	Frame frame
	Found
	Query      query
	Past       Past
	Full       bool // older sessions have no place in memory
	Columns    []column
	CauseNames []string
	Prev, Next string // links; empty if there is no such page
	To         int
}

// A column is a head of the table, which orders by it.
type column struct{ Name, Link, Order string }

func (p *pages) sessionList(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		p.sorry(w, err)
		return
	}
	v := sessionsView{Frame: p.frame("Sessions", "sessions"), Found: p.Overview.find(q), Query: q, Past: p.Overview.pastNow(), CauseNames: causeNames[:]}
	v.Frame.Live, v.Frame.JSON = true, "/api/sessions?"+q.values().Encode()
	v.Full = v.Known >= sessionsKept
	v.To = v.From + len(v.Sessions)
	for _, c := range [][2]string{{"session", ""}, {"last", "last"}, {"hit rate", "hit"}, {"paid", "paid"}, {"saved", "saved"}, {"lost", "lost"}, {"requests", "requests"}, {"input tokens", "input"}, {"last cause", ""}} {
		v.Columns = append(v.Columns, q.column(c[0], c[1]))
	}
	if q.From > 0 {
		v.Prev = q.page(max(0, q.From-q.N))
	}
	if v.To < v.Matched && q.N > 0 {
		v.Next = q.page(q.From + q.N)
	}
	p.show(w, http.StatusOK, "sessions.html", v)
}

// column is a head that orders by key, the other way round if it does already.
func (q query) column(name, key string) column {
	if key == "" {
		return column{Name: name}
	}
	c := column{Name: name}
	q.From = 0
	if q.Sort == key {
		c.Order = "descending"
		if q.Up {
			c.Order = "ascending"
		}
		q.Up = !q.Up
	} else {
		q.Sort, q.Up = key, false
	}
	c.Link = "/sessions?" + q.values().Encode()
	return c
}

func (q query) page(from int) string {
	q.From = from
	return "/sessions?" + q.values().Encode()
}

func (q query) values() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{"q": q.Text, "route": q.Route, "cause": q.Cause, "decision": q.Decision, "prefix": q.Prefix} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.Sort != "last" {
		v.Set("sort", q.Sort)
	}
	if q.Up {
		v.Set("order", "up")
	}
	if q.From > 0 {
		v.Set("from", strconv.Itoa(q.From))
	}
	if q.N != sessionsAtOnce {
		v.Set("n", strconv.Itoa(q.N))
	}
	return v
}

// pastNow is what is known of the time before the process, so far.
func (o *Overview) pastNow() Past {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.past
}

// alarmed is how many alarms there are.
func (o *Overview) alarmed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.alarms)
}

// alarmList returns the alarms, newest first.
func (o *Overview) alarmList() []Alarm {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := make([]Alarm, 0, len(o.alarms))
	list = append(list, o.alarms...)
	sortNewest(list, func(a *Alarm) time.Time { return a.Time })
	return list
}
