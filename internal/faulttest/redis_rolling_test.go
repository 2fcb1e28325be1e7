package faulttest

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// rounds is how often all replicas are restarted: PREFACE_LIVES, if that is set,
// or less.
func rounds() int {
	switch n := lives(); {
	case n > 0:
		return n
	case testing.Short():
		return 1
	}
	return 2
}

// TestI8_RedisRollingRestart: three replicas are drained and replaced in turn,
// again and again, under agents that stream and agents that do not. Nothing
// fails: an agent goes elsewhere when it is refused a connection, and only then;
// and no connection is refused by a replica that still calls itself ready.
func TestI8_RedisRollingRestart(t *testing.T) {
	t.Parallel()
	st := newStage(t, over(redistest.Start(t).URL(), inMemory), lingers)
	r := &rollout{stage: st, crew: &crew{st: st, name: "roll", header: []string{"x-provider-fault", "gap=5ms"}}}
	for i := range r.list {
		r.list[i].Store(st.start())
	}
	r.crew.more.Store(true)
	var load sync.WaitGroup
	for range 6 {
		load.Go(r.agent)
	}
	for range rounds() {
		for i := range r.list {
			r.replace(i)
		}
	}
	r.crew.more.Store(false)
	load.Wait()
	for i := range r.list {
		r.list[i].Load().stop()
	}
	st.trail.checkEnd(1)
	t.Logf("%d restarts, %d sessions, %d tries; %d were under way when their replica was told to end, %d were refused a connection and went elsewhere, %d times a replica said that it is not ready",
		rounds()*len(r.list), r.crew.made, r.crew.sent.Load(), r.underWay.Load(), r.refused.Load(), r.unready.Load())
	if r.underWay.Load() == 0 || r.refused.Load() == 0 || r.unready.Load() == 0 {
		t.Error("that was no rolling restart under load: there must be some of each")
	}
}

// lingers has a replica that drains wait for clients' idle connections for much
// longer than rollout's agents keep them: a request that meets a connection which
// is being closed is lost with any server of HTTP/1.1.
func lingers(st *stage) { st.config += "timeouts: {drain_idle: 30s}\n" }

const idleConn = 2 * time.Second // of an agent

// A rollout is three replicas that are replaced under load.
type rollout struct {
	*stage
	crew *crew
	list [3]atomic.Pointer[child]

	underWay, refused, unready atomic.Int64
}

// replace ends a replica well, and starts another in its place when it is gone.
func (r *rollout) replace(i int) {
	old := r.list[i].Load()
	if old.readiness() != http.StatusOK {
		r.t.Errorf("replica %d is not ready", i)
	}
	eventually(r.t, "it has something to do", func() bool { return old.metric("preface_requests_in_flight") > 0 })
	old.signal(syscall.SIGTERM)
	for running := true; running; {
		select {
		case <-old.ended:
			running = false
		default:
			if old.readiness() == http.StatusServiceUnavailable {
				r.unready.Add(1)
			}
		}
	}
	old.stop()
	r.list[i].Store(r.start())
}

// agent takes turns of any session, each with any replica.
func (r *rollout) agent() {
	client := newClient()
	client.Transport.(*http.Transport).IdleConnTimeout = idleConn
	defer leave(client)
	for s := r.crew.next(); s != nil; s = r.crew.next() {
		t := r.turn(client, s)
		for refused(t) {
			t = r.turn(client, s)
		}
		if t.looksWhole() {
			s.hear(t.answer)
		} else {
			r.t.Errorf("%s of session %s failed in a rolling restart on a connection that had been idle for %v: status %d, %v: %s", t.id, s.id, t.idled, t.status, t.err, t.answer)
			return
		}
		r.crew.done(s, t)
	}
}

// turn sends a turn once.
func (r *rollout) turn(client *http.Client, s *session) *try {
	t := s.newTry(1)
	t.via = r.list[rand.IntN(len(r.list))].Load()
	r.trail.add(t)
	r.crew.sent.Add(1)
	t.send(client, t.via.agents)
	switch t.via.readiness() {
	case http.StatusOK:
		if refused(t) {
			r.t.Errorf("%s was refused a connection by a replica that is ready", t.id)
		}
	default:
		if !refused(t) {
			r.underWay.Add(1)
		}
	}
	if refused(t) {
		r.refused.Add(1)
	}
	return t
}

// refused reports whether there was nobody to connect to.
func refused(t *try) bool { return errors.Is(t.err, syscall.ECONNREFUSED) }

// readiness is what a proxy answers a balancer that asks whether to send it
// requests, or 0 if nobody answers.
func (c *child) readiness() int {
	client := newClient()
	defer leave(client)
	resp, err := client.Get(c.operators + "/readyz")
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // the status says it
	return resp.StatusCode
}
