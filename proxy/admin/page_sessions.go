package admin

import (
	"cmp"
	"container/heap"
	"fmt"
	"net/http"
	"net/url"
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

// compare orders two sessions as the query wants.
func (q *query) compare(a, b *Session) int {
	c := orders[q.Sort](a, b)
	if q.Up {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(a.Session, b.Session), cmp.Compare(a.Tenant, b.Tenant))
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
	best := worstFirst{q: &q}
	for _, e := range o.sessions.of {
		if !q.selects(&e.Session) {
			continue
		}
		f.Matched++
		best.offer(e, q.From+q.N)
	}
	for best.Len() > q.From { // the worst comes first
		f.Sessions = append(f.Sessions, heap.Pop(&best).(*entry).Session)
	}
	for i, j := 0, len(f.Sessions)-1; i < j; i, j = i+1, j-1 {
		f.Sessions[i], f.Sessions[j] = f.Sessions[j], f.Sessions[i]
	}
	return f
}

// worstFirst is a heap of the best sessions so far, so that a page of a hundred
// thousand costs no sort of all.
type worstFirst struct {
	q    *query
	list []*entry
}

func (h *worstFirst) Len() int { return len(h.list) }
func (h *worstFirst) Less(i, j int) bool {
	return h.q.compare(&h.list[i].Session, &h.list[j].Session) > 0
}
func (h *worstFirst) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *worstFirst) Push(x any)    { h.list = append(h.list, x.(*entry)) }
func (h *worstFirst) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

func (h *worstFirst) offer(e *entry, most int) {
	switch {
	case most == 0:
	case len(h.list) < most:
		heap.Push(h, e)
	case h.q.compare(&e.Session, &h.list[0].Session) < 0:
		h.list[0] = e
		heap.Fix(h, 0)
	}
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
	for _, c := range [][2]string{{"session", ""}, {"last", "last"}, {"requests", "requests"}, {"input tokens", "input"}, {"hit rate", "hit"}, {"paid", "paid"}, {"saved", "saved"}, {"lost", "lost"}, {"last cause", ""}} {
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
