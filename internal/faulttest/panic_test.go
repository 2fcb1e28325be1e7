package faulttest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
)

// TestI10_Panics: a panic anywhere on a request's way costs that request and no
// other. Of the points, P0 lies before the boundary that recovers: there is
// nothing of the request there yet.
func TestI10_Panics(t *testing.T) {
	points := []string{
		failpoint.BodyRead, failpoint.Composed, failpoint.BeforeLog, failpoint.Logged, failpoint.Acknowledged,
		failpoint.BeforeDial, failpoint.HeadSent, failpoint.BodyHalf, failpoint.AwaitByte, failpoint.MidEvent, failpoint.FirstRelayed,
		failpoint.BeforeRecord,
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			st := newStage(t)
			p := st.start(failAt(point, 5, "panic"))
			before := newSession(forms[0], "before", true)
			before.header = []string{"x-provider-fault", "gap=10ms"}
			var running sync.WaitGroup
			running.Go(func() {
				// It must not be the one that panics: it passes these points last, or
				// more often than once.
				if point != failpoint.MidEvent && point != failpoint.FirstRelayed && point != failpoint.BeforeRecord {
					st.say(p, before)
				}
			})
			failed := 0
			for i := range 12 {
				s := newSession(forms[i%len(forms)], fmt.Sprint("s", i), false)
				if got := st.attempt(p, s); !got.looksWhole() {
					failed++
					if got.status != 500 && got.err == nil {
						t.Errorf("the one that panicked got %d: %s", got.status, got.answer)
					}
				}
			}
			running.Wait()
			if failed > 1 {
				t.Errorf("%d requests failed for one panic", failed)
			}
			p.mustLive()
			if strings.Contains(p.stderr.String(), openerMark) {
				t.Error("the panic's report quotes the prefix")
			}
			eventually(t, "no request is in flight", func() bool { return p.metric("preface_requests_in_flight") == 0 })
			if n := p.metric("preface_panics_total"); n != 1 {
				t.Errorf("%v panics are counted, want 1", n)
			}
			p.stop()
			st.trail.checkArrivals()
			st.verify(true)
		})
	}
}

// mustLive fails if the process has ended.
func (c *child) mustLive() {
	c.t.Helper()
	select {
	case <-c.ended:
		c.t.Fatalf("the program ended (%v):\n%.3000s", c.cmd.ProcessState, c.stderr.String())
	default:
	}
}
