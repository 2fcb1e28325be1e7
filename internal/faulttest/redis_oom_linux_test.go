package faulttest

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// TestI1_RedisOutOfMemory: one of three replicas gets no more memory and dies of
// large bodies in mid-work, again and again. Whoever it served goes on with
// another, with the bytes that were logged.
//
// The limit is one of address space, which the Go runtime answers with the end of
// the process, at whatever allocation it meets: no function of the program gets to
// run any more. The kernel's own way, SIGKILL, is that of TestI1_RedisKill9; it
// would need a memory controller that is this test's to use.
func TestI1_RedisOutOfMemory(t *testing.T) {
	t.Parallel()
	st := newStage(t, over(redistest.Start(t).URL(), inMemory))
	o := &starving{stage: st, others: []*child{st.start(), st.start()}}
	o.crew = &crew{st: st, name: "oom", patient: true}
	deaths := max(2, lives())
	for life := 1; life <= deaths && !t.Failed(); life++ {
		o.live(life)
	}
	for _, p := range o.others {
		p.stop()
	}
	for _, v := range st.trail.all(0) {
		if !v.looksWhole() && (v.via == o.others[0] || v.via == o.others[1]) {
			t.Errorf("%s failed at a replica that had memory: status %d, %v", v.id, v.status, v.err)
		}
	}
	st.trail.checkEnd(deaths + 1)
	t.Logf("%d deaths, %d sessions, %d large ones, %d of these were at the replica that died", deaths, o.crew.made, o.large, o.victims)
	if o.victims == 0 {
		t.Error("no large body met its replica's end")
	}
}

// starving is a replica that gets no more memory, beside two that do.
type starving struct {
	*stage
	crew   *crew
	others []*child

	mu             sync.Mutex // guards the following
	large, victims int
}

// live is one life: ordinary load on all, large bodies for the one that starves,
// until it dies.
func (o *starving) live(life int) {
	o.t.Helper()
	p := o.start()
	p.squeeze(16 << 20)
	o.crew.more.Store(true)
	var load sync.WaitGroup
	load.Go(func() { o.crew.work(2, life, append([]*child{p}, o.others...)...) })
	ordinary := o.crew.sent.Load() + 20
	eventually(o.t, "it is under load", func() bool { return o.crew.sent.Load() >= ordinary })
	for i := range 16 {
		load.Go(func() { o.overfeed(life, i, p) })
	}
	state := p.over()
	o.crew.more.Store(false)
	load.Wait()
	if said := p.stderr.String(); state.ExitCode() != 2 || !strings.Contains(said, "out of memory") && !strings.Contains(said, "cannot allocate memory") {
		o.t.Errorf("life %d ended with %v, not for want of memory:\n%.2000s", life, state, said)
	}
	o.settle()
	o.trail.checkDeath(life)
}

// overfeed begins sessions with large bodies until the replica is dead. What was
// lost with it is tried again with another.
func (o *starving) overfeed(life, i int, p *child) {
	client := newClient()
	defer leave(client)
	for n := 0; ; n++ {
		s := newSession(forms[(i+n)%len(forms)], fmt.Sprintf("large-%d-%d-%d", life, i, n), n%2 == 0)
		s.header = []string{"x-provider-fault", "delay=300ms"} // so that many are under way at once
		s.history = []string{fmt.Sprintf(s.user, strings.Repeat("words and more ", 2<<20/15))}
		lost := !o.sendTo(p, client, s, life).looksWhole()
		if lost {
			o.sendTo(o.others[i%len(o.others)], client, s, life)
		}
		o.mu.Lock()
		o.large++
		if lost {
			o.victims++
		}
		o.mu.Unlock()
		select {
		case <-p.ended:
			return
		default:
		}
	}
}

func (o *starving) sendTo(p *child, client *http.Client, s *session, life int) *try {
	t := s.newTry(life)
	t.via = p
	o.trail.add(t)
	t.send(client, p.agents)
	return t
}

var sizeLine = regexp.MustCompile(`VmSize:\s+(\d+) kB`)

// squeeze lets the process have so many bytes of address space more than it has.
func (c *child) squeeze(more uint64) {
	c.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	m := sizeLine.FindSubmatch(status)
	if m == nil {
		c.t.Fatalf("no VmSize in %s", status)
	}
	kb, _ := strconv.ParseUint(string(m[1]), 10, 64) // digits
	limit := unix.Rlimit{Cur: kb<<10 + more, Max: kb<<10 + more}
	if err := unix.Prlimit(c.cmd.Process.Pid, unix.RLIMIT_AS, &limit, nil); err != nil {
		c.t.Fatal(err)
	}
}
