package main

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
)

// A rotation is the agents' balancer: each request of a session goes to the next
// replica that is in service. It knows of each request where it went, and how far
// it has come.
type rotation struct {
	replicas []*replica // immutable

	mu      sync.Mutex // guards the following
	changed chan struct{}
	out     *replica                   // of service; or nil
	lives   map[*replica]int           // how often each was started
	gates   map[*replica]chan struct{} // what answers wait for; closed if they need not
	visits  map[string]*visit          // by the id of the agent's call
	sent    map[string]bool            // players that sent something since hold
	playing int                        // players that are to
}

// A visit is one request at a replica. What comes first is immutable.
type visit struct {
	replica *replica
	life    int // of the replica, 1 before its restart and 2 after

	without *replica // that was out of service when it was sent, or nil

	arrived  bool // at the provider
	answered bool // or failed
}

func newRotation(replicas []*replica) *rotation {
	r := &rotation{
		replicas: replicas, changed: make(chan struct{}), lives: map[*replica]int{},
		gates: map[*replica]chan struct{}{}, visits: map[string]*visit{}, sent: map[string]bool{},
	}
	open := make(chan struct{})
	close(open)
	for _, p := range replicas {
		r.lives[p], r.gates[p] = 1, open
	}
	return r
}

// A seat is a player's place in the rotation: what its requests go through.
type seat struct {
	*rotation
	player string
	inner  http.RoundTripper
	next   int // guarded by the rotation's mu
}

// seat is for the agent of a player. Agents begin at different replicas.
func (r *rotation) seat(player string) func(http.RoundTripper) http.RoundTripper {
	first := slices.IndexFunc(demoRoles(), func(x role) bool { return x.name == player })
	return func(inner http.RoundTripper) http.RoundTripper {
		return &seat{rotation: r, player: player, inner: inner, next: first}
	}
}

// RoundTrip sends a request to the replica whose turn it is.
func (s *seat) RoundTrip(req *http.Request) (*http.Response, error) {
	v, addr := s.visit(req.Header.Get(agent.IDHeader))
	out := req.Clone(req.Context())
	out.URL.Host, out.Host = addr, addr
	resp, err := s.inner.RoundTrip(out)
	s.change(func() { v.answered = true })
	return resp, err
}

// CloseIdleConnections is for the agent's Close.
func (s *seat) CloseIdleConnections() { closeIdle(s.inner) }

func closeIdle(rt http.RoundTripper) {
	if c, ok := rt.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// visit chooses where a call goes, and notes it.
func (s *seat) visit(call string) (v *visit, addr string) {
	s.change(func() {
		p := s.turn()
		v, addr = &visit{replica: p, life: s.lives[p], without: s.out}, p.proxy.agents.Addr().String()
		s.visits[call], s.sent[s.player] = v, true
	})
	return v, addr
}

// turn is the replica whose turn it is. mu must be held.
func (s *seat) turn() *replica {
	if s.replicas[s.next%len(s.replicas)] == s.out {
		s.next++
	}
	s.next++
	return s.replicas[(s.next-1)%len(s.replicas)]
}

// arrive is called when the provider has read a request; it holds the answer back.
func (r *rotation) arrive(ctx context.Context, x *provider.Exchange) {
	var gate chan struct{}
	r.change(func() {
		if v := r.visits[callID(x)]; v != nil {
			v.arrived, gate = true, r.gates[v.replica]
		}
	})
	if gate == nil {
		return // told by I9
	}
	select {
	case <-gate:
	case <-ctx.Done():
	}
}

// hold holds answers back until release. So many players are to send something.
func (r *rotation) hold(players int) {
	r.change(func() {
		r.sent, r.playing = map[string]bool{}, players
		for _, p := range r.replicas {
			r.gates[p] = make(chan struct{})
		}
	})
}

// release lets the answers of replicas go on.
func (r *rotation) release(replicas ...*replica) {
	r.change(func() {
		for _, p := range replicas {
			select {
			case <-r.gates[p]:
			default:
				close(r.gates[p])
			}
		}
	})
}

// takeOut takes a replica out of service, once every player has sent something:
// of those that were not restarted yet the one that has most to answer. It returns
// what is under way there, all of which has reached the provider by then, and what
// is at others.
func (r *rotation) takeOut(ctx context.Context) (p *replica, here, others []*visit, err error) {
	err = r.await(ctx, func() bool {
		if len(r.sent) < r.playing {
			return false
		}
		r.out = r.busiest()
		return true
	})
	if err == nil {
		err = r.await(ctx, func() bool { here, others = r.underWay(r.out); return !slices.ContainsFunc(here, (*visit).onTheWay) })
	}
	return r.out, here, others, err
}

// busiest is the replica that has most to answer of those in their first life. mu
// must be held.
func (r *rotation) busiest() (p *replica) {
	most := -1
	for _, x := range r.replicas {
		if here, _ := r.underWay(x); r.lives[x] == 1 && len(here) > most {
			p, most = x, len(here)
		}
	}
	return p
}

// underWay is what has no answer yet, at a replica and at others. mu must be held.
func (r *rotation) underWay(p *replica) (here, others []*visit) {
	for _, v := range r.visits {
		switch {
		case v.answered:
		case v.replica == p:
			here = append(here, v)
		default:
			others = append(others, v)
		}
	}
	return here, others
}

func (v *visit) onTheWay() bool { return !v.arrived }

// awaitAnswer returns once one of the visits has its answer, if there are any.
func (r *rotation) awaitAnswer(ctx context.Context, visits []*visit) error {
	return r.await(ctx, func() bool {
		return len(visits) == 0 || slices.ContainsFunc(visits, func(v *visit) bool { return v.answered })
	})
}

// putIn has the replica that was taken out serve again, after its restart.
func (r *rotation) putIn() {
	r.change(func() {
		r.lives[r.out]++
		r.out = nil
	})
}

// visited is where each call went, by its id. No agent may play any more.
func (r *rotation) visited() map[string]*visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.visits)
}

// change changes what mu guards, and wakes those that await it.
func (r *rotation) change(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	close(r.changed)
	r.changed = make(chan struct{})
}

// await returns once ok, which is called under mu, is so.
func (r *rotation) await(ctx context.Context, ok func() bool) error {
	for {
		r.mu.Lock()
		done, changed := ok(), r.changed
		r.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
