package faulttest

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/internal/netfault"
	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// over has a stage's log be at a URL, with settings of the section log.
func over(url, settings string) func(*stage) {
	return func(st *stage) { st.log, st.config = url, "log: {"+settings+"}\n" }
}

// inMemory are settings for servers without persistence. The deadline is long so
// that a slow machine decides nothing.
const inMemory = "durability: memory, timeout: 60s"

// TestI1_RedisDown: Redis is down, or mute, before a session's first request.
// The client is told to come again and the provider sees nothing; when it is
// back, so are the answers.
func TestI1_RedisDown(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "appendonly yes", "appendfsync always") // it is stopped and started
	far := netfault.New(t, s.Addr)
	st := newStage(t, over("redis://"+far.Addr(), "durability: fsync, timeout: 1s"))
	p := st.start()
	down := map[string]struct{ down, up func() }{
		"stopped": {s.Stop, func() {
			if err := s.Restart(); err != nil {
				t.Error(err)
			}
		}},
		"refused": {func() { far.RefuseNew(); far.CutAll() }, far.Heal},
		"mute":    {func() { far.Mute(netfault.Both) }, far.Heal},
	}
	for how, redis := range down {
		before := len(st.up.Received())
		redis.down()
		for _, f := range forms {
			began := time.Now()
			got := st.attempt(p, newSession(f, how+"-"+f.name, false))
			if got.status != 503 || got.retryAfter == "" || got.shouldRetry != "true" {
				t.Errorf("I1: %s, %s: status %d, retry-after %q, x-should-retry %q, %v; want 503 and to retry", how, f.name, got.status, got.retryAfter, got.shouldRetry, got.err)
			}
			t.Logf("%s, %s: refused after %v", how, f.name, time.Since(began).Round(time.Millisecond))
		}
		if n := len(st.up.Received()) - before; n != 0 {
			t.Errorf("I1: %s: the provider saw %d requests, want none", how, n)
		}
		redis.up()
		for _, f := range forms {
			st.insist(p, newSession(f, how+"-"+f.name, false))
		}
	}
	p.stop()
	st.trail.checkEnd(1)
}

// TestI2_RedisDownMeanwhile: Redis is down while known sessions go on. They keep
// their bytes, new ones are refused, and what was recorded meanwhile is in the
// log in the end.
func TestI2_RedisDownMeanwhile(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "appendonly yes", "appendfsync always")
	st := newStage(t, over(s.URL(), "durability: fsync, timeout: 1s"))
	p := st.start()
	var known []*session
	for _, f := range forms {
		known = append(known, newSession(f, "known-"+f.name, false))
	}
	turn := func() {
		t.Helper()
		for _, k := range known {
			k.hear(st.say(p, k).answer)
		}
	}
	turn()
	s.Kill()
	turn()
	turn()
	if got := st.attempt(p, newSession(forms[0], "new", false)); got.status != 503 {
		t.Errorf("I1: a new session got status %d, want 503", got.status)
	}
	if n := st.openers.asked.Load(); n > int64(len(forms)+1) {
		t.Errorf("I2: %d openers were composed for %d known sessions and a new one", n, len(forms))
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	st.insist(p, newSession(forms[0], "new", false))
	turn()
	p.stop()
	st.trail.checkEnd(1)
}

// TestI2_LostHistory: Redis loses the newest sessions, as a replica does that
// takes over without the last writes. Who knows them puts them back, and all
// others go on with that.
func TestI2_LostHistory(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	st := newStage(t, over(s.URL(), inMemory))
	p := st.start()
	old, lost := newSession(forms[0], "old", false), newSession(forms[1], "lost", false)
	recorded := func(p *child, s *session) {
		t.Helper()
		got := st.say(p, s)
		s.hear(got.answer)
		eventually(t, "the answer is recorded", func() bool { return st.responses()[got.requestID] != nil })
	}
	recorded(p, old)
	if _, err := s.Do("SAVE"); err != nil {
		t.Fatal(err)
	}
	recorded(p, lost)
	s.Kill()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if _, err := st.readAnchor("lost"); err != errNotLogged {
		t.Fatalf("readAnchor(lost) = %v, want that the server has lost it", err)
	}
	st.insist(p, old)
	st.insist(p, lost)
	if !within(func() bool { return p.metric("preface_log_lost_anchors_restored_total") == 1 }) {
		t.Errorf("I2: preface_log_lost_anchors_restored_total is %v, want 1", p.metric("preface_log_lost_anchors_restored_total"))
	}
	st.agrees("lost")
	another := st.start()
	recorded(another, lost)
	recorded(another, old)
	if n := st.openers.asked.Load(); n != 2 {
		t.Errorf("I2: %d openers were composed for two sessions", n)
	}
	// The log is emptied under both, when neither has anything left to record.
	if _, err := s.Do("FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	st.say(p, lost)
	st.say(another, old)
	if !within(func() bool {
		return p.metric("preface_log_lost_anchors_restored_total") == 2 && another.metric("preface_log_lost_anchors_restored_total") == 1
	}) {
		t.Errorf("I2: an emptied log was not filled again: %v and %v anchors were put back in all, want 2 and 1",
			p.metric("preface_log_lost_anchors_restored_total"), another.metric("preface_log_lost_anchors_restored_total"))
	}
	st.agrees("lost")
	st.agrees("old")
	p.stop()
	another.stop()
	st.trail.checkArrivals()
}

// agrees checks that the log has the bytes that a session has carried.
func (st *stage) agrees(session string) {
	st.t.Helper()
	a, err := st.readAnchor(session)
	if err == nil {
		err = carries(a, st.trail.slotValues()[session].bytes)
	}
	if err != nil {
		st.t.Errorf("I2: session %s: %v", session, err)
	}
}

// TestI5_RedisHerd: 300 first requests of one session come to three proxies at
// once.
func TestI5_RedisHerd(t *testing.T) {
	t.Parallel()
	st := newStage(t, over(redistest.Start(t).URL(), inMemory))
	proxies := []*child{st.start(), st.start(), st.start()}
	const herd = 300
	for _, f := range forms {
		asked := st.openers.asked.Load()
		s := newSession(f, "herd-"+f.name, false)
		gate := make(chan struct{})
		var clients sync.WaitGroup
		for i := range herd {
			clients.Go(func() {
				<-gate
				st.say(proxies[i%len(proxies)], s)
			})
		}
		close(gate)
		clients.Wait()
		if n := st.openers.asked.Load() - asked; n > int64(len(proxies)) {
			t.Errorf("I5: %d proxies composed %d times", len(proxies), n)
		}
		if st.trail.slotValues()[s.id].bytes == "" {
			t.Errorf("I5: session %s carries nothing", s.id)
		}
	}
	if n := len(st.trail.arrivals()); n != herd*len(forms) {
		t.Errorf("%d requests arrived, want %d", n, herd*len(forms))
	}
	for _, p := range proxies {
		p.stop()
	}
	st.trail.checkEnd(1)
}

// TestI2_RedisStopped: a proxy is stopped in the middle of freezing while another
// one serves the session. When it goes on it adopts what the other one froze, or
// the other one adopted what it had frozen.
func TestI2_RedisStopped(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	for i, point := range []string{failpoint.Composed, failpoint.BeforeLog, failpoint.Logged, failpoint.Acknowledged} {
		f := forms[i%len(forms)]
		st := newStage(t, over(url, inMemory))
		stale, other := st.start(failAt(point, 1, "stop")), st.start()
		s := newSession(f, "stopped-"+point, false)
		late := make(chan *try)
		go func() { late <- st.attempt(stale, s) }()
		eventually(t, "the proxy is stopped", stale.isStopped)
		st.say(other, s)
		stale.signal(syscall.SIGCONT)
		if got := <-late; !got.looksWhole() {
			t.Errorf("%s: the stopped proxy went on with status %d, %v: %s", point, got.status, got.err, got.answer)
		}
		st.say(stale, s)
		st.say(other, s)
		// Once more, in the middle of nothing.
		stale.signal(syscall.SIGSTOP)
		eventually(t, "the proxy is stopped again", stale.isStopped)
		s.hear(st.say(other, s).answer)
		stale.signal(syscall.SIGCONT)
		st.say(stale, s)
		st.agrees(s.id)
		stale.stop()
		other.stop()
		st.trail.checkArrivals()
	}
}

// TestI1_RedisKill9: one of three proxies over one Redis is killed at every
// point, again and again, under agents that go on with the others. A long run,
// with 50 kills at each point, is one of
//
//	PREFACE_LIVES=50 go test -race -timeout 40m -v -run TestI1_RedisKill9 ./internal/faulttest
func TestI1_RedisKill9(t *testing.T) {
	for i, p := range killPoints {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.victim = nil // its session may have gone on with another
			k := newKilling(t, p, uint64(200+i), over(redistest.Start(t).URL(), inMemory))
			k.others = []*child{k.start(), k.start()}
			k.run(killsOf(10))
		})
	}
}

// TestI2_RedisWithoutCache: two proxies whose caches refuse everything. Each turn
// asks the log, and nothing else is different.
func TestI2_RedisWithoutCache(t *testing.T) {
	t.Parallel()
	st := newStage(t, over(redistest.Start(t).URL(), inMemory), func(st *stage) { st.config += "cache: {bytes: 1}\n" })
	proxies := []*child{st.start(), st.start()}
	c := &crew{st: st, name: "uncached"}
	for range 30 {
		c.made++
		c.idle = append(c.idle, c.make(c.made))
	}
	c.work(agentsAtOnce, 1, proxies...)
	for _, v := range st.trail.victims(0) {
		t.Errorf("%s failed: status %d, %v", v.id, v.status, v.err)
	}
	if n := st.openers.asked.Load(); n != int64(c.made) {
		t.Errorf("I2: composed %d times for %d sessions", n, c.made)
	}
	for _, p := range proxies {
		p.stop()
	}
	st.trail.checkEnd(1)
}
