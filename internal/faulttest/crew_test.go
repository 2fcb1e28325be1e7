package faulttest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A crew of agents works off sessions. A turn that fails is tried again first of
// all, with the same body, by whoever comes next: as agents do, and as they do
// when there is another proxy.
type crew struct {
	st     *stage
	name   string   // begins the ids of its sessions
	header []string // that its requests have, names and values in turn
	// patient agents think between turns and go on after any failure; shapes
	// say how much they talk.
	patient bool
	shapes  []shape

	more         atomic.Bool // new sessions are begun
	sent, failed atomic.Int64

	mu   sync.Mutex // guards the following
	made int
	idle []*session
}

// turnsEach is how many turns a session has.
const turnsEach = 4

// next takes a session that waits for its turn, or makes one if that is wanted.
func (c *crew) next() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) > 0 {
		s := c.idle[0]
		c.idle = c.idle[1:]
		return s
	}
	if !c.more.Load() {
		return nil
	}
	c.made++
	return c.make(c.made)
}

// make makes sessions of all dialects, streamed and not, for two tenants.
func (c *crew) make(n int) *session {
	s := &session{
		form: forms[n%len(forms)], id: fmt.Sprintf("%s-%04d", c.name, n), key: fmt.Sprint("sk-test-", n%2),
		stream: n/len(forms)%2 == 0, left: turnsEach, header: c.header,
	}
	if len(c.shapes) > 0 {
		s.shape = c.shapes[n%len(c.shapes)]
		s.left = len(s.shape)
	}
	s.ask("hello from " + s.id)
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

// work has n agents busy with proxies, any turn with any of them, until one dies
// or, if no more sessions are to be begun, those that were are through.
func (c *crew) work(n, life int, proxies ...*child) {
	client := newClient()
	defer leave(client)
	var agents sync.WaitGroup
	for range n {
		agents.Go(func() {
			for c.turn(client, life, proxies[rand.IntN(len(proxies))]) {
			}
		})
	}
	agents.Wait()
}

// turn takes one turn, and reports whether its agent goes on. One whose request
// fails has seen its proxy die.
func (c *crew) turn(client *http.Client, life int, p *child) bool {
	s := c.next()
	if s == nil {
		return false
	}
	t := s.newTry(life)
	t.via = p
	c.st.trail.add(t)
	c.sent.Add(1)
	t.send(client, p.agents)
	if t.looksWhole() {
		s.hear(t.answer)
	} else {
		c.failed.Add(1)
	}
	c.done(s, t)
	if c.patient {
		c.think(t)
		return true
	}
	if t.err == nil && t.status != 200 {
		c.st.t.Errorf("%s got status %d: %s", t.id, t.status, t.answer)
		return false
	}
	return t.err == nil
}

// think takes a while, and lets go of a try that was answered: there will be
// many of them.
func (c *crew) think(t *try) {
	if t.looksWhole() {
		if !t.isWhole() {
			c.st.t.Errorf("I8: the answer to %s ended cleanly and is not whole: %q", t.id, t.answer)
		}
		t.judged = true
		t.body, t.answer = nil, nil
	}
	pace(4 * time.Millisecond)
}
