package faulttest

import (
	"net"
	"testing"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/logsink"
)

// leavings are the ways in which a client goes away.
var leavings = map[string]func(c net.Conn){
	"close":      func(c net.Conn) { _ = c.Close() },
	"reset":      func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); _ = c.Close() },
	"half-close": func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() },
}

// TestI7_LeftBeforeTheAnswer: the provider thinks for a minute, the client
// leaves, and the provider's request ends.
func TestI7_LeftBeforeTheAnswer(t *testing.T) {
	st := newStage(t)
	p := st.start()
	for how, leave := range leavings {
		for _, f := range forms {
			s := newSession(f, how+"-"+f.name, true)
			try := s.newTry(1)
			st.trail.add(try)
			c := talk(t, p.agents, try.text("x-provider-fault", "delay=5m"))
			var got provider.Exchange
			arrived := func() bool {
				list := st.trail.arrivals()[try.id]
				if len(list) == 0 {
					return false
				}
				got = list[0]
				return !got.ReceivedAt.IsZero()
			}
			eventually(t, "the request arrives", arrived)
			leave(c)
			if !within(func() bool { return arrived() && got.Aborted() }) {
				t.Fatalf("I7: the client left (%s) and the provider still works", how)
			}
		}
	}
	p.stop()
	for _, r := range st.responses() {
		if r.End != logsink.EndClientGone {
			t.Errorf("recorded %+v, want the end %s", r, logsink.EndClientGone)
		}
	}
	st.trail.checkEnd(1)
}

// TestI7_LeftWhileFreezing: the client leaves while its prefix is composed,
// before and after it is logged, and in the middle of being sent. Nothing more
// goes to the provider than was on its way, what was begun to be frozen is
// frozen, and the client's next try finds it.
func TestI7_LeftWhileFreezing(t *testing.T) {
	for _, point := range []string{failpoint.Composed, failpoint.BeforeLog, failpoint.Logged, failpoint.Acknowledged, failpoint.BeforeDial, failpoint.HeadSent, failpoint.BodyHalf} {
		t.Run(point, func(t *testing.T) {
			st := newStage(t)
			p := st.start(failAt(point, 1, "sleep=300ms"))
			s := newSession(forms[0], "s", false)
			try := s.newTry(1)
			st.trail.add(try)
			c := talk(t, p.agents, try.text())
			eventually(t, "the contributor is asked", func() bool { return st.openers.asked.Load() == 1 })
			_ = c.Close()
			eventually(t, "the request is over", func() bool { return p.metric("preface_requests_in_flight") == 0 })
			st.settle()
			again := st.say(p, s)
			if n := st.openers.asked.Load(); n != 1 {
				t.Errorf("the contributor was asked %d times for one session", n)
			}
			for _, e := range st.trail.arrivals()[try.id] {
				if e.Complete {
					t.Errorf("the answer for a client that had left was sent whole")
				}
			}
			p.stop()
			if r := st.responses()[again.requestID]; r == nil || r.End != logsink.EndComplete {
				t.Errorf("recorded %+v of the next try", r)
			}
			st.trail.checkEnd(1)
		})
	}
}
