package proxy

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/explain"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// An accountant prices answers and says why their cache reads fell short, off
// the requests' way: it takes what is known at an answer's end, and hands the
// response record on to the log's queue when it has filled it in. It is bounded:
// answers that come faster than it works are recorded without cost and cause,
// and counted.
//
// A crash loses what it holds with what the queue holds: both together wait no
// longer than the 100 ms that a crash may cost (DESIGN.md 6).
type accountant struct {
	queue    *logsink.Queue
	counters *telemetry.Counters
	log      *slog.Logger
	observe  func(*logsink.Request, *logsink.Response)                // may be nil
	alarm    func(name, detail string, k logsink.Key, request string) // may be nil
	pipeline *telemetry.Pipeline
	tracker  *explain.Tracker // the goroutine's

	mu      sync.Mutex // guards the following
	pending []answer
	spare   []answer // an empty array for the next batch, if there is one
	waiting int      // answers in pending, and of the batch under work
	closed  bool
	passed  int64 // answers that there was no room for

	first chan struct{} // pending is not empty any more
	quit  chan struct{} // closed by close: do what is there
	ended chan struct{} // closed when the goroutine is over
}

// An answer is one that ended, with what its accounting needs of the request; or,
// with a call and nothing else, the texts of one that is still to come; or, with
// seen, an exchange that is over, for its spans.
type answer struct {
	seen   *observed
	req    *logsink.Request
	resp   *logsink.Response // the accountant's until it is in the queue
	call   *explain.Request  // nil if it is not to be explained
	prices *usage.Prices
	query  usage.Query
	usage  usage.Usage
	// iterations are those of which usage is the sum, nil if it is of one
	iterations []usage.Iteration

	before int    // bytes of the prompt that stand before the prefix
	line   string // the thread as the tracker knows it
}

const (
	// accountEvery is how long an answer waits at most: to be woken for each
	// would cost as much as what is done.
	accountEvery = 15 * time.Millisecond
	maxAnswers   = 16384
)

func newAccountant(d Deps) *accountant {
	a := &accountant{
		queue: d.Queue, counters: d.Counters, log: d.Logger, observe: d.Observe, alarm: d.Alarm, pipeline: d.Pipeline,
		tracker: explain.NewTracker(explain.Options{}),
		first:   make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	go a.work()
	return a
}

// quote hands over the texts of a request's header, which are large, while its
// answer is waited for: that may take minutes. If there is no room they are only
// wanting in the detail of a cause.
func (a *accountant) quote(call *explain.Request) {
	a.take(answer{call: &explain.Request{
		Dialect: call.Dialect, Model: call.Model, Tools: call.Tools, System: call.System, Parameters: call.Parameters,
	}})
	call.Tools.Bytes, call.System.Bytes, call.Parameters.Bytes = nil, nil, nil
}

// put hands over an answer and never blocks.
func (a *accountant) put(ans answer) {
	if !a.take(ans) {
		a.queue.Put(logsink.Record{Response: ans.resp})
	}
}

func (a *accountant) take(ans answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.waiting >= maxAnswers {
		if ans.resp != nil {
			a.passed++
		}
		return false
	}
	a.waiting++
	if a.pending = append(a.pending, ans); len(a.pending) == 1 {
		select {
		case a.first <- struct{}{}:
		default: // a signal that was not taken yet is enough
		}
	}
	return true
}

// depth is how many answers are not done, passedOver how many were not accounted
// for.
func (a *accountant) depth() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting
}

func (a *accountant) passedOver() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.passed
}

// close takes no more answers and returns when those there are are done.
func (a *accountant) close() {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		close(a.quit)
	}
	a.mu.Unlock()
	<-a.ended
}

// work does batches until close, and then what is left. An idle accountant
// sleeps.
func (a *accountant) work() {
	defer close(a.ended)
	for a.wait() {
		a.batch()
	}
	a.batch()
}

func (a *accountant) wait() bool {
	select {
	case <-a.first:
	case <-a.quit:
		return false
	}
	timer := time.NewTimer(accountEvery)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.quit:
		return false
	}
}

// batch does what is there.
func (a *accountant) batch() {
	a.mu.Lock()
	batch := a.pending
	a.pending, a.spare = a.spare, nil
	a.mu.Unlock()
	for i := range batch {
		a.account(&batch[i])
	}
	n := len(batch)
	clear(batch)
	a.mu.Lock()
	a.spare, a.waiting = batch[:0], a.waiting-n
	a.mu.Unlock()
}

// account fills in one record and hands it on. A panic on the way costs its
// cost and cause, and no record.
func (a *accountant) account(ans *answer) {
	if ans.seen != nil {
		a.observeOver(ans.seen)
		return
	}
	if ans.resp == nil {
		defer a.recovered()
		a.tracker.Learn(ans.call)
		return
	}
	defer a.queue.Put(logsink.Record{Response: ans.resp})
	defer a.recovered()
	a.price(ans)
	a.explain(ans)
	a.count(ans)
	if a.observe != nil {
		a.observe(ans.req, ans.resp)
	}
}

func (a *accountant) recovered() {
	if p := recover(); p != nil {
		a.counters.Panic()
		a.log.Error("BUG: panic in accounting for an answer; it is recorded without", "stack", string(debug.Stack()))
	}
}

// count counts what was filled in.
func (a *accountant) count(ans *answer) {
	to, dialect := a.counters.Accounts, ans.req.Dialect
	if c := ans.resp.Cost; c != nil {
		to.Cost(dialect, usage.Money(c.Paid), usage.Money(c.Uncached), usage.Money(c.Prefix))
	}
	if why := ans.resp.Unpriced; why != "" {
		to.Unpriced(dialect, why)
	}
	if c := ans.resp.Cause; c != nil {
		to.Shortfall(dialect, c.Name, c.Owner, c.Missed, usage.Money(c.Lost))
	}
}

// explain fills in the cause, if the read fell short of anything.
func (a *accountant) explain(ans *answer) {
	call := ans.call
	if call == nil || ans.resp.Status/100 != 2 {
		return // an error leaves nothing in a cache
	}
	call.Usage, call.Complete = ans.first(), ans.resp.End == logsink.EndComplete
	v, alarms := a.tracker.Observe(ans.line, call)
	for _, al := range alarms {
		a.raise(al, ans.req)
	}
	a.compare(ans, &v)
	if v.Cause == "" {
		return
	}
	c := &logsink.Cause{
		Name: v.Cause, Owner: v.Owner, Section: v.Section, Detail: v.Detail, Offset: place(v.Offset), Index: place(v.Index),
		Expected: v.Expected, Missed: v.Missed, Waste: v.Waste, Against: v.Against, Provider: call.Verdict,
	}
	if rate, ok := ans.prices.Find(ans.query); ok && ans.resp.Cost != nil {
		c.Lost = int64(rate.Lost(ans.query, ans.first(), v.Missed))
	}
	ans.resp.Cause = c
}

// place is a pointer to an offset or index, nil if there is none.
func place(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

func (a *accountant) raise(al explain.Alarm, r *logsink.Request) {
	a.counters.Accounts.Alarm(al.Name)
	a.log.Warn("cache alarm", "alarm", al.Name, "detail", al.Detail, "tenant", r.Tenant, "session", r.Session, "request", r.ID)
	if a.alarm != nil {
		a.alarm(al.Name, al.Detail, r.Key, r.ID)
	}
}
