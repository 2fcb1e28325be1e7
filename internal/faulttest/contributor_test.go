package faulttest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// contributorFaults are what a contributor may do instead of answering.
var contributorFaults = []struct {
	name   string
	answer http.HandlerFunc
}{
	{"hangs", func(_ http.ResponseWriter, r *http.Request) { waitGone(r) }},
	{"panics", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	{"panics in its answer", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"messages":[{"role":"us`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}},
	{"answers 50 MiB", func(w http.ResponseWriter, _ *http.Request) { writeOpener(w, strings.Repeat("x", 50<<20)) }},
	{"never ends", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			pace(time.Millisecond)
		}
	}},
	{"fails", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 500) }},
	{"redirects", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }},
	{"talks nonsense", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"messages":7}`) }},
	{"claims a role", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"messages":[{"role":"tool","text":"x"}]}`)
	}},
}

// waitGone reads the request to its end, without which net/http does not see
// its client leave, and waits for that.
func waitGone(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// impatient gives contributors little time.
const impatient = "contributors:\n- {name: opener, kind: http, url: \"%s\", deadline: 300ms}\n"

// TestI5_ContributorFaults: whatever a contributor does, the session's policy
// decides; a composition that failed is not kept where requests are refused for
// it, and is kept, as the decision to go bare, where they were sent without.
func TestI5_ContributorFaults(t *testing.T) {
	for _, policy := range []string{"enforced", "best_effort"} {
		t.Run(policy, func(t *testing.T) {
			st := newStage(t, func(st *stage) {
				st.policy, st.config = policy, fmt.Sprintf(impatient, st.openers.url)
			})
			p := st.start()
			before := p.peakMemory()
			for i, fault := range contributorFaults {
				s := newSession(forms[i%len(forms)], fmt.Sprint("s", i), false)
				st.openers.setAnswer(fault.answer)
				got := st.attempt(p, s)
				st.openers.setAnswer(nil)
				if policy == "enforced" {
					st.wantRefusal(fault.name, got)
				} else if !got.looksWhole() {
					t.Errorf("a contributor that %s: status %d, %v", fault.name, got.status, got.err)
				}
				st.insist(p, s)
				if bare := st.trail.slotValues()[s.id].bytes == ""; bare != (policy != "enforced") {
					t.Errorf("a contributor that %s and then works: the session is bare: %v", fault.name, bare)
				}
			}
			if grown := p.peakMemory() - before; grown > 40<<20 {
				t.Errorf("I10: memory grew by %d MiB", grown>>20)
			}
			if n := p.metric("preface_compose_failed_total"); int(n) < len(contributorFaults) {
				t.Errorf("%v failed compositions counted, want %d", n, len(contributorFaults))
			}
			p.stop()
			st.trail.checkEnd(1)
		})
	}
}

// insist tries a turn again for as long as it is told to: the contributor has
// little time, and the machine may be slow.
func (st *stage) insist(p *child, s *session) {
	st.t.Helper()
	var got *try
	if !within(func() bool { got = st.attempt(p, s); return got.status != 503 }) || !got.looksWhole() {
		st.t.Errorf("%s of session %s: status %d, %v: %s", got.id, s.id, got.status, got.err, got.answer)
	}
}

// wantRefusal checks a refusal that invites the client to try again.
func (st *stage) wantRefusal(why string, got *try) {
	st.t.Helper()
	if got.err != nil || got.status != 503 || got.retryAfter == "" || !strings.Contains(string(got.answer), `"preface: `) {
		st.t.Errorf("a contributor that %s: status %d, retry-after %q, %v: %s", why, got.status, got.retryAfter, got.err, got.answer)
	}
	if len(st.trail.arrivals()[got.id]) > 0 {
		st.t.Errorf("a contributor that %s: the request was sent all the same", why)
	}
}

// TestI2_FirstSuccessFreezes: a contributor that says something else each time
// is asked once, also by a herd, and never again after a restart.
func TestI2_FirstSuccessFreezes(t *testing.T) {
	st := newStage(t)
	sessions := []*session{newSession(forms[0], "a", false), newSession(forms[1], "b", true), newSession(forms[2], "c", false)}
	for range 3 {
		p := st.start()
		for _, s := range sessions {
			s.hear(st.say(p, s).answer)
		}
		p.stop()
	}
	if n := st.openers.asked.Load(); n != int64(len(sessions)) {
		t.Errorf("the contributor was asked %d times for %d sessions", n, len(sessions))
	}
	st.trail.checkEnd(1)
}
