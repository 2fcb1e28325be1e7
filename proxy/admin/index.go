package admin

import (
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A Session is what an Overview knows of one session.
type Session struct {
	logsink.Key
	Epoch    int       `json:"epoch"` // latest
	Decision string    `json:"decision,omitempty"`
	Why      string    `json:"why,omitempty"`
	Prefix   string    `json:"prefix,omitempty"`
	Route    string    `json:"route,omitempty"`
	Model    string    `json:"model,omitempty"`
	Cause    string    `json:"cause,omitempty"` // of the latest miss
	Since    time.Time `json:"since"`
	Last     time.Time `json:"last"`

	// The numbers are of the answers that were observed; Listed says that there
	// are none yet, and the session is known from the log alone.
	Listed   bool  `json:"listed,omitempty"`
	Requests int64 `json:"requests"`
	Failed   int64 `json:"failed"`
	Misses   int64 `json:"misses"` // with a cause, expected or not
	Input    int64 `json:"input"`  // of the requests whose reads are told
	Read     int64 `json:"read"`
	Output   int64 `json:"output"`
	Priced   int64 `json:"priced"` // requests with a cost; the sums below are theirs
	Paid     int64 `json:"paid_pusd"`
	Uncached int64 `json:"uncached_pusd"`
	Lost     int64 `json:"lost_pusd"`

	resolved int // epoch whose anchor Decision, Why and Prefix are of
	asked    int // epoch whose anchor was asked for
}

// Saved is what caching saved; negative if writes cost more than reads saved.
func (s *Session) Saved() int64 { return s.Uncached - s.Paid }

// An index holds the sessions that were used last.
type index struct {
	most  int
	of    map[logsink.Key]*entry
	ends  entry // next is the session used last, prev the one used longest ago
	want  []logsink.Key
	awake chan struct{}     // want has something
	names map[string]string // one copy of what many sessions have in common
}

// wantMost bounds want: a session that finds no place asks at its next answer.
const wantMost = 4096

type entry struct {
	Session
	prev, next *entry
}

func newIndex(most int) index {
	return index{most: most, of: map[logsink.Key]*entry{}, awake: make(chan struct{}, 1), names: map[string]string{}}
}

// observe takes in an answer. One that was just given makes its session the one
// used last; one of the past leaves it where it is.
func (x *index) observe(req *logsink.Request, resp *logsink.Response, past bool) {
	e := x.of[req.Key]
	if !past || e == nil {
		e = x.used(req.Key, req.Time)
	}
	e.Listed = false
	if e.Last.Before(resp.Time) {
		e.Last = resp.Time
	}
	if e.Epoch < req.Epoch {
		e.Epoch = req.Epoch
	}
	if e.resolved < e.Epoch && e.asked < e.Epoch {
		x.ask(e)
	}
	if e.Route != req.Route {
		e.Route = x.name(req.Route)
	}
	if m := clip(model(req, resp)); m != "" && e.Model != m {
		e.Model = x.name(m)
	}
	e.add(req, resp)
}

// add counts an answer.
func (s *Session) add(req *logsink.Request, resp *logsink.Response) {
	if req.Class == "count" {
		return
	}
	s.Requests++
	if resp.Failed() {
		s.Failed++
	}
	if u := resp.Usage; u != nil {
		s.Output += tokens(u.Output)
		if u.CacheRead != nil {
			s.Read += *u.CacheRead
			s.Input += *u.CacheRead + tokens(u.Fresh) + written(u)
		}
	}
	if c := resp.Cost; c != nil {
		s.Priced++
		s.Paid += c.Paid
		s.Uncached += c.Uncached
	}
	if c := resp.Cause; c != nil {
		s.Misses++
		s.Lost += c.Lost
		s.Cause = causeNames[causeNumber(c.Name)]
	}
}

// used returns the entry of a session, made if need be, as the one used last.
func (x *index) used(k logsink.Key, since time.Time) *entry {
	e := x.of[k]
	if e == nil {
		e = x.add(k, since)
	} else {
		e.unlink()
	}
	x.first().link(e)
	return e
}

// add makes an entry, which is not yet in the order; the one used longest ago
// goes if there are too many.
func (x *index) add(k logsink.Key, since time.Time) *entry {
	if len(x.of) >= x.most {
		old := x.ends.prev
		old.unlink()
		delete(x.of, old.Key)
	}
	k = logsink.Key{Tenant: x.name(k.Tenant), Session: strings.Clone(k.Session)}
	e := &entry{Session: Session{Key: k, Since: since, Last: since}}
	x.of[k] = e
	return e
}

// namesMost bounds names; beyond it each session has its own copy.
const namesMost = 4096

// name returns a copy of a text, the same one for equal texts.
func (x *index) name(s string) string {
	if known, ok := x.names[s]; ok {
		return known
	}
	s = strings.Clone(s)
	if len(x.names) < namesMost {
		x.names[s] = s
	}
	return s
}

// order puts all entries into the order in which they were used.
func (x *index) order() {
	list := make([]*entry, 0, len(x.of))
	for _, e := range x.of {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return a.Last.Compare(b.Last) })
	for _, e := range list {
		e.unlink()
		x.first().link(e)
	}
}

// first is the place before the session used last.
func (x *index) first() *entry {
	if x.ends.next == nil {
		x.ends.next, x.ends.prev = &x.ends, &x.ends
	}
	return &x.ends
}

// link puts e behind at.
func (at *entry) link(e *entry) {
	e.prev, e.next = at, at.next
	at.next.prev, at.next = e, e
}

func (e *entry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

// ask asks for the anchor of the session's epoch, which says its prefix.
func (x *index) ask(e *entry) {
	if len(x.want) >= wantMost {
		return
	}
	e.asked = e.Epoch
	x.want = append(x.want, e.Key)
	select {
	case x.awake <- struct{}{}:
	default:
	}
}
