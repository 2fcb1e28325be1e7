package faulttest

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
)

// newSession begins a conversation with one question asked.
func newSession(f *form, id string, stream bool) *session {
	s := &session{form: f, id: id, key: "sk-test-1", stream: stream, left: turnsEach}
	s.ask("hello")
	return s
}

// say sends a session's turn and requires a whole answer.
func (st *stage) say(p *child, s *session) *try {
	st.t.Helper()
	t := st.attempt(p, s)
	if !t.looksWhole() {
		st.t.Errorf("%s of session %s: status %d, %v: %s; stderr:\n%s", t.id, s.id, t.status, t.err, t.answer, p.stderr.String())
	}
	return t
}

// attempt sends a session's turn as a client of its own.
func (st *stage) attempt(p *child, s *session) *try {
	c := newClient()
	defer leave(c)
	t := s.newTry(1)
	st.trail.add(t)
	t.send(c, p.agents)
	return t
}

// TestI2_Stopped: a proxy is stopped in the middle of freezing while another one
// serves the same session from the same log. When it goes on it adopts what the
// other one froze, or the other one adopted what it had frozen.
func TestI2_Stopped(t *testing.T) {
	for _, point := range []string{failpoint.Composed, failpoint.BeforeLog, failpoint.Logged, failpoint.Acknowledged} {
		for _, f := range forms {
			t.Run(point+" "+f.name, func(t *testing.T) {
				st := newStage(t)
				stale, other := st.start(failAt(point, 2, "stop")), st.start()
				st.quiet(stale)
				s := newSession(f, "s", false)
				late := make(chan *try)
				go func() { late <- st.attempt(stale, s) }()
				eventually(t, "the proxy is stopped", stale.isStopped)
				st.say(other, s)
				stale.signal(syscall.SIGCONT)
				if got := <-late; !got.looksWhole() {
					t.Errorf("the stopped proxy went on with status %d, %v: %s", got.status, got.err, got.answer)
				}
				st.say(stale, s)
				st.say(other, s)
				if n := len(st.trail.slotValues()["s"].bytes); n == 0 {
					t.Error("the session carries nothing")
				}
				stale.stop()
				other.stop()
				st.trail.checkEnd(1)
			})
		}
	}
}

// quiet has a proxy serve one session and waits until it has written all of it:
// one that is stopped while it writes holds the log's write lock, and others can
// freeze nothing until it goes on.
func (st *stage) quiet(p *child) {
	st.t.Helper()
	first := st.say(p, newSession(forms[0], "first", false))
	eventually(st.t, "the answer is recorded", func() bool { return st.responses()[first.requestID] != nil })
}

// TestI8_StoppedMidStream: a proxy that is stopped while it relays goes on where
// it was.
func TestI8_StoppedMidStream(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			st := newStage(t)
			p := st.start(failAt(failpoint.MidEvent, 3, "stop"))
			s := newSession(f, "s", true)
			s.header = []string{"x-provider-fault", "gap=5ms"}
			late := make(chan *try)
			go func() { late <- st.attempt(p, s) }()
			eventually(t, "the proxy is stopped", p.isStopped)
			p.signal(syscall.SIGCONT)
			got := <-late
			if !got.looksWhole() || !got.isWhole() {
				t.Errorf("status %d, %v: %q", got.status, got.err, got.answer)
			}
			sent := st.up.Received()
			if answer := string(sent[len(sent)-1].Answer); answer != string(got.answer) {
				t.Errorf("the client got %q, sent was %q", got.answer, answer)
			}
			p.stop()
			st.trail.checkEnd(1)
		})
	}
}

// TestI5_Herd: the first request of one session comes to three proxies at once,
// many times over, and one of the proxies dies when its anchor is in the log.
func TestI5_Herd(t *testing.T) {
	st := newStage(t)
	proxies := []*child{st.start(), st.start(), st.start(failAt(failpoint.Logged, 1, "kill"))}
	const herd = 60
	s := newSession(forms[0], "herd", false)
	gate := make(chan struct{})
	var clients sync.WaitGroup
	for i := range herd {
		clients.Go(func() {
			<-gate
			if got := st.attempt(proxies[i%len(proxies)], s); !got.looksWhole() && i%len(proxies) != 2 {
				t.Errorf("%s: status %d, %v: %s", got.id, got.status, got.err, got.answer)
			}
		})
	}
	close(gate)
	clients.Wait()
	if n := st.openers.asked.Load(); n > int64(len(proxies)) {
		t.Errorf("%d proxies composed %d times", len(proxies), n)
	}
	// The one that did not get to freeze is killed by a session of its own.
	st.attempt(proxies[2], newSession(forms[1], "herd-last", false))
	if !proxies[2].killed() {
		t.Errorf("a proxy ended with %v", proxies[2].over())
	}
	again := st.start()
	for _, f := range forms {
		for i := range 3 {
			st.say(again, newSession(f, fmt.Sprint("herd-after-", f.name, i), i%2 == 0))
		}
	}
	st.say(again, s)
	again.stop()
	proxies[0].stop()
	proxies[1].stop()
	st.trail.checkArrivals()
	st.verify(true)
}
