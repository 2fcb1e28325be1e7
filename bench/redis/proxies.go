package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// proxies measures a proxy with the embedded log and its replicas with a log in
// Redis.
type proxies struct {
	redis, embedded process
	replicas        processes
}

func (p *proxies) measure(t *table) error {
	if len(p.replicas) == 0 || p.embedded.addr == "" {
		return errors.New("want -embedded and -replica")
	}
	if err := p.warm(); err != nil {
		return err
	}
	for _, f := range []func(*table) error{p.first, p.known, p.paused} {
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

func (p *proxies) all() processes { return append(processes{p.embedded}, p.replicas...) }

// replica is the one whose turn it is.
func (p *proxies) replica(i int) process { return p.replicas[i%len(p.replicas)] }

// warm makes connections and lets every process read its code.
func (p *proxies) warm() error {
	for i := range 300 {
		for _, to := range p.all() {
			if _, err := send(to, fmt.Sprintf("warm-%d", i), body(2000)); err != nil {
				return err
			}
		}
	}
	return nil
}

// How many new sessions begin at each side in a round, and how far apart.
const (
	firstRounds = 7
	firsts      = 400
	firstPause  = 5 * time.Millisecond
)

// first measures the first requests of new sessions. Of each quantile it tells
// the median over rounds, so that one bad moment of the machine is not the p99.
func (p *proxies) first(t *table) error {
	bars := []struct{ at, most float64 }{{0.5, 1.5}, {0.99, 6}}
	embedded, redis, added := make([][]float64, 2), make([][]float64, 2), make([][]float64, 2)
	for round := range firstRounds {
		e, r, err := p.firstOnes(round)
		if err != nil {
			return err
		}
		for i, q := range bars {
			of, in := ms(quantile(e, q.at)), ms(quantile(r, q.at))
			embedded[i], redis[i], added[i] = append(embedded[i], of), append(redis[i], in), append(added[i], in-of)
		}
	}
	for i, q := range bars {
		name := fmt.Sprintf("first request of a new session, p%g", 100*q.at)
		t.add(name+", embedded log", quantile(embedded[i], 0.5), "ms")
		t.add(name+", log in Redis", quantile(redis[i], 0.5), "ms")
		t.bar(name+", added", quantile(added[i], 0.5), "ms", q.most)
	}
	return nil
}

// firstOnes sends to both sides in turn. Requests begin at their times whether
// or not those before them have ended.
func (p *proxies) firstOnes(round int) (embedded, redis []time.Duration, err error) {
	var e, r latencies
	var g errgroup.Group
	next := time.NewTicker(firstPause)
	defer next.Stop()
	for i := range 2 * firsts {
		<-next.C
		to, into := p.embedded, &e
		if i%2 == 1 {
			to, into = p.replica(i/2), &r
		}
		g.Go(func() error { return into.send(to, fmt.Sprintf("new-%d-%d", round, i), body(2000)) })
	}
	err = g.Wait()
	return e.list, r.list, err
}

// latencies are collected by many goroutines.
type latencies struct {
	mu   sync.Mutex // guards list
	list []time.Duration
}

func (l *latencies) send(to process, session, body string) error {
	took, err := send(to, session, body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, took)
	return err
}

// Known sessions, how long their requests are watched, and how many come in a
// second.
const (
	knownSessions = 60
	knownTime     = 4 * time.Second
	knownRate     = 600
	knownRounds   = 5
)

// known measures the CPU time of the proxies for requests of sessions that they
// know. Both sides get the same load: what replicas do without being asked falls
// on fewer requests each.
func (p *proxies) known(t *table) error {
	if err := p.idle(t); err != nil {
		return err
	}
	for _, size := range []struct {
		name string
		n    int
	}{{"2 KB", 2000}, {"100 KB", 100_000}} {
		if err := p.meet(body(size.n)); err != nil {
			return err
		}
		var embedded, redis, ratio []float64
		for range knownRounds {
			e, err := p.cpu(processes{p.embedded}, body(size.n))
			if err != nil {
				return err
			}
			r, err := p.cpu(p.replicas, body(size.n))
			if err != nil {
				return err
			}
			embedded, redis, ratio = append(embedded, e), append(redis, r), append(ratio, r/e)
		}
		name := "request of " + size.name + " of a known session, CPU"
		t.add(name+", embedded log", quantile(embedded, 0.5), "us")
		t.add(name+", log in Redis", quantile(redis, 0.5), "us")
		t.bar(name+", Redis / embedded", quantile(ratio, 0.5), "", 1.25)
	}
	return nil
}

// idle measures what a process takes while nothing is asked of it.
func (p *proxies) idle(t *table) error {
	var took [2]float64
	for i, list := range []processes{{p.embedded}, p.replicas} {
		before, err := cpuOf(list)
		if err != nil {
			return err
		}
		time.Sleep(knownTime)
		after, err := cpuOf(list)
		if err != nil {
			return err
		}
		took[i] = ms(after-before) / knownTime.Seconds() / float64(len(list))
	}
	t.add("an idle proxy, CPU in a second, embedded log", took[0], "ms")
	t.add("an idle proxy, CPU in a second, log in Redis", took[1], "ms")
	return nil
}

// meet makes all sessions known to all processes.
func (p *proxies) meet(body string) error {
	for i := range knownSessions {
		for _, to := range p.all() {
			if _, err := send(to, sessionID(i), body); err != nil {
				return err
			}
		}
	}
	return nil
}

// cpu returns the CPU time of processes for one request, in µs. It goes on until
// the queues of records are empty.
func (p *proxies) cpu(at processes, body string) (float64, error) {
	before, err := cpuOf(at)
	if err != nil {
		return 0, err
	}
	var g errgroup.Group
	n := int(knownTime.Seconds() * knownRate)
	next := time.NewTicker(time.Second / knownRate)
	defer next.Stop()
	for i := range n {
		<-next.C
		g.Go(func() error {
			_, err := send(at[i%len(at)], sessionID(i/len(at)%knownSessions), body)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond) // queues hold records for 100 ms
	after, err := cpuOf(at)
	return float64((after - before).Nanoseconds()) / 1000 / float64(n), err
}

// cpuOf is the user and system time of processes since they began, to 10 ms.
func cpuOf(list processes) (sum time.Duration, err error) {
	for _, p := range list {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
		if err != nil {
			return 0, err
		}
		_, after, _ := strings.Cut(string(b), ") ") // the program's name may have spaces
		fields := strings.Fields(after)
		for _, f := range fields[11:13] {
			ticks, err := strconv.Atoi(f)
			if err != nil {
				return 0, fmt.Errorf("cannot read the CPU time of process %d: %w", p.pid, err)
			}
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum, nil
}

// pausedRequests are sent while the server stands still.
const pausedRequests = 300

// paused sends requests of known sessions, one after the other, before and while
// the server is stopped: what waited for it would not end.
func (p *proxies) paused(t *table) error {
	before, err := p.oneByOne()
	if err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond)
	if err := syscall.Kill(p.redis.pid, syscall.SIGSTOP); err != nil {
		return err
	}
	during, err := p.oneByOne()
	if err := errors.Join(err, syscall.Kill(p.redis.pid, syscall.SIGCONT)); err != nil {
		return err
	}
	name := fmt.Sprintf("%d requests of known sessions, the server ", pausedRequests)
	t.add(name+"running, p50", ms(quantile(before, 0.5)), "ms")
	t.add(name+"running, slowest", ms(quantile(before, 1)), "ms")
	t.add(name+"stopped, p50", ms(quantile(during, 0.5)), "ms")
	t.bar(name+"stopped, slowest", ms(quantile(during, 1)), "ms", 100)
	return nil
}

func (p *proxies) oneByOne() (list []time.Duration, err error) {
	for i := range pausedRequests {
		took, err := send(p.replica(i), sessionID(i/len(p.replicas)%knownSessions), body(2000))
		if err != nil {
			return nil, err
		}
		list = append(list, took)
	}
	return list, nil
}
