package faulttest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
)

// A killPoint is a point at which the program is killed, and what a victim
// there must look like: that shows that the point lies where it says.
type killPoint struct {
	name   string
	most   int // the hit at which it is killed is 1 to this
	victim func(v victim) bool
}

// Points before the anchor and between the anchor and the first byte are hit by
// openings alone.
var killPoints = []killPoint{
	{failpoint.Accepted, 12, unsent},
	{failpoint.BodyRead, 12, unsent},
	{failpoint.Composed, 5, unlogged},
	{failpoint.BeforeLog, 5, unlogged},
	{failpoint.Logged, 5, loggedUnsent},
	{failpoint.Acknowledged, 5, loggedUnsent},
	{failpoint.BeforeDial, 12, loggedUnsent},
	{failpoint.HeadSent, 12, sentInPart},
	{failpoint.BodyHalf, 12, sentInPart},
	{failpoint.AwaitByte, 12, unanswered},
	{failpoint.FirstRelayed, 20, anything},
	{failpoint.MidEvent, 20, anything},
	{failpoint.BeforeRecord, 12, anything},
	{failpoint.Draining, 12, nil}, // nobody need be under way
}

func anything(victim) bool       { return true }
func unsent(v victim) bool       { return v.arrival == nil }
func unlogged(v victim) bool     { return v.arrival == nil && v.anchor == nil }
func loggedUnsent(v victim) bool { return v.arrival == nil && v.anchor != nil }
func sentInPart(v victim) bool {
	return v.arrival != nil && v.arrival.ReceivedAt.IsZero() && v.anchor != nil
}
func unanswered(v victim) bool {
	return v.arrival != nil && v.status == 0 && v.anchor != nil
}

// kills is how often the program is killed at each point when it is alone.
func kills() int {
	if testing.Short() {
		return 3
	}
	return 20
}

// killsOf is how often one of several replicas is killed at each point:
// PREFACE_LIVES, if that is set, or that part of what one alone is.
func killsOf(part int) int {
	if n := lives(); n > 0 {
		return n
	}
	return (kills() + part - 1) / part
}

// lives is PREFACE_LIVES, by which tests over replicas are run for longer: 50 is
// what reliability asks for of a kill at each point, 10 of a rolling restart. 0 if
// it is not set.
func lives() int {
	n, _ := strconv.Atoi(os.Getenv("PREFACE_LIVES")) // what is no number is not set
	return n
}

// TestI1_Kill9: the program is killed at every point, again and again on one
// log, under agents that begin, continue and stream; it holds I1, I2, I3, I4, I8
// and I9. A victim before the anchor has sent nothing; one after it goes on with
// the bytes that were logged.
func TestI1_Kill9(t *testing.T) {
	for i, p := range killPoints {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			newKilling(t, p, uint64(i)).run(kills())
		})
	}
}

// TestI1_Kill9BesideAnother: the same with a second proxy on the same log, which
// lives on: whoever loses one proxy tries again with the other.
func TestI1_Kill9BesideAnother(t *testing.T) {
	for i, p := range killPoints {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.victim = nil // its session may have gone on with the other
			k := newKilling(t, p, uint64(100+i))
			k.others = []*child{k.start()}
			k.run(killsOf(4))
		})
	}
}

// A killing is one point's series of lives.
type killing struct {
	*stage
	killPoint
	crew   *crew
	rng    *rand.Rand
	others []*child // proxies that are not killed
}

func newKilling(t *testing.T, p killPoint, seed uint64, change ...func(*stage)) *killing {
	k := &killing{stage: newStage(t, change...), killPoint: p, rng: rand.New(rand.NewPCG(7, seed))}
	k.crew = &crew{st: k.stage, name: "kill-" + p.name}
	k.crew.more.Store(true)
	return k
}

func (k *killing) run(lives int) {
	for life := 1; life <= lives && !k.t.Failed(); life++ {
		k.live(life)
	}
	k.finish(lives + 1)
	k.t.Logf("%s: %d kills, %d sessions, %d tries, %d arrived", k.name, lives, k.crew.made, len(k.trail.tries), len(k.up.Received()))
}

const agentsAtOnce = 4

// live is one life: load until the n-th hit kills.
func (k *killing) live(life int) {
	n := 1 + k.rng.IntN(k.most)
	draining := k.name == failpoint.Draining
	env := failAt(k.name, n, "kill")
	if draining {
		env = failAt(k.name, 1, "kill")
	}
	p := k.start(env)
	if draining {
		go k.drainAfter(p, k.crew.sent.Load()+int64(n))
	}
	k.crew.work(agentsAtOnce, life, append([]*child{p}, k.others...)...)
	if !p.killed() {
		k.t.Fatalf("life %d ended with %v; stderr:\n%s", life, p.over(), p.stderr.String())
	}
	k.settle()
	// Whoever opens a log first after a crash recovers it: by turns the checker
	// and the next proxy.
	if life%2 == 0 {
		k.trail.checkDeath(life)
		k.witness(life)
	}
}

// drainAfter begins the shutdown of a proxy when so many tries were sent.
func (k *killing) drainAfter(p *child, sent int64) {
	for {
		select {
		case <-p.ended:
			return
		default:
		}
		if k.crew.sent.Load() >= sent {
			p.signal(syscall.SIGTERM)
			return
		}
		pace(time.Millisecond)
	}
}

// settle waits until the provider is done with what a dead proxy left.
func (st *stage) settle() {
	st.t.Helper()
	if !within(func() bool { return st.up.Open() == 0 }) {
		for _, e := range st.up.Received() {
			if e.Open() {
				st.t.Errorf("the provider still works on %s, fault %q, received at %v, answered at %v, client gone at %v", e.Path, e.Fault, e.ReceivedAt, e.AnswerAt, e.GoneAt)
			}
		}
		st.t.FailNow()
	}
}

// witness checks that somebody was killed where the point is said to be. What
// the victim had sent may still be on its way to the provider.
func (k *killing) witness(life int) {
	if k.victim == nil {
		return
	}
	var seen []string
	found := within(func() bool {
		seen = nil
		for _, v := range k.trail.victims(life) {
			if k.victim(v) {
				return true
			}
			seen = append(seen, fmt.Sprintf("%s: arrived %v, anchored %v, status %d", v.id, v.arrival != nil, v.anchor != nil, v.status))
		}
		return false
	})
	if !found {
		k.t.Errorf("life %d: nobody was killed at %s: %q", life, k.name, seen)
	}
}

// finish lets all sessions end, and judges the whole.
func (k *killing) finish(life int) {
	p := k.start()
	k.crew.more.Store(false)
	k.crew.work(agentsAtOnce, life, append([]*child{p}, k.others...)...)
	for _, v := range k.trail.victims(life) {
		k.t.Errorf("%s failed in a life without a fault: status %d, %v", v.id, v.status, v.err)
	}
	p.stop()
	for _, o := range k.others {
		o.stop()
	}
	k.trail.checkEnd(life)
}
