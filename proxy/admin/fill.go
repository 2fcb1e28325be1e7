package admin

import (
	"context"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// How much of the log is read at start, and how fast: the machine has agents to
// serve.
const (
	fillAge      = 24 * time.Hour
	fillTime     = time.Minute
	fillRecords  = 50_000 // of one session
	fillSessions = 20_000
	duty         = 2                     // works one of so many moments
	stretch      = 20 * time.Millisecond // works so long without a pause
)

// Past says what is known of the time before the process.
type Past struct {
	Began    time.Time `json:"began"`             // of the process; since then it counts itself
	From     time.Time `json:"from"`              // answers since then are counted from the log
	Sessions int       `json:"sessions"`          // whose answers were read
	Of       int       `json:"of"`                // sessions that were used since From
	Done     bool      `json:"done"`              // no more is read
	Trouble  string    `json:"trouble,omitempty"` // why not all was read
}

// fill reads what the log has of the time before, and then prefixes of sessions
// as they are asked for, until ctx ends.
func (o *Overview) fill(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, fillTime)
	recent, err := o.list(limited)
	if err == nil {
		err = o.readPast(limited, recent)
	}
	cancel()
	o.mu.Lock()
	o.version++
	o.past.Done = true
	if err != nil {
		o.past.Trouble = err.Error()
	}
	o.mu.Unlock()
	o.resolve(ctx)
}

// list takes in the log's list of sessions and returns those used of late.
func (o *Overview) list(ctx context.Context) ([]logsink.Key, error) {
	from := o.began.Add(-fillAge)
	o.mu.Lock()
	o.past.From = from
	o.mu.Unlock()
	var recent []logsink.Key
	n, since := 0, time.Now()
	err := o.log.Sessions(ctx, "", "", func(i logsink.SessionInfo) bool {
		n++
		if worked := time.Since(since); worked > stretch {
			pause(ctx, worked*(duty-1)) // the log tells when ctx ends
			since = time.Now()
		}
		if i.LastTime.After(from) && len(recent) < fillSessions {
			recent = append(recent, i.Key)
		}
		o.know(i)
		return n < sessionsKept
	})
	o.mu.Lock()
	o.sessions.order()
	o.mu.Unlock()
	return recent, err
}

// know takes in what the log says of a session, behind those that are known
// already.
func (o *Overview) know(i logsink.SessionInfo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.version++
	x := &o.sessions
	e := x.of[i.Key]
	switch {
	case e != nil:
	case len(x.of) >= x.most:
		return
	default:
		e = x.add(i.Key, i.Since)
		e.Listed = true
		x.first().prev.link(e)
	}
	e.Since = i.Since
	if i.LastTime.After(e.Last) {
		e.Last = i.LastTime
	}
	if i.Epochs >= e.Epoch {
		e.Epoch, e.resolved = i.Epochs, i.Epochs
		e.Decision, e.Why, e.Prefix, e.Route = x.name(i.Decision), x.name(i.Why), x.name(i.Prefix), x.name(i.Route)
	}
}

// readPast counts the answers of sessions that ended before the process began.
func (o *Overview) readPast(ctx context.Context, recent []logsink.Key) error {
	o.mu.Lock()
	o.past.Of = len(recent)
	o.mu.Unlock()
	for _, k := range recent {
		start := time.Now()
		if err := o.readSession(ctx, k); err != nil {
			return err
		}
		if !pause(ctx, time.Since(start)*(duty-1)) {
			return ctx.Err()
		}
	}
	return nil
}

func (o *Overview) readSession(ctx context.Context, k logsink.Key) error {
	open := map[string]*logsink.Request{} // by id, the latest attempt
	n := 0
	err := o.log.Records(ctx, k, 0, func(_ int64, r logsink.Record) bool {
		n++
		switch {
		case r.Request != nil:
			open[r.Request.ID] = r.Request
		case r.Response != nil && open[r.Response.ID] != nil:
			o.recall(open[r.Response.ID], r.Response)
			delete(open, r.Response.ID)
		}
		return n < fillRecords
	})
	o.mu.Lock()
	o.past.Sessions++
	o.mu.Unlock()
	return err
}

// recall counts an answer from the log unless this process has observed it, or
// it is older than what is shown.
func (o *Overview) recall(req *logsink.Request, resp *logsink.Response) {
	if !resp.Time.Before(o.began) || resp.Time.Before(o.began.Add(-fillAge)) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.observe(req, resp, true)
}

// resolve looks up the prefixes of sessions that were begun or resumed.
func (o *Overview) resolve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.sessions.awake:
		}
		o.mu.Lock()
		want := o.sessions.want
		o.sessions.want = nil
		o.mu.Unlock()
		for _, k := range want {
			start := time.Now()
			o.lookUp(ctx, k)
			if !pause(ctx, time.Since(start)*(duty-1)) {
				return
			}
		}
	}
}

// lookUp takes in a session's latest anchor. If there is none to be had, the
// next answer asks again.
func (o *Overview) lookUp(ctx context.Context, k logsink.Key) {
	limited, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	anchors, err := o.log.Anchors(limited, k)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.version++
	e := o.sessions.of[k]
	switch {
	case e == nil:
	case err != nil || len(anchors) == 0:
		e.asked = 0
	default:
		a := anchors[len(anchors)-1]
		e.resolved = a.Epoch
		x := &o.sessions
		e.Decision, e.Why, e.Prefix = x.name(a.Decision), x.name(a.Why), x.name(a.Prefix)
		e.asked = 0
	}
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
