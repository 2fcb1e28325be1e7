package faulttest

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// A crew of agents works off sessions. A turn that fails is tried again first of
// all, with the same body, by whoever comes next: as agents do, and as they do
// when there is another proxy.
type crew struct {
	st   *stage
	name string // begins the ids of its sessions
	sent atomic.Int64

	mu   sync.Mutex // guards the following
	made int
	idle []*session
}

// turnsEach is how many turns a session has.
const turnsEach = 4

// next takes a session that waits for its turn, or makes one if that is wanted.
func (c *crew) next(more bool) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) > 0 {
		s := c.idle[0]
		c.idle = c.idle[1:]
		return s
	}
	if !more {
		return nil
	}
	c.made++
	return c.make(c.made)
}

// make makes sessions of all dialects, streamed and not, for two tenants.
func (c *crew) make(n int) *session {
	s := &session{
		form: forms[n%len(forms)], id: fmt.Sprintf("%s-%04d", c.name, n), key: fmt.Sprint("sk-test-", n%2),
		stream: n/len(forms)%2 == 0, left: turnsEach,
	}
	s.ask(fmt.Sprint("hello from ", s.id))
	return s
}

// done gives a session back after a turn.
func (c *crew) done(s *session, t *try) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !t.looksWhole():
		c.idle = append([]*session{s}, c.idle...)
	case s.left > 0:
		c.idle = append(c.idle, s)
	}
}

// work has n agents busy with a proxy, until it dies or, if no more sessions are
// to be begun, those that were are through. It returns how many agents saw a
// request fail.
func (c *crew) work(p *child, n, life int, more bool) (failed int) {
	client := newClient()
	defer leave(client)
	var agents sync.WaitGroup
	var failures atomic.Int64
	for range n {
		agents.Go(func() {
			for c.turn(client, p, life, more) {
			}
			failures.Add(1)
		})
	}
	if !more {
		agents.Wait()
		return 0
	}
	agents.Wait()
	return int(failures.Load())
}

// turn takes one turn, and reports whether its agent goes on.
func (c *crew) turn(client *http.Client, p *child, life int, more bool) bool {
	s := c.next(more)
	if s == nil {
		return false
	}
	t := s.newTry(life)
	c.st.trail.add(t)
	c.sent.Add(1)
	t.send(client, p.agents)
	if t.looksWhole() {
		s.hear(t.answer)
	}
	c.done(s, t)
	if t.err == nil && t.status != 200 {
		c.st.t.Errorf("%s got status %d: %s", t.id, t.status, t.answer)
		return false
	}
	return t.err == nil
}
