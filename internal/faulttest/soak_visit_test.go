package faulttest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// visits are what clients do beside the agents, again and again while a soak
// goes on.
func (r *replicas) visits() []func(n int) {
	return []func(int){
		r.herd,
		func(n int) { r.leaver(n, "delay=5m") },
		func(n int) { r.leaver(n, "stall@2,ping=200ms") },
		func(n int) { r.send(r.visitor(n, "x-provider-fault", fmt.Sprint("cut=fin@", 100+n%900))) },
		func(n int) { r.send(r.visitor(n, "x-provider-fault", fmt.Sprint("cut=rst@", 100+n%900))) },
		func(n int) { r.send(r.visitor(n, "x-provider-fault", "reset")) },
		r.unreadable,
	}
}

// visit has visitors come until stop is closed, and each kind once more when
// nothing goes wrong any longer: something is then judged of every promise,
// however slow the machine.
func (r *replicas) visit(stop <-chan struct{}) {
	all := r.visits()
	for n, last := 0, 0; last < len(all); n++ {
		all[n%len(all)](n)
		select {
		case <-stop:
			last++
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// visitor is a session of its own for a client that comes once.
func (r *replicas) visitor(n int, header ...string) *session {
	s := newSession(forms[n%len(forms)], fmt.Sprintf("visit-%06d", n), n%2 == 0)
	s.key = fmt.Sprint("sk-test-", n/len(forms)%2)
	s.header = header
	s.owned()
	return s
}

// send takes a turn with any replica.
func (r *replicas) send(s *session) *try {
	c := newClient()
	defer leave(c)
	return r.sendTo(c, s, rand.IntN(replicaCount), nil)
}

// sendTo takes a turn with a replica, and lets heard have the answer before the
// jury has it.
func (r *replicas) sendTo(c *http.Client, s *session, replica int, heard func(*try)) *try {
	t := s.newTry(1)
	t.via = r.list[replica].Load()
	r.jury.begin(t)
	t.send(c, t.via.agents)
	if heard != nil {
		heard(t)
	}
	r.jury.end(t)
	return t
}

// herd is the first request of one session, at all replicas at once.
func (r *replicas) herd(n int) {
	s := r.visitor(n)
	var clients sync.WaitGroup
	for i := range 2 * replicaCount {
		clients.Go(func() {
			c := newClient()
			defer leave(c)
			r.sendTo(c, s, i%replicaCount, nil)
		})
	}
	clients.Wait()
}

// leaver is a client that leaves while the provider works for it, in a way that
// the provider would never end.
func (r *replicas) leaver(n int, fault string) {
	s := r.visitor(n)
	s.stream = true
	t := s.newTry(1)
	t.via = r.list[n%replicaCount].Load()
	r.jury.begin(t)
	t.err = r.leaveMidway(t, fault)
	r.jury.end(t)
}

func (r *replicas) leaveMidway(t *try, fault string) error {
	c, err := net.Dial("tcp", strings.TrimPrefix(t.via.agents, "http://"))
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, t.text("x-provider-fault", fault)); err != nil {
		return err
	}
	answered := make(chan struct{})
	go func() { // a refusal is an answer as well
		defer close(answered)
		_, _ = c.Read(make([]byte, 1))
	}()
	for came := false; !came; {
		select {
		case <-answered:
			came = true
		case <-time.After(5 * time.Millisecond):
			came = r.jury.reached(t) && fault[0] == 'd'
		}
	}
	r.jury.leave(t)
	_ = c.Close()
	<-answered
	return errLeft
}

// unreadable is a request whose body ends too soon, with a tenant's words in it.
func (r *replicas) unreadable(n int) {
	s := r.visitor(n)
	s.form = truncated(s.form)
	if t := r.send(s); t.status == 200 {
		r.t.Errorf("a body that is no JSON was answered %q", t.answer)
	}
}

// truncated is a form without the end of its bodies.
func truncated(f *form) *form {
	c := *f
	c.post, c.streamed = "", ""
	return &c
}
