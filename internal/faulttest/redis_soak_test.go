package faulttest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/internal/netfault"
	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// TestI10_SoakReplicas: agents with sessions of real shape on three replicas
// over one Redis, each turn with any of them, while thirty times something goes
// wrong: with Redis, on the way to it, with the provider, the contributor, or a
// replica. A jury judges all promises all the time, and says in the end how
// often each was judged and how often it was broken.
func TestI10_SoakReplicas(t *testing.T) {
	r := newReplicas(t)
	defer r.summary()
	r.warmUp()
	r.run(soakTime(t))
	r.finish()
}

const (
	replicaCount = 3
	restarted    = 2 // the replica that is restarted or killed now and then
)

// replicas are three proxies over one Redis, and who judges them.
type replicas struct {
	*soak   // of the first, for its troubles
	server  *redistest.Server
	far     *netfault.Proxy
	list    [replicaCount]atomic.Pointer[child]
	before  [replicaCount]footprint
	all     []*child // also those that have ended
	jury    *jury
	sampler *sampler
	did     map[string]int
	slopes  string
}

// gentle are a replica's settings in a soak: what is kept is small and idle
// connections end soon, so that sizes can be compared; the deadlines for the
// provider are longer than clients that leave may go unnoticed.
const gentle = "cache: {bytes: 1048576}\nlimits: {kept_bodies: 1048576}\nprefix: {compose_timeout: 10s}\n" +
	"timeouts: {stream_idle: 20s, first_byte: 20s, client_write: 1s, keep_alive: 1s, upstream_keep: 1s}\n"

func newReplicas(t *testing.T) *replicas {
	s := redistest.Start(t, "appendonly yes", "appendfsync always")
	far := netfault.New(t, s.Addr)
	r := &replicas{server: s, far: far, did: map[string]int{}, sampler: newSampler()}
	st := newStage(t, over("redis://"+far.Addr(), "durability: fsync, timeout: 1s"), func(st *stage) {
		st.judged = s.URL()
		st.config += gentle
		r.jury = newJury(st.trail)
		st.hear(r.jury.arrive)
	})
	opener := personalOpeners()
	st.openers.setAnswer(opener)
	crew := &crew{st: st, name: "soak", shapes: loadShapes(t)}
	for i := range r.list {
		r.replace(i, st.start())
	}
	r.soak = &soak{stage: st, p: r.list[0].Load(), crew: crew, opener: opener}
	return r
}

// hear has the provider tell somebody else of what arrives.
func (st *stage) hear(arrive func(*provider.Exchange)) {
	if err := st.up.Close(); err != nil {
		st.t.Fatal(err)
	}
	st.up = provider.New(provider.Options{OnArrive: arrive})
	if err := st.up.Start("127.0.0.1:0"); err != nil {
		st.t.Fatal(err)
	}
	st.upstream = st.up.URL()
}

// replace puts a process in the place of a replica.
func (r *replicas) replace(i int, p *child) *child {
	r.all = append(r.all, p)
	return r.list[i].Swap(p)
}

// warmUp has each replica serve, and notes what it then takes up.
func (r *replicas) warmUp() {
	var visits sync.WaitGroup
	for i := range replicaCount {
		visits.Go(func() {
			c := newClient()
			defer leave(c)
			for n := range 20 {
				s := newSession(forms[n%len(forms)], fmt.Sprint("warm-", i, "-", n), n%2 == 0)
				s.owned()
				r.sendTo(c, s, i, nil)
			}
		})
	}
	visits.Wait()
	for i := range r.list {
		r.jury.judge(10, r.calm(i))
		f, err := scrapedFootprint(r.sampler.client, r.list[i].Load())
		r.jury.judge(10, err)
		r.before[i] = f
	}
}

// run keeps up load and faults for a time.
func (r *replicas) run(d time.Duration) {
	var load, others sync.WaitGroup
	stop, over := make(chan struct{}), make(chan struct{})
	others.Go(func() { r.jury.watch(r.up, over) })
	others.Go(func() { r.sampler.run(r, stop, min(3*time.Second, d/60)) })
	load.Go(func() { r.visit(stop) })
	r.crew.more.Store(true)
	for range 8 {
		load.Go(r.agent)
	}
	r.troubles(d)
	close(stop)
	r.crew.more.Store(false)
	load.Wait()
	ended := within(func() bool { return r.up.Open() == 0 })
	r.jury.judge(10, unless(ended, "the provider still works on %d requests that nobody waits for", r.up.Open()))
	close(over)
	others.Wait()
}

// troubles has things go wrong for a time.
func (r *replicas) troubles(d time.Duration) {
	over, next := time.After(d), time.NewTicker(d/30)
	defer next.Stop()
	for {
		r.trouble()
		select {
		case <-over:
			return
		case <-next.C:
		}
	}
}

// agent takes turns, each with any replica.
func (r *replicas) agent() {
	client := newClient()
	defer leave(client)
	for s := r.crew.next(); s != nil; s = r.crew.next() {
		s.owned()
		r.sendTo(client, s, rand.IntN(replicaCount), func(t *try) {
			r.crew.sent.Add(1)
			if t.looksWhole() {
				s.hear(t.answer)
				s.compact()
			} else {
				r.crew.failed.Add(1)
			}
			r.crew.done(s, t)
		})
		pace(20 * time.Millisecond)
	}
}

// compact has a session that is through go on with its first message alone, as
// agents do when their context is full. Every tenth ends instead, and another
// begins: replicas remember sessions, and what they remember of new ones must
// not hide what they forget to let go of.
func (s *session) compact() {
	if s.left > 0 || rand.IntN(10) == 0 {
		return
	}
	s.history, s.left = s.history[:1:1], len(s.shape)
}

// trouble has the next thing go wrong, and ends it.
func (r *replicas) trouble() {
	kinds := []struct {
		name string
		do   func()
	}{
		{"redis killed", func() { r.server.Kill(); r.back() }},
		{"provider resets", r.upstreamDoes(provider.Fault{Reset: true})},
		{"redis mute", func() { r.far.Mute(netfault.Both) }},
		{"replica restarted", r.restart},
		{"connections to redis cut", r.far.CutAll},
		{"replica stopped", func() { r.pauses(syscall.SIGSTOP, syscall.SIGCONT) }},
		{"replies of redis lost", func() { r.far.SwallowReply(func([]string) bool { return rand.IntN(4) == 0 }) }},
		{"contributor fails", r.contributorFails},
		{"replica killed", r.killOne},
		{"redis slow", func() { r.far.Delay(netfault.Both, 50*time.Millisecond) }},
		{"provider breaks off", r.upstreamDoes(provider.Fault{Cut: provider.CutRST, CutAfter: 400})},
		{"redis stopped", func() { r.server.Pause(); pace(300 * time.Millisecond); r.server.Resume() }},
		{"provider overloaded", r.upstreamDoes(provider.Fault{Status: 529, RetryAfter: "1"})},
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
	old := r.replace(restarted, r.start())
	r.endWell(old)
}

// killOne kills a replica; its clients go on with the others until another is in
// its place.
func (r *replicas) killOne() {
	old := r.list[restarted].Load()
	r.jury.kills(old)
	old.kill()
	r.replace(restarted, r.start())
}

func (r *replicas) pauses(signals ...syscall.Signal) {
	for _, s := range signals {
		r.list[1].Load().signal(s)
		pace(300 * time.Millisecond)
	}
}

// endWell asks a replica what it has seen, and to end.
func (r *replicas) endWell(p *child) {
	m, err := scrape(r.sampler.client, p)
	changed := m["preface_bytes_changed_outside_splice_total"]
	r.jury.judge(3, unless(err == nil && changed == 0, "a replica changed bytes of %v requests, %v", changed, err))
	for _, page := range []string{"/", "/metrics", "/sessions", "/healthz", "/readyz"} {
		r.jury.judge(12, secretIn(page, []byte(p.operate(http.MethodGet, page))))
	}
	p.stop()
}
