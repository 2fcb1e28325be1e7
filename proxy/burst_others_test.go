package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
)

// onRedis puts a bench's log on a server that others share.
func onRedis(url string) setupFunc {
	return func(b *bench, _ *Setup, d *Deps, _ *prefixstore.Options) {
		l, err := logsink.OpenRedis(b.t.Context(), url, logsink.Config{Durability: logsink.DurableMemory})
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { l.Close() })
		d.Log, d.Bursts = l, l.Bursts()
	}
}

// newBurstReplicas returns replicas on one Redis, in front of the first one's
// provider.
func newBurstReplicas(t *testing.T, n int, hold time.Duration) ([]*burstBench, *redistest.Server) {
	redis := redistest.Start(t)
	first := newBurstBench(t, hold, onRedis(redis.URL()))
	all := []*burstBench{first}
	for range n - 1 {
		all = append(all, newBurstBench(t, hold, onRedis(redis.URL()), func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
			b.up = first.up
			s.Config = b.config(first.up.URL())
			s.Config.Burst.Hold = hold
		}))
	}
	return all, redis
}

// wrote counts the requests that paid for a write, and those that read alone.
func (bb *burstBench) wrote() (wrote, read int) {
	for _, x := range bb.received() {
		switch {
		case x.Tokens.Written() > 0:
			wrote++
		case x.Tokens.CacheRead > 0:
			read++
		}
	}
	return wrote, read
}

// awaitHeld waits until each replica holds so many.
func awaitHeld(t *testing.T, all []*burstBench, want ...int64) {
	t.Helper()
	eventually(t, fmt.Sprint("the replicas hold ", want), func() bool {
		for i, n := range want {
			if all[i].held() != n {
				return false
			}
		}
		return true
	})
}

// beginOn sends a thread's first request to a replica.
func beginOn(bb *burstBench, thread string, header ...string) *pending {
	return bb.send("/v1/messages", burstTurn, append(threadHeader(thread), header...)...)
}

// TestBurstOverReplicas: threads of one session begin on three replicas at once,
// and one of them writes. Later none waits, wherever it begins.
func TestBurstOverReplicas(t *testing.T) {
	all, _ := newBurstReplicas(t, 3, patience)
	first := all[0].start("a0", 0, 1)
	var rest []*pending
	for i := range 6 {
		rest = append(rest, beginOn(all[i%3], fmt.Sprint("b", i)))
	}
	awaitHeld(t, all, 2, 2, 2)
	all[0].open()
	for i, p := range append(rest, first) {
		p.answered(t, fmt.Sprint("request ", i))
	}
	if wrote, read := all[0].wrote(); wrote != 1 || read != 6 {
		t.Errorf("%d requests wrote and %d read, want 1 and 6", wrote, read)
	}
	for i, bb := range all {
		if got := bb.ends(); got != "released 2" {
			t.Errorf("replica %d: waits ended so: %s, want released 2", i, got)
		}
	}
}

// TestBurstKnownToOthers: what one replica has seen begin, another need not wait
// for; and what another tenant has, it does not know.
func TestBurstKnownToOthers(t *testing.T) {
	all, _ := newBurstReplicas(t, 2, patience)
	beginOn(all[0], "a0", passes, "1").answered(t, "the first")
	all[0].srv.bursts.others.settle()
	beginOn(all[1], "a1", passes, "1").answered(t, "one on the other replica")
	stranger := beginOn(all[0], "a2", "x-api-key", "sk-test-2")
	eventually(t, "the other tenant's request arrives", func() bool { return all[0].arrived.Load() == 3 })
	same := beginOn(all[1], "a3", "x-api-key", "sk-test-2")
	awaitHeld(t, all, 0, 1)
	all[0].open()
	stranger.answered(t, "the other tenant's")
	same.answered(t, "the other tenant's second")
	if got := all[0].ends() + "/" + all[1].ends(); got != "/released 1" {
		t.Errorf("waits ended so: %s, want /released 1", got)
	}
}

// TestBurstLeaderElsewhereFails: when the one ahead on another replica comes to
// nothing, one is the next that all wait for.
func TestBurstLeaderElsewhereFails(t *testing.T) {
	all, _ := newBurstReplicas(t, 3, patience)
	first := beginOn(all[0], "a0", "x-provider-fault", "status=529")
	eventually(t, "it has arrived", func() bool { return all[0].arrived.Load() == 1 })
	rest := []*pending{beginOn(all[1], "a1"), beginOn(all[2], "a2"), beginOn(all[2], "a3")}
	awaitHeld(t, all, 0, 1, 2)
	all[0].open()
	if <-first.done; first.reply.StatusCode != 529 {
		t.Errorf("the first one was answered %d, want 529", first.reply.StatusCode)
	}
	for i, p := range rest {
		p.answered(t, fmt.Sprint("request ", i))
	}
	if wrote, read := all[0].wrote(); wrote != 1 || read != 2 {
		t.Errorf("%d requests wrote and %d read, want 1 and 2", wrote, read)
	}
}

// TestBurstLeaderElsewhereStalls: the deadline is each request's own.
func TestBurstLeaderElsewhereStalls(t *testing.T) {
	all, _ := newBurstReplicas(t, 2, 100*time.Millisecond)
	first := all[0].start("a0", 0, 1)
	beginOn(all[1], "a1", passes, "1").answered(t, "one on the other replica")
	if got := all[1].ends(); got != "expired 1" {
		t.Errorf("waits ended so: %s, want expired 1", got)
	}
	all[0].open()
	first.answered(t, "the one ahead")
}

// TestI10_BurstWithoutOthers: a server that does not answer keeps no request that
// needs nothing of it. Each replica holds its own then.
func TestI10_BurstWithoutOthers(t *testing.T) {
	all, redis := newBurstReplicas(t, 2, patience)
	beginOn(all[1], "a1", passes, "1").answered(t, "the session's first")
	redis.Pause()
	defer redis.Resume()
	other := strings.Replace(burstTurn, burstModel, "claude-sonnet-5-5", 1) // begins another entry in the session that is known
	ahead := all[1].send("/v1/messages", other, threadHeader("a2")...)
	eventually(t, "it has arrived", func() bool { return all[0].arrived.Load() == 2 })
	behind := all[1].send("/v1/messages", other, threadHeader("a3")...)
	awaitHeld(t, all, 0, 1)
	all[0].open()
	ahead.answered(t, "the one ahead")
	behind.answered(t, "the one behind")
	if n := all[1].srv.bursts.others.failures(); n == 0 {
		t.Error("no failed call was counted: the test shows nothing")
	}
}

// TestBurstAsksInTime: a wait that is about to end asks no more. The answer could
// only come too late, and count as a failure of a server that is well.
func TestBurstAsksInTime(t *testing.T) {
	all, redis := newBurstReplicas(t, 1, patience)
	b := &burst{others: all[0].srv.bursts.others}
	mine, _ := b.enter()
	redis.Pause() // an answer never comes
	defer redis.Resume()
	if lead, goes := b.goesFirst(t.Context(), mine, time.Now().Add(askLeast/2)); lead != mine || goes || b.others.failures() != 0 {
		t.Errorf("goesFirst at the end of a wait = %v, %v with %v failures; want to go on waiting, and none", lead, goes, b.others.failures())
	}
}

// Others are told of an entry once a minute, and always if they wait for it.
func TestBurstNewsToTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b burst
		f := func(what string, mine *lead, want bool) {
			t.Helper()
			if got := b.newsToTell(mine); got != want {
				t.Errorf("%s: newsToTell = %v, want %v", what, got, want)
			}
		}
		f("the first answer", nil, true)
		f("the second", &lead{}, false)
		f("one that others wait for", &lead{claim: "c"}, true)
		time.Sleep(tellEvery)
		f("a minute later", nil, true)
	})
}
