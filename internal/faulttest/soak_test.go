package faulttest

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// soakTime is how long TestI10_Soak keeps up its load: PREFACE_SOAK, e.g. 1h,
// or 13 seconds.
func soakTime(t *testing.T) time.Duration {
	switch text := os.Getenv("PREFACE_SOAK"); {
	case text != "":
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("PREFACE_SOAK: %v", err)
		}
		return d
	case testing.Short():
		return 4 * time.Second
	}
	return 13 * time.Second
}

// TestI10_Soak: agents with sessions of real shape, and every two seconds
// something goes wrong; all promises hold all the time, and when the load
// is gone the program has what it had before it.
func TestI10_Soak(t *testing.T) {
	st := newStage(t, with("cache: {bytes: 1048576}\nlimits: {kept_bodies: 1048576}\ntimeouts: {stream_idle: 1s, first_byte: 1s, client_write: 1s, keep_alive: 1s, upstream_keep: 1s}\n"))
	p := st.start()
	s := &soak{stage: st, p: p, crew: &crew{st: st, name: "soak", patient: true, shapes: loadShapes(t)}}
	s.crew.more.Store(true)
	for i := range 50 {
		st.say(p, newSession(forms[i%len(forms)], fmt.Sprint("warm", i), i%2 == 0))
	}
	s.calm()
	before := s.footprint()
	s.run(soakTime(t))
	s.calm()
	s.compare(before)
	t.Logf("%d sessions, %d tries, %d of them failed, %d faults", s.crew.made, s.crew.sent.Load(), s.crew.failed.Load(), s.faults)
	p.stop()
	st.trail.checkEnd(1)
}

type soak struct {
	*stage
	p      *child
	crew   *crew
	faults int
	opener http.HandlerFunc // what the contributor answers if nothing is wrong, if not the ordinary
}

// run keeps up load and faults for a time.
func (s *soak) run(d time.Duration) {
	var load sync.WaitGroup
	load.Go(func() { s.crew.work(6, 1, s.p) })
	over, next := time.After(d), time.NewTicker(2*time.Second)
	defer next.Stop()
	for {
		s.trouble()[s.faults%len(s.trouble())]()
		s.faults++
		select {
		case <-over:
			s.crew.more.Store(false)
			load.Wait()
			return
		case <-next.C:
		}
	}
}

// trouble is what goes wrong, in turn. Each ends before it returns.
func (s *soak) trouble() []func() {
	return []func(){
		s.upstreamDoes(provider.Fault{Reset: true}),
		s.clientsThat(func(c *http.Client, t *try) { leaveEarly(c, s.p, t) }),
		s.stopped,
		s.upstreamDoes(provider.Fault{Stall: true}),
		s.contributorFails,
		s.upstreamDoes(provider.Fault{Status: 529, RetryAfter: "1"}),
		s.reloads,
		s.upstreamDoes(provider.Fault{Cut: provider.CutRST, CutAfter: 400}),
		s.clientsThat(func(_ *http.Client, t *try) { s.readNothing(t) }),
	}
}

func (s *soak) upstreamDoes(f provider.Fault) func() {
	return func() {
		s.up.SetFault(f)
		pace(300 * time.Millisecond)
		s.up.SetFault(provider.Fault{})
	}
}

func (s *soak) stopped() {
	s.p.signal(syscall.SIGSTOP)
	pace(300 * time.Millisecond)
	s.p.signal(syscall.SIGCONT)
}

func (s *soak) contributorFails() {
	s.openers.setAnswer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 500) })
	pace(300 * time.Millisecond)
	s.openers.setAnswer(s.opener)
}

func (s *soak) reloads() {
	for range 5 {
		s.spoilConfig()
		s.p.signal(syscall.SIGHUP)
		pace(10 * time.Millisecond)
		s.writeConfig()
		s.p.signal(syscall.SIGHUP)
		pace(10 * time.Millisecond)
	}
}

// clientsThat has 20 clients misbehave at once.
func (s *soak) clientsThat(misbehave func(*http.Client, *try)) func() {
	return func() {
		var clients sync.WaitGroup
		for i := range 20 {
			clients.Go(func() {
				c := newClient()
				defer leave(c)
				t := newSession(forms[i%len(forms)], fmt.Sprint("odd", s.faults, "-", i), true).newTry(1)
				s.trail.add(t)
				misbehave(c, t)
			})
		}
		clients.Wait()
	}
}

// leaveEarly leaves when the answer has begun.
func leaveEarly(c *http.Client, p *child, t *try) {
	t.of.header = []string{"x-provider-fault", "gap=200ms"}
	req, err := t.request(p.agents)
	if err != nil {
		t.err = err
		return
	}
	resp, err := c.Do(req)
	t.err = errLeft
	if err == nil {
		resp.Body.Close()
	}
}

var errLeft = fmt.Errorf("left on purpose")

// readNothing asks for a large answer and does not read it.
func (s *soak) readNothing(t *try) {
	t.err = errLeft
	c := dialNarrow(s.t, s.p.agents)
	defer c.Close()
	_, _ = c.Write([]byte(t.text("x-provider-fault", "event-bytes=4194304"))) // it may be hung up
	pace(100 * time.Millisecond)
}

// A footprint is what a program takes up.
type footprint struct{ goroutines, descriptors, memory float64 }

func (s *soak) footprint() footprint {
	return footprint{s.p.metric("go_goroutines"), s.p.metric("process_open_fds"), s.p.metric("process_resident_memory_bytes")}
}

// calm waits until nothing is under way and idle connections have ended.
func (s *soak) calm() {
	s.t.Helper()
	s.settle()
	eventually(s.t, "nothing is in flight and the queue is written", func() bool {
		return s.p.metric("preface_requests_in_flight") == 0 && s.p.metric("preface_log_queue_records") == 0
	})
	eventually(s.t, "idle connections are closed", func() bool { return s.up.Conns() == 0 })
}

// compare checks that the program is as large as it was, as far as that can be
// said of a garbage collector and of caches.
func (s *soak) compare(before footprint) {
	s.t.Helper()
	var now footprint
	back := within(func() bool {
		now = s.footprint()
		return now.goroutines <= before.goroutines+10 && now.descriptors <= before.descriptors+10
	})
	if !back || now.memory > before.memory+96<<20 {
		s.t.Errorf("I10: before %+v, after %+v; stderr ends:\n%s", before, now, lastOf(s.p.stderr.String()))
	}
	s.t.Logf("before %+v, after %+v", before, now)
}

func lastOf(text string) string { return text[max(0, len(text)-2000):] }
