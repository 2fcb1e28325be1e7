package admin

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// What an Overview remembers at most.
const (
	minutesKept  = 60
	hoursKept    = 72
	sessionsKept = 100_000
	modelsKept   = 48
	missesKept   = 24
	alarmsKept   = 256
	longestName  = 256 // bytes of a name that a client or provider chose
)

// An Overview is what this process knows of its traffic without asking the log:
// sums over time, a line for each session, the misses that cost most, alarms. It
// is bounded, and starts with what the log tells of the time before it.
//
// All methods are safe for concurrent use; those of a nil Overview do nothing.
type Overview struct {
	log   logsink.Reader
	now   func() time.Time
	began time.Time     // answers since are observed, those before are read from the log
	every time.Duration // between two events of a stream

	mu       sync.Mutex // guards the following
	version  uint64     // changes with everything below
	total    Sums
	minutes  ring
	hours    ring
	models   map[string]*Sums
	sessions index
	misses   []Miss
	alarms   []Alarm // oldest first
	past     Past

	stop    context.CancelFunc
	stopped chan struct{} // closed by Close: streams of pages end
	closing sync.Once
	running sync.WaitGroup
}

// NewOverview returns an Overview that fills itself from the log in the
// background until Close. Without a log it begins empty.
func NewOverview(log logsink.Reader) *Overview {
	ctx, stop := context.WithCancel(context.Background())
	o := newOverview(log, time.Now)
	o.stop = stop
	if log != nil {
		o.running.Go(func() { o.fill(ctx) })
	}
	return o
}

func newOverview(log logsink.Reader, now func() time.Time) *Overview {
	return &Overview{
		log: log, now: now, began: now(), every: streamEvery,
		minutes: newRing(time.Minute, minutesKept), hours: newRing(time.Hour, hoursKept),
		models: map[string]*Sums{}, past: Past{Began: now(), From: now()}, sessions: newIndex(sessionsKept), stop: func() {}, stopped: make(chan struct{}),
	}
}

// Close ends what runs in the background, and streams of events. Closing twice is
// closing once.
func (o *Overview) Close() {
	if o == nil {
		return
	}
	o.stop()
	o.closing.Do(func() { close(o.stopped) })
	o.running.Wait()
}

// Observe takes in an answer and the request that it is of. Both may be shared:
// nothing of them is changed or kept but copies of names. It is meant to be called once
// for each answer, off the path of requests.
func (o *Overview) Observe(req *logsink.Request, resp *logsink.Response) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.observe(req, resp, false)
}

func (o *Overview) observe(req *logsink.Request, resp *logsink.Response, past bool) {
	o.version++
	o.total.add(req, resp)
	for _, r := range []*ring{&o.minutes, &o.hours} {
		if s := r.at(resp.Time); s != nil {
			s.add(req, resp)
		}
	}
	o.sumsOf(model(req, resp)).add(req, resp)
	o.sessions.observe(req, resp, past)
	o.note(req, resp)
}

// model is the one that an answer is by.
func model(req *logsink.Request, resp *logsink.Response) string {
	if resp.Model != "" {
		return resp.Model
	}
	return req.Model
}

const otherModels = "(others)"

// sumsOf returns the sums of a model. Clients choose names, so that those beyond
// a number go together.
func (o *Overview) sumsOf(model string) *Sums {
	if s := o.models[clip(model)]; s != nil {
		return s
	}
	if len(o.models) >= modelsKept {
		model = otherModels
		if s := o.models[model]; s != nil {
			return s
		}
	}
	s := new(Sums)
	o.models[strings.Clone(clip(model))] = s
	return s
}

// clip bounds a name that somebody else chose.
func clip(name string) string { return name[:min(len(name), longestName)] }

// A Miss is a cache read that fell short, of the ones that cost most.
type Miss struct {
	logsink.Key
	Request string        `json:"request"`
	Attempt int           `json:"attempt"`
	Cause   logsink.Cause `json:"cause"`
	Time    time.Time     `json:"time"`
}

// missAge is how long a miss can be among the costliest.
const missAge = 24 * time.Hour

// note keeps the answer's miss if it is among the costliest.
func (o *Overview) note(req *logsink.Request, resp *logsink.Response) {
	c := resp.Cause
	if c == nil || c.Lost <= 0 {
		return
	}
	m := Miss{Key: req.Key, Request: req.ID, Attempt: req.Attempt, Cause: *c, Time: resp.Time}
	if len(o.misses) < missesKept {
		o.misses = append(o.misses, m)
		return
	}
	least := 0
	for i := range o.misses {
		if resp.Time.Sub(o.misses[i].Time) > missAge {
			least = i
			break
		}
		if o.misses[i].Cause.Lost < o.misses[least].Cause.Lost {
			least = i
		}
	}
	if old := &o.misses[least]; old.Cause.Lost < c.Lost || resp.Time.Sub(old.Time) > missAge {
		*old = m
	}
}

// An Alarm is something that an operator should look at.
type Alarm struct {
	Name   string `json:"name"`   // what is wrong, in one word
	Detail string `json:"detail"` // one line
	logsink.Key
	Request string    `json:"request,omitempty"`
	Time    time.Time `json:"time"`
	Times   int       `json:"times"` // how often it came, one after the other
}

// Alarm shows an alarm. The one that repeats the latest of its session only
// counts. k and request may be empty.
func (o *Overview) Alarm(name, detail string, k logsink.Key, request string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.version++
	for i := len(o.alarms) - 1; i >= 0; i-- {
		if a := &o.alarms[i]; a.Name == name && a.Key == k {
			a.Times++
			a.Detail, a.Request, a.Time = detail, request, o.now()
			return
		}
	}
	if len(o.alarms) == alarmsKept {
		o.alarms = append(o.alarms[:0], o.alarms[1:]...)
	}
	o.alarms = append(o.alarms, Alarm{Name: name, Detail: detail, Key: k, Request: request, Time: o.now(), Times: 1})
}
