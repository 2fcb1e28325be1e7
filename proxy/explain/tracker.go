package explain

import "container/list"

// Options bound a Tracker. A zero field is its default.
type Options struct {
	Threads  int // threads that are remembered, the most recently used; 10,000
	Messages int // messages of all threads together, 16 bytes or a few times that each; 4,000,000
	Texts    int // bytes of sections, each distinct one counted once; 64 MiB
	Openings int // openings by which the first requests of threads are compared; 4,096
}

func (o Options) withDefaults() Options {
	set := func(n *int, usual int) {
		if *n <= 0 {
			*n = usual
		}
	}
	set(&o.Threads, 10_000)
	set(&o.Messages, 4_000_000)
	set(&o.Texts, 64<<20)
	set(&o.Openings, 4096)
	return o
}

// A Tracker explains requests as their answers come in. It is not safe for use
// by several goroutines at once.
//
// What a thread's next request is compared with is the line that it continues:
// the way its prompt went so far. One that continues no line is compared with
// the line that it shares most with; where several share as much (a nonce in the
// system prompt shares nothing behind it with any of them), with the one that
// was settled last. A line is settled if it is the thread's first, or if two
// requests in a row were on it. So
//
//   - a drift that goes on, A→B→C…, is explained against A each time;
//   - a change that stays, A→B→B, is explained once, and B is what counts then;
//   - A→B→A finds A again, while it lives in the provider's cache.
type Tracker struct {
	options  Options
	threads  map[string]*list.Element // of *thread
	order    *list.List               // latest use first
	messages int                      // kept, in all threads
	texts    *texts
	openings *openings
	models   map[modelKey]rules
	now      call // the one under examination, here so that it is not allocated
}

type modelKey struct{ dialect, model string }

// maxModels bounds what is remembered of models: their names are the clients'.
const maxModels = 1024

// NewTracker returns an empty Tracker.
func NewTracker(o Options) *Tracker {
	o = o.withDefaults()
	return &Tracker{
		options: o, threads: map[string]*list.Element{}, order: list.New(),
		texts: newTexts(o.Texts), openings: newOpenings(o.Openings), models: map[modelKey]rules{},
	}
}

// A thread is what is kept of one.
type thread struct {
	name     string
	lines    []*line // latest use first, at most maxLines
	messages int     // in all lines
	alert    alert
}

const maxLines = 4

// Learn keeps the texts of a request's sections ahead of its answer, so that
// whoever waits for that need not: the request may then be observed without them.
// Of r only the dialect, the model and the sections need be set.
func (t *Tracker) Learn(r *Request) {
	kind := t.rules(r).kind
	t.texts.take(&r.Tools, inTools, kind)
	t.texts.take(&r.System, inSystem, kind)
	t.texts.take(&r.Parameters, inParameters, kind)
}

// Observe takes in one request with its answer, in the order of the answers, and
// says why it read less from the cache than it could have. thread names the line
// of history that it belongs to, over all epochs. Of r it keeps strings and the
// sections' bytes, which nobody may change afterwards, and nothing else.
func (t *Tracker) Observe(thread string, r *Request) (Verdict, []Alarm) {
	th := t.thread(thread)
	c := &t.now
	*c = t.texts.callOf(r, t.rules(r))
	m := th.match(c)
	v := t.judge(th, c, m)
	alarms := th.alarms(c, &v)
	if c.counted() {
		t.advance(th, c, m)
	}
	t.evict(th)
	c.Request = nil
	return v, alarms
}

func (t *Tracker) thread(name string) *thread {
	if e, ok := t.threads[name]; ok {
		t.order.MoveToFront(e)
		return e.Value.(*thread)
	}
	th := &thread{name: name}
	t.threads[name] = t.order.PushFront(th)
	return th
}

func (t *Tracker) rules(r *Request) rules {
	key := modelKey{r.Dialect, r.Model}
	ru, ok := t.models[key]
	if !ok {
		if len(t.models) >= maxModels {
			clear(t.models)
		}
		ru = rulesOf(r.Dialect, r.Model)
		t.models[key] = ru
	}
	return ru
}

// A match is the line that a request is compared with, and where it leaves it.
type match struct {
	line  *line // nil if there is none
	level level
	index int  // of the first message that differs, at sameLevel
	late  bool // all lines were begun by later requests
}

func (m match) full() bool {
	return m.line != nil && m.level == sameLevel && m.index == len(m.line.history)
}

// better reports whether m is to be preferred to another.
func (m match) better(o match) bool {
	switch {
	case o.line == nil:
		return true
	case m.level != o.level:
		return m.level > o.level
	case m.index != o.index:
		return m.index > o.index
	}
	return m.line.settled && !o.line.settled
}

func (th *thread) match(c *call) match {
	var best match
	late := false
	for _, l := range th.lines {
		if before(c.Start, l.start) {
			late = true
			continue
		}
		m := match{line: l, level: l.level(c)}
		if m.level == sameLevel {
			m.index = l.shared(c)
		}
		if m.full() {
			return m
		}
		if m.better(best) {
			best = m
		}
	}
	best.late = late && best.line == nil
	return best
}

// advance makes c what the next request is compared with. One that was sent
// before all that was seen says nothing about what the cache holds now.
func (t *Tracker) advance(th *thread, c *call, m match) {
	if m.late {
		return
	}
	t.messages -= th.messages
	switch {
	case m.full():
		m.line.extend(c)
		th.toFront(m.line)
		m.line.opening.used(c)
	default:
		t.branch(th, c, m)
	}
	th.messages = th.count()
	t.messages += th.messages
}

func (o *opening) used(c *call) {
	if o != nil && before(o.start, c.Start) && !before(c.Start, o.begun) {
		o.start = c.Start
	}
}

func (t *Tracker) branch(th *thread, c *call, m match) {
	from, common := th.closest(c)
	if from == nil {
		from = &line{}
	}
	l := from.branch(c, common)
	l.settled = len(th.lines) == 0
	th.lines = append([]*line{l}, th.lines...)
	if len(th.lines) > maxLines {
		th.forget()
	}
	t.openedBy(c, l)
}

// closest is the line whose history a new one can be made of.
func (th *thread) closest(c *call) (*line, int) {
	var best *line
	most := 0
	for _, l := range th.lines {
		if n := l.shared(c); best == nil || n > most {
			best, most = l, n
		}
	}
	return best, most
}

// forget drops the line that was used least recently, but rather one that is
// not settled.
func (th *thread) forget() {
	drop := len(th.lines) - 1
	for i := len(th.lines) - 1; i > 0; i-- {
		if !th.lines[i].settled {
			drop = i
			break
		}
	}
	th.lines = append(th.lines[:drop], th.lines[drop+1:]...)
}

func (th *thread) toFront(l *line) {
	for i, x := range th.lines {
		if x == l {
			copy(th.lines[1:i+1], th.lines[:i])
			th.lines[0] = l
			return
		}
	}
}

func (th *thread) count() int {
	n := 0
	for _, l := range th.lines {
		n += cap(l.history)
	}
	return n
}

// evict forgets the threads that were used least recently, but never the one in use.
func (t *Tracker) evict(inUse *thread) {
	for len(t.threads) > t.options.Threads || t.messages > t.options.Messages {
		e := t.order.Back()
		th := e.Value.(*thread)
		if th == inUse {
			return
		}
		t.order.Remove(e)
		delete(t.threads, th.name)
		t.messages -= th.messages
	}
}
