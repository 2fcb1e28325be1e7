package faulttest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/netfault"
	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// TestI10_SoakReplicas: agents with sessions of real shape on three replicas
// over one Redis, each turn with any of them, while thirty times something goes
// wrong: with Redis, on the way to it, with the provider, the contributor, or a
// replica. All promises hold all the time, and in the end the replicas that
// lived through it have what they had before.
func TestI10_SoakReplicas(t *testing.T) {
	s := redistest.Start(t, "appendonly yes", "appendfsync always")
	far := netfault.New(t, s.Addr)
	st := newStage(t, over("redis://"+far.Addr(), "durability: fsync, timeout: 1s"),
		func(st *stage) {
			st.judged = s.URL()
			st.config += "cache: {bytes: 1048576}\nlimits: {kept_bodies: 1048576}\ntimeouts: {stream_idle: 1s, first_byte: 1s, client_write: 1s, keep_alive: 1s, upstream_keep: 1s}\n"
		})
	r := &replicas{server: s, far: far}
	for i := range r.list {
		r.list[i].Store(st.start())
	}
	for i := range r.list {
		r.soaks[i] = &soak{stage: st, p: r.list[i].Load()}
	}
	r.soak = r.soaks[0]
	r.crew = &crew{st: st, name: "soak", patient: true, shapes: loadShapes(t)}
	for i := range 60 {
		st.insist(r.list[i%len(r.list)].Load(), newSession(forms[i%len(forms)], fmt.Sprint("warm", i), i%2 == 0))
	}
	var before [replicaCount]footprint
	for i, k := range r.soaks {
		k.calm()
		before[i] = k.footprint()
	}
	r.run(soakTime(t))
	for i, k := range r.soaks {
		if k.p = r.list[i].Load(); i != restarted {
			k.calm()
			k.compare(before[i])
		}
	}
	t.Logf("%d sessions, %d tries, %d of them failed, %d faults: %v", r.crew.made, r.crew.sent.Load(), r.crew.failed.Load(), r.faults, r.did)
	for i := range r.list {
		p := r.list[i].Load()
		if n := p.metric("preface_bytes_changed_outside_splice_total"); n != 0 {
			t.Errorf("I3: replica %d changed bytes of %v requests", i, n)
		}
		p.stop()
	}
	st.trail.checkEnd(1)
}

const (
	replicaCount = 3
	restarted    = 2 // the replica that is restarted now and then
)

// replicas are three proxies over one Redis.
type replicas struct {
	*soak  // of the first, for its troubles
	server *redistest.Server
	far    *netfault.Proxy
	list   [replicaCount]atomic.Pointer[child]
	soaks  [replicaCount]*soak
	did    map[string]int
}

// run keeps up load and faults for a time.
func (r *replicas) run(d time.Duration) {
	r.crew.more.Store(true)
	r.did = map[string]int{}
	var load sync.WaitGroup
	for range 8 {
		load.Go(r.agent)
	}
	over, next := time.After(d), time.NewTicker(d/30)
	defer next.Stop()
	for {
		r.trouble()
		select {
		case <-over:
			r.crew.more.Store(false)
			load.Wait()
			return
		case <-next.C:
		}
	}
}

// agent takes turns, each with any replica.
func (r *replicas) agent() {
	client := newClient()
	defer leave(client)
	for r.crew.turn(client, 1, r.list[rand.IntN(replicaCount)].Load()) {
	}
}

// trouble has the next thing go wrong, and ends it.
func (r *replicas) trouble() {
	kinds := []struct {
		name string
		do   func()
	}{
		{"redis killed", func() { r.server.Kill(); r.back() }},
		{"provider resets", r.soak.trouble()[0]},
		{"redis mute", func() { r.far.Mute(netfault.Both) }},
		{"replica restarted", r.restart},
		{"connections to redis cut", r.far.CutAll},
		{"replica stopped", func() { r.pauses(syscall.SIGSTOP, syscall.SIGCONT) }},
		{"replies of redis lost", func() { r.far.SwallowReply(func([]string) bool { return rand.IntN(4) == 0 }) }},
		{"contributor fails", r.contributorFails},
		{"redis slow", func() { r.far.Delay(netfault.Both, 50*time.Millisecond) }},
		{"redis stopped", func() { r.server.Pause(); pace(300 * time.Millisecond); r.server.Resume() }},
	}
	k := kinds[r.faults%len(kinds)]
	r.faults++
	r.did[k.name]++
	k.do()
	pace(300 * time.Millisecond)
	r.far.Heal()
}

// back starts the server again, with all that it had acknowledged.
func (r *replicas) back() {
	pace(300 * time.Millisecond)
	if err := r.server.Restart(); err != nil {
		r.t.Errorf("cannot start the server again: %v", err)
	}
}

// restart ends a replica well and puts another in its place.
func (r *replicas) restart() {
	old := r.list[restarted].Load()
	r.list[restarted].Store(r.start())
	old.stop()
}

func (r *replicas) pauses(signals ...syscall.Signal) {
	for _, s := range signals {
		r.list[1].Load().signal(s)
		pace(300 * time.Millisecond)
	}
}
