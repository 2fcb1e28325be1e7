package proxy

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

const (
	burstSize  = 8
	burstModel = "claude-opus-5-5"
)

// burstTurn is what a thread begins with: the same for all, and marked at its end.
var burstTurn = fmt.Sprintf(`{"model":"%s","max_tokens":1000,"tools":[{"name":"look","input_schema":{"type":"object"}}],
	"system":"%s","messages":[{"role":"user","content":[{"type":"text","text":"look around","cache_control":{"type":"ephemeral"}}]}]}`,
	burstModel, strings.Repeat("You are a careful agent. ", 200))

// chatBurstTurn is the same for the other family, where caching is automatic.
var chatBurstTurn = fmt.Sprintf(`{"model":"gpt-6-sol","messages":[{"role":"system","content":"%s"},{"role":"user","content":"look around"}]}`,
	strings.Repeat("You are a careful agent. ", 400))

// passes is the header of requests that are not kept back.
const passes = "x-test-pass"

// A burstBench is a bench whose provider keeps requests back: what arrives
// answers no sooner than open is called, but for requests that say so.
type burstBench struct {
	*bench
	open    func()
	arrived atomic.Int64
}

func newBurstBench(t *testing.T, hold time.Duration, changes ...setupFunc) *burstBench {
	gate := make(chan struct{})
	bb := &burstBench{open: sync.OnceFunc(func() { close(gate) })}
	up := provider.New(provider.Options{OnArrive: func(e *provider.Exchange) {
		bb.arrived.Add(1)
		if !strings.Contains(strings.ToLower(string(e.Head)), passes) {
			<-gate
		}
	}})
	if err := up.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { up.Close() })
	changes = append([]setupFunc{func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		b.up = up
		s.Config = b.config(up.URL())
		s.Config.Burst.Hold = hold
	}}, changes...)
	bb.bench = newBench(t, changes...)
	t.Cleanup(bb.open) // before the bench ends
	return bb
}

func (bb *burstBench) held() int64 { return bb.srv.bursts.held.Load() }

// A pending is a request that was sent.
type pending struct {
	done  chan struct{}
	reply reply // once done; zero if it failed, which was told
}

func (bb *burstBench) send(path, body string, header ...string) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.reply = bb.post(path, body, header...)
	}()
	return p
}

// start sends a thread's first request, and waits until so many are held and so
// many have arrived at the provider.
func (bb *burstBench) start(thread string, held, arrived int64) *pending {
	bb.t.Helper()
	p := bb.send("/v1/messages", burstTurn, threadHeader(thread)...)
	eventually(bb.t, fmt.Sprintf("%d held, %d arrived", held, arrived), func() bool { return bb.held() == held && bb.arrived.Load() == arrived })
	return p
}

func threadHeader(thread string) []string {
	return []string{"x-claude-code-session-id", "s", "x-claude-code-agent-id", thread}
}

// answered waits for an answer, which is to be a success.
func (p *pending) answered(t *testing.T, what string) {
	t.Helper()
	if <-p.done; p.reply.Response == nil || p.reply.StatusCode != 200 {
		t.Errorf("%s: %+v %s", what, p.reply.Response, p.reply.body)
	}
}

// ends says how many waits ended in each way.
func (bb *burstBench) ends() string {
	families, err := bb.c.Registry().Gather()
	if err != nil {
		bb.t.Fatal(err)
	}
	var list []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "preface_held_seconds" {
				list = append(list, fmt.Sprintf("%s %d", m.GetLabel()[0].GetValue(), m.GetHistogram().GetSampleCount()))
			}
		}
	}
	return strings.Join(list, ", ")
}

// TestBurst: the threads of a new session, or sessions with one opener, begin at
// once. Without hold each pays for writing what they begin with, with hold one.
func TestBurst(t *testing.T) {
	f := func(name string, hold time.Duration, post func(b *bench, i int) reply, writes int) {
		t.Run(fmt.Sprintf("%s, hold %v", name, hold), func(t *testing.T) {
			bb := newBurstBench(t, hold)
			var all sync.WaitGroup
			for i := range burstSize {
				all.Go(func() {
					if r := post(bb.bench, i); r.StatusCode != 200 {
						t.Errorf("status %d: %s", r.StatusCode, r.body)
					}
				})
			}
			eventually(t, "each request is held or has arrived", func() bool { return bb.held()+bb.arrived.Load() == burstSize })
			bb.open()
			all.Wait()
			wrote, read := 0, 0
			for _, x := range bb.received() {
				if x.Tokens.Written() > 0 {
					wrote++
				}
				if x.Tokens.CacheRead > 0 && x.Tokens.Written() == 0 {
					read++
				}
			}
			if wrote != writes || read != burstSize-writes {
				t.Errorf("%d requests wrote and %d read, want %d and %d", wrote, read, writes, burstSize-writes)
			}
			want := ""
			if hold > 0 {
				want = fmt.Sprintf("released %d", burstSize-1)
			}
			if got := bb.ends(); got != want {
				t.Errorf("waits ended so: %s, want %s", got, want)
			}
			bb.verify()
		})
	}
	threads := func(b *bench, i int) reply {
		return b.post("/v1/messages", burstTurn, threadHeader(fmt.Sprint("a", i))...)
	}
	sessions := func(b *bench, i int) reply {
		return b.post("/v1/chat/completions", chatBurstTurn, "x-preface-session", fmt.Sprint("s", i))
	}
	f("threads", 0, threads, burstSize)
	f("threads", patience, threads, 1)
	f("sessions", 0, sessions, burstSize)
	f("sessions", patience, sessions, 1)
}

// TestBurstLeaderFails: when the request that the others wait for comes to
// nothing, one of them is the next that they wait for.
func TestBurstLeaderFails(t *testing.T) {
	for name, fault := range map[string]string{"refused": "status=529", "broken off": "reset", "left": ""} {
		t.Run(name, func(t *testing.T) {
			bb := newBurstBench(t, patience)
			first := bb.raw(rawPost("/v1/messages", burstTurn, "x-claude-code-session-id", "s", "x-provider-fault", fault))
			eventually(t, "it has arrived", func() bool { return bb.arrived.Load() == 1 })
			second := bb.start("a2", 1, 1)
			third := bb.start("a3", 2, 1)
			if fault == "" {
				first.Close()
				eventually(t, "one goes on", func() bool { return bb.arrived.Load() == 2 && bb.held() == 1 })
			}
			bb.open()
			second.answered(t, "the second")
			third.answered(t, "the third")
			all := bb.received()
			if len(all) != 3 || all[1].Tokens.Written() == 0 || all[2].Tokens.CacheRead == 0 {
				t.Errorf("after a request that failed the next have %+v and %+v, want one to write and one to read", all[1].Tokens, all[2].Tokens)
			}
			if got := bb.ends(); got != "led 1, released 1" {
				t.Errorf("waits ended so: %s, want led 1, released 1", got)
			}
		})
	}
}

// TestBurstLeaderStalls: no request waits for longer than it may.
func TestBurstLeaderStalls(t *testing.T) {
	bb := newBurstBench(t, 50*time.Millisecond)
	first := bb.start("a1", 0, 1)
	for _, thread := range []string{"a2", "a3"} {
		bb.send("/v1/messages", burstTurn, append(threadHeader(thread), passes, "1")...).answered(t, "thread "+thread)
	}
	if first := bb.received()[0]; !first.AnswerAt.IsZero() {
		t.Error("the first one was answered: the test shows nothing")
	}
	// The first to go on was answered, so nothing was left to wait for.
	if got := bb.ends(); got != "expired 1" {
		t.Errorf("waits ended so: %s, want expired 1", got)
	}
	bb.open()
	first.answered(t, "the one ahead")
}

// TestBurstOthersPass: whoever has nothing to gain does not wait.
func TestBurstOthersPass(t *testing.T) {
	team := contrib.Config{Kind: "text", Name: "team", Text: "Team blue.", When: contrib.Matcher{Headers: map[string]string{"x-team": "blue"}}}
	rules := contrib.Config{Kind: "text", Name: "rules", Text: openerText, Deadline: patience}
	bb := newBurstBench(t, patience, contributors(rules, team))
	first := bb.start("a1", 0, 1)
	f := func(what, path, body string, header ...string) {
		t.Helper()
		n := bb.arrived.Load()
		p := bb.send(path, body, append(header, passes, "1")...)
		eventually(t, what+" arrives or is held", func() bool { return bb.arrived.Load() > n || bb.held() > 0 })
		if bb.held() > 0 {
			t.Fatalf("%s is held", what)
		}
		p.answered(t, what)
	}
	changed := func(old, by string) string { return strings.Replace(burstTurn, old, by, 1) }
	const messages = "/v1/messages"
	f("another tenant", messages, burstTurn, append(threadHeader("a2"), "x-api-key", "sk-test-2")...)
	f("another prefix", messages, burstTurn, "x-claude-code-session-id", "blue", "x-team", "blue")
	f("another model", messages, changed(burstModel, "claude-sonnet-5-5"), threadHeader("a3")...)
	f("other tools", messages, changed("look", "hear"), threadHeader("a4")...)
	f("a title", messages, changed(`"max_tokens":1000,"tools"`, `"max_tokens":5,"x_tools"`), threadHeader("a5")...)
	f("a count", messages+"/count_tokens", changed(`"max_tokens":1000,`, ""), threadHeader("a1")...)
	same := bb.start("a6", 1, bb.arrived.Load())
	bb.open()
	first.answered(t, "the one ahead")
	same.answered(t, "the one that has the same beginning")
}

// TestBurstBarePasses: what carries no prefix does not wait.
func TestBurstBarePasses(t *testing.T) {
	bb := newBurstBench(t, patience, contributors())
	first, second := bb.start("a1", 0, 1), bb.start("a2", 0, 2)
	bb.open()
	first.answered(t, "the first")
	second.answered(t, "the second")
}

// TestBurstReload: the setting is that of the configuration in force, and what
// was held goes by the one that it came with.
func TestBurstReload(t *testing.T) {
	bb := newBurstBench(t, 0)
	setup := Setup{Config: bb.config(bb.up.URL()), Contributors: []contrib.Config{{Kind: "text", Name: "rules", Text: openerText}}}
	reload := func(hold time.Duration) {
		t.Helper()
		setup.Config.Burst.Hold = hold
		if err := bb.srv.Reload(setup); err != nil {
			t.Fatal(err)
		}
	}
	all := []*pending{bb.start("a1", 0, 1), bb.start("a2", 0, 2)}
	reload(patience)
	all = append(all, bb.start("a3", 0, 3), bb.start("a4", 1, 3))
	reload(0)
	all = append(all, bb.start("a5", 1, 4))
	bb.open()
	for i, p := range all {
		p.answered(t, fmt.Sprint("request ", i+1))
	}
	setup.Config.Burst.Hold = -1
	if err := bb.srv.Reload(setup); err == nil || !strings.Contains(err.Error(), "burst.hold is -1ns, which is negative") {
		t.Errorf("Reload with a negative burst.hold = %v, want an error that names it", err)
	}
}

// TestI7_CancelWhileHeld: nothing is sent for a client that leaves while its
// request is held, and its end is recorded.
func TestI7_CancelWhileHeld(t *testing.T) {
	for how, leave := range leavings {
		t.Run(how, func(t *testing.T) {
			bb := newBurstBench(t, patience)
			first := bb.start("a1", 0, 1)
			c := bb.raw(rawPost("/v1/messages", burstTurn, threadHeader("a2")...))
			eventually(t, "it is held", func() bool { return bb.held() == 1 })
			leave(c)
			eventually(t, "it is over", func() bool { return bb.srv.inFlight.Load() == 1 })
			bb.open()
			first.answered(t, "the one ahead")
			if n := len(bb.received()); n != 1 {
				t.Errorf("the provider got %d requests, want that of the one ahead", n)
			}
			resps := bb.responses()
			if len(resps) != 2 || resps[0].End != logsink.EndClientGone || resps[0].Detail != "held" || resps[0].FirstByte != 0 {
				t.Errorf("recorded are %d ends, the first is %+v", len(resps), resps[0])
			}
			bb.verify()
		})
	}
}

// TestBurstAtShutdown: what is held when the time to drain is over is cut.
func TestBurstAtShutdown(t *testing.T) {
	bb := newBurstBench(t, patience)
	for i, held := range []int64{0, 1} {
		bb.raw(rawPost("/v1/messages", burstTurn, threadHeader(fmt.Sprint("a", i))...))
		eventually(t, "it is held or has arrived", func() bool { return bb.held() == held && bb.arrived.Load() == 1 })
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := bb.srv.Shutdown(ctx); err == nil {
		t.Error("Shutdown = nil, want an error: requests were cut")
	}
	if n := bb.srv.inFlight.Load(); n != 0 || bb.held() != 0 {
		t.Errorf("%d requests are under way and %d held, want none", n, bb.held())
	}
}

// TestI10_BurstsAreBounded: beginnings that nobody asks for are forgotten.
func TestI10_BurstsAreBounded(t *testing.T) {
	bs := newBursts(nil)
	to := &upstream{base: &url.URL{Host: "provider"}}
	first := bs.get(burstKey{tenant: "0", to: to})
	for i := range 2 * maxBursts {
		bs.get(burstKey{tenant: fmt.Sprint(i), to: to})
	}
	if n := bs.cache.Len(); n > maxBursts {
		t.Errorf("%d bursts are remembered, want %d at most", n, maxBursts)
	}
	if bs.get(burstKey{tenant: "0", to: to}) == first {
		t.Error("the oldest one is remembered")
	}
}
