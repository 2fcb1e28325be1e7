package faulttest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestI10_Overload: five times the load that limits.in_flight allows is shed
// with 503 and Retry-After; what is taken on is served, never more at a time
// than allowed; and when the load is gone so is the trouble.
func TestI10_Overload(t *testing.T) {
	const allowed, clients = 8, 40
	st := newStage(t, with(fmt.Sprintf("limits: {in_flight: %d}\n", allowed)))
	p := st.start()
	var served, shed, most atomic.Int64
	over := time.After(loadTime())
	done := make(chan struct{})
	go func() { <-over; close(done) }()
	var load sync.WaitGroup
	for i := range clients {
		load.Go(func() {
			c := newClient()
			defer leave(c)
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				s := newSession(forms[i%len(forms)], fmt.Sprint("s", i, "-", n/10), i%2 == 0)
				s.header = []string{"x-provider-fault", "delay=20ms"}
				switch got := st.once(c, p, s); {
				case got.looksWhole():
					served.Add(1)
				case got.status == 503 && got.retryAfter != "" && strings.Contains(string(got.answer), "limits.in_flight"):
					shed.Add(1)
				default:
					t.Errorf("%s got status %d, %v: %s", got.id, got.status, got.err, got.answer)
					return
				}
				most.Store(max(most.Load(), int64(st.up.Open()))) // near enough: it only has to see one too many
			}
		})
	}
	load.Wait()
	t.Logf("%d served, %d shed, at most %d at a time", served.Load(), shed.Load(), most.Load())
	if served.Load() == 0 || shed.Load() == 0 || most.Load() > allowed {
		t.Errorf("%d served, %d shed, %d at a time; want some, some, at most %d", served.Load(), shed.Load(), most.Load(), allowed)
	}
	for i := range 20 {
		st.say(p, newSession(forms[i%len(forms)], fmt.Sprint("after", i), false))
	}
	p.stop()
	st.trail.checkEnd(1)
}

// loadTime is how long a test keeps up a load.
func loadTime() time.Duration {
	if testing.Short() {
		return 500 * time.Millisecond
	}
	return 3 * time.Second
}

// once sends a turn with a client that is there already.
func (st *stage) once(c *http.Client, p *child, s *session) *try {
	t := s.newTry(1)
	st.trail.add(t)
	t.send(c, p.agents)
	return t
}

// TestI10_LargeEvents: an event of 40 MiB, in a stream of any dialect, coded, and
// as a document, passes whole and leaves the memory bounded.
func TestI10_LargeEvents(t *testing.T) {
	st := newStage(t)
	p := st.start()
	before := p.peakMemory()
	c := newClient()
	defer leave(c)
	f := func(form *form, stream bool, fault string) {
		t.Helper()
		s := newSession(form, fmt.Sprint("s", tryCount.Add(1)), stream)
		s.header = []string{"x-provider-fault", "event-bytes=41943040" + fault}
		got := st.once(c, p, s)
		list := st.trail.arrivals()[got.id]
		if got.err != nil || got.status != 200 || len(got.answer) < 30<<10 || len(list) != 1 || !slices.Equal(got.answer, list[0].Answer) {
			t.Errorf("%s, stream %v%s: status %d, %v, %d bytes", form.name, stream, fault, got.status, got.err, len(got.answer))
		}
		got.answer = nil
		st.trail.forget(got)
	}
	for _, form := range forms {
		f(form, true, "")
	}
	f(forms[0], true, ",encoding=gzip")
	f(forms[1], false, "")
	if grown := p.peakMemory() - before; grown > 96<<20 {
		t.Errorf("I10: memory grew by %d MiB", grown>>20)
	}
	p.stop()
	st.verify(false)
}

// forget takes a try out of the evidence.
func (tr *trail) forget(t *try) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.tries = slices.DeleteFunc(tr.tries, func(o *try) bool { return o == t })
}
