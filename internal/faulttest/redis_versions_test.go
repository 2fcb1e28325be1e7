package faulttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
)

// versions are configurations of which one replaces the other in a deploy that
// rolls: other texts, another list of contributors, other messages made of it.
var versions = [2]string{
	"contributors:\n- {name: rules, kind: text, text: \"v1 rules\"}\n",
	"contributors:\n- {name: skills, kind: text, text: \"v2 skills\", envelope: skills}\n- {name: rules, kind: text, text: \"v2 rules\"}\nprefix: {compose_timeout: 60s, closing: \"v2 closing\"}\n",
}

// contributorsOf names their contributors.
var contributorsOf = [2][]string{{"rules"}, {"skills", "rules", "closing"}}

// A deploy is two proxies over one Redis, one of each version.
type deploy struct {
	*stage
	base  string // configuration of both
	proxy [2]*child
}

func newDeploy(t *testing.T) *deploy {
	d := &deploy{stage: newStage(t, over(redistest.Start(t).URL(), inMemory))}
	d.base = d.config
	for v := range versions {
		d.proxy[v] = d.startVersion(v)
	}
	return d
}

func (d *deploy) startVersion(v int) *child {
	d.config = d.base + versions[v]
	return d.start()
}

func (d *deploy) stopAll() {
	for _, p := range d.proxy {
		p.stop()
	}
}

// madeBy tells which version made a prefix, or -1 if none did, or both.
func madeBy(prefix string) int {
	one, two := strings.Contains(prefix, "v1 rules"), strings.Contains(prefix, "v2 skills") && strings.Contains(prefix, "v2 rules")
	switch {
	case one && !strings.Contains(prefix, "v2"):
		return 0
	case two && !one:
		return 1
	}
	return -1
}

// TestI2_RedisTwoVersions: sessions that one version froze go on with the other,
// fork there, and outlive their own; they keep their bytes.
func TestI2_RedisTwoVersions(t *testing.T) {
	t.Parallel()
	d := newDeploy(t)
	var all []*session
	for v := range versions {
		for _, f := range forms {
			for _, stream := range []bool{false, true} {
				s := newSession(f, fmt.Sprintf("v%d-%s-%v", v+1, f.name, stream), stream)
				for turn := range 3 {
					s.hear(d.say(d.proxy[(v+turn)%2], s).answer)
				}
				d.say(d.proxy[1-v], forkOf(s))
				d.say(d.proxy[v], s)
				d.frozenBy(v, s.id)
				all = append(all, s)
			}
		}
	}
	d.proxy[0].stop() // the deploy is through
	d.proxy[0] = d.startVersion(1)
	for i, s := range all {
		d.say(d.proxy[i%2], s)
	}
	for i, f := range forms {
		s := newSession(f, "later-"+f.name, false)
		d.say(d.proxy[i%2], s)
		d.frozenBy(1, s.id)
	}
	d.stopAll()
	d.trail.checkEnd(1)
}

// forkOf is a session's other way to go on from its last answer.
func forkOf(s *session) *session {
	fork := *s
	fork.history = slices.Clone(s.history[:len(s.history)-1])
	fork.ask("the other way")
	return &fork
}

// frozenBy checks that a version's contributors made what a session carries, and
// that its anchor says so.
func (d *deploy) frozenBy(v int, session string) {
	d.t.Helper()
	if got := d.trail.slotValues()[session].bytes; madeBy(got) != v {
		d.t.Errorf("I2: session %s carries %q, want what version %d makes", session, got, v+1)
	}
	a, err := d.readAnchor(session)
	if err != nil {
		d.t.Errorf("I4: session %s: %v", session, err)
		return
	}
	var names []string
	for _, c := range a.Contributors {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, contributorsOf[v]) {
		d.t.Errorf("session %s was composed by %q, want %q", session, names, contributorsOf[v])
	}
}

// TestI5_RedisTwoVersionsRace: first requests of one session come to both
// versions at once, again and again: all carry what one of them made.
func TestI5_RedisTwoVersionsRace(t *testing.T) {
	t.Parallel()
	d := newDeploy(t)
	var won [2]int
	for i := range 20 {
		s := newSession(forms[i%len(forms)], fmt.Sprint("race", i), i%2 == 0)
		gate := make(chan struct{})
		var clients sync.WaitGroup
		for j := range 6 {
			clients.Go(func() { <-gate; d.say(d.proxy[(i+j)%2], s) })
		}
		close(gate)
		clients.Wait()
		v := madeBy(d.trail.slotValues()[s.id].bytes)
		if v < 0 {
			t.Fatalf("I5: session %s carries %q, which neither version makes", s.id, d.trail.slotValues()[s.id].bytes)
		}
		d.frozenBy(v, s.id)
		won[v]++
	}
	t.Logf("version 1 froze %d sessions, version 2 %d", won[0], won[1])
	d.stopAll()
	d.trail.checkEnd(1)
}

// TestI2_RedisTwoVersionsResume: a session that one version froze is resumed at
// the other, and back. Each epoch has what the version makes that froze it, but a
// history that is signed together with its prefix keeps that; all replicas
// follow.
func TestI2_RedisTwoVersionsResume(t *testing.T) {
	t.Parallel()
	d := newDeploy(t)
	for _, f := range forms {
		for _, stream := range []bool{false, true} {
			s := newSession(f, fmt.Sprintf("resumed-%s-%v", f.name, stream), stream)
			s.hear(d.epoch(0, s, "", 0))
			s.hear(d.epoch(1, s, "", 0))
			signed := f.keeps != nil && !stream
			for n, v := range []int{1, 0} { // resumed there
				want := v
				if signed {
					want = 0 // as it began
				}
				s.hear(d.epoch(v, s, fmt.Sprint("token ", n), want))
				d.follows(1-v, s, v, want)
				d.epoch(v, s, fmt.Sprint("token ", n), want) // the same once more
			}
			d.judgeEpochs(s, signed)
		}
	}
	d.stopAll()
	d.trail.checkArrivals()
	d.verify(false)
}

// epoch sends a turn to a version, with a resume signal or "", and requires that
// it carries what a version makes. It is no part of the trail, which knows
// sessions of one epoch.
func (d *deploy) epoch(v int, s *session, resume string, want int) (answer []byte) {
	d.t.Helper()
	t := d.off(v, s, resume)
	if got := d.carried(t); madeBy(got) != want {
		d.t.Errorf("I2: %s of session %s at version %d carries %q, want what version %d makes", t.id, s.id, v+1, got, want+1)
	}
	return t.answer
}

// off sends a turn that is no part of the trail.
func (d *deploy) off(v int, s *session, resume string) *try {
	d.t.Helper()
	c := newClient()
	defer leave(c)
	t := s.newTry(1)
	t.of.header = []string{"x-preface-resume", resume}
	if resume == "" {
		t.of.header = nil
	}
	t.send(c, d.proxy[v].agents)
	if !t.looksWhole() || !t.isWhole() {
		d.t.Errorf("%s of session %s at version %d: status %d, %v: %s", t.id, s.id, v+1, t.status, t.err, t.answer)
	}
	return t
}

// carried is what arrived in a try's slot.
func (d *deploy) carried(t *try) string {
	d.t.Helper()
	for _, e := range d.up.Received() {
		for _, h := range e.Header {
			if strings.EqualFold(h.Name, tryHeader) && h.Value == t.id {
				got, ok := t.inserted(e.Body)
				if !ok {
					d.t.Errorf("I3: without the inserted range %s is not the client's body", t.id)
				}
				return got
			}
		}
	}
	d.t.Errorf("%s has not arrived", t.id)
	return ""
}

// follows requires that a version comes to carry a session's new epoch, which
// another version has begun: it may take a second to learn of it.
func (d *deploy) follows(v int, s *session, at, want int) {
	d.t.Helper()
	begun := d.off(at, s, "")
	if !within(func() bool { return d.off(v, s, "").prefix == begun.prefix }) {
		d.t.Errorf("I2: session %s at version %d does not follow to its new epoch", s.id, v+1)
	}
	d.epoch(v, s, "", want)
}

// judgeEpochs checks a session's three anchors.
func (d *deploy) judgeEpochs(s *session, signed bool) {
	d.t.Helper()
	ctx := context.Background()
	r := d.openLog()
	defer r.Close()
	keys, err := keysIn(ctx, r, s.id)
	if err != nil || len(keys[s.id]) != 1 {
		d.t.Fatalf("I4: session %s is in the log %d times, want once; %v", s.id, len(keys[s.id]), err)
	}
	list, err := r.Anchors(ctx, keys[s.id][0])
	if err != nil || len(list) != 3 {
		d.t.Fatalf("I4: session %s has %d anchors, want 3; %v", s.id, len(list), err)
	}
	for i, a := range list {
		want := [...]int{0, 1, 0}[i]
		why := ""
		if signed && i > 0 {
			want, why = 0, "signed_history"
		}
		if got := string(a.Renderings[0].Bytes); madeBy(got) != want || a.Why != why || (a.Reason == logsink.ReasonResume) != (i > 0) {
			d.t.Errorf("I2: epoch %d of session %s: reason %s, why %q, %q; want why %q and what version %d makes", i+1, s.id, a.Reason, a.Why, got, why, want+1)
		}
	}
}
