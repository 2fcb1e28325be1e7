package admin

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

const eventsPath = "/api/events"

// Streams of events: how many at once, how often each tells of a change, and
// after how long it ends, upon which browsers ask again.
const (
	streamsMost  = 32
	streamEvery  = 2 * time.Second
	streamAge    = 10 * time.Minute
	streamPing   = 15 // rounds without a change until a line keeps the connection
	streamWrites = 10 * time.Second
)

// streams counts those that run.
type streams struct{ running atomic.Int64 }

// events tells the version of what was observed, at first and when it changes. It
// says no more: whoever shows another version asks for what it shows.
func (p *pages) events(w http.ResponseWriter, r *http.Request) {
	if p.streams.running.Add(1) > streamsMost {
		p.streams.running.Add(-1)
		w.Header().Set("Retry-After", "30")
		text(w, http.StatusServiceUnavailable, fmt.Sprintf("%d streams of events are open, which is the most there may be", streamsMost))
		return
	}
	defer p.streams.running.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	s := stream{w: w, c: http.NewResponseController(w)}
	tick := time.NewTicker(p.Overview.every)
	defer tick.Stop()
	end := time.NewTimer(streamAge)
	defer end.Stop()
	last, quiet := p.Overview.versionNow(), 0
	if !s.send(fmt.Sprintf("retry: 5000\nevent: change\nid: %d\ndata: {\"version\":%d}\n\n", last, last)) {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-p.Overview.stopped:
			return
		case <-end.C:
			return
		case <-tick.C:
		}
		now := p.Overview.versionNow()
		if quiet++; now != last {
			last, quiet = now, 0
			if !s.send(fmt.Sprintf("event: change\nid: %d\ndata: {\"version\":%d}\n\n", now, now)) {
				return
			}
		}
		if quiet == streamPing {
			quiet = 0
			if !s.send(": still here\n\n") {
				return
			}
		}
	}
}

// A stream is one connection that listens.
type stream struct {
	w http.ResponseWriter
	c *http.ResponseController
}

// send writes and reports whether there is still somebody. Each write has its own
// deadline, since the server's is for a whole answer.
func (s stream) send(event string) bool {
	_ = s.c.SetWriteDeadline(time.Now().Add(streamWrites)) // not every writer has one
	if _, err := s.w.Write([]byte(event)); err != nil {
		return false
	}
	return s.c.Flush() == nil
}

// versionNow changes when anything is observed.
func (o *Overview) versionNow() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.version
}
