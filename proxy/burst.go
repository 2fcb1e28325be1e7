package proxy

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// A burst is requests that begin alike and come while the provider's cache has
// nothing of it. All of them would pay for writing it, since an entry can be
// read only once the answer to the request that wrote it has begun
// (facts/providers.md 1.3). So the first one leads, and the others wait for its
// answer to begin, at most burst.hold each.
//
// A process has one request at most that leads. With a log that replicas share it
// asks them first, and stands for all that wait here (burst_others.go).
type burst struct {
	id     logsink.BurstID // immutable
	others *others         // nil if nobody shares the log

	mu sync.Mutex // guards the following

	warmed time.Time // the provider's entry can be read until then
	told   time.Time // when others were last told of an entry
	lead   *lead     // nil if nobody leads
}

// A lead is the right to go first.
type lead struct {
	over  chan struct{}      // closed when its holder leads no more
	claim logsink.BurstClaim // what others know its holder by; its holder's alone
}

// A burstKey tells the beginnings of requests apart, as far as a proxy can: an
// entry of a provider's cache belongs to one caller and one model, and tools
// stand before everything else. Sessions of one tenant that have the prefix in
// common wait for each other too: they read the same entry. The system prompt is
// left out: Claude Code has a line in it that differs from thread to thread, and
// which counts for nothing (facts/clients.md 2).
//
// Two beginnings that share a hash by chance would have a request wait in vain,
// and no more.
type burstKey struct {
	tenant string
	to     *upstream
	start  lineage.Point // model, tools and the prefix as it is inserted
}

// warmTime is how long a beginning counts as cached. Most entries live for five
// minutes from the start of the request that wrote or last read them; to take
// one that lives longer for cold costs a wait for the first byte of one answer.
const warmTime = 5 * time.Minute

// maxBursts bounds the beginnings that are remembered, about 4 MB. One that is
// forgotten counts as cold; those who wait in it still do.
const maxBursts = 10_000

// bursts are those that this process remembers.
type bursts struct {
	cache  *lru.Cache[burstKey, *burst]
	others *others      // nil if nobody shares the log
	held   atomic.Int64 // requests that wait now
}

func newBursts(shared *logsink.Bursts) *bursts {
	c, err := lru.New[burstKey, *burst](maxBursts)
	if err != nil {
		panic("BUG: " + err.Error()) // only for a size below 1
	}
	return &bursts{cache: c, others: newOthers(shared)}
}

func (bs *bursts) get(k burstKey) *burst {
	if b, ok := bs.cache.Get(k); ok {
		return b
	}
	b := &burst{id: k.id(), others: bs.others}
	if there, loaded, _ := bs.cache.PeekOrAdd(k, b); loaded {
		return there
	}
	return b
}

// enter has the caller lead in this process, or returns whose end to wait for.
// With neither, the beginning is warm and there is no reason to wait.
func (b *burst) enter() (mine, ahead *lead) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case time.Now().Before(b.warmed):
		return nil, nil
	case b.lead != nil:
		return nil, b.lead
	}
	b.lead = &lead{over: make(chan struct{})}
	return b.lead, nil
}

// warm notes that the provider's entry can be read until then, and lets all go on
// who wait. Whoever was sent without leading may be the first.
func (b *burst) warm(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.After(b.warmed) {
		b.warmed = until
	}
	b.pass()
}

// quit ends a lead that came to nothing: the next one leads. It does nothing if
// mine is nil, or leads no more.
func (b *burst) quit(mine *lead) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if mine != nil && b.lead == mine {
		b.pass()
	}
}

// pass wakes those who wait; they enter again. b.mu must be held.
func (b *burst) pass() {
	if b.lead != nil {
		close(b.lead.over)
		b.lead = nil
	}
}

// How a wait ends.
const (
	holdReleased = "released" // an answer has begun
	holdLed      = "led"      // the ones ahead came to nothing, so that this one leads
	holdExpired  = "expired"  // burst.hold has passed
	holdLeft     = "client_gone"
)

// follow waits, until then at most, behind one who leads here; or, leading here
// itself, behind another replica, which it asks again and again. The lead that it
// returns is not nil if the caller has come to lead.
func (b *burst) follow(ctx context.Context, mine, ahead *lead, until time.Time) (_ *lead, end string) {
	deadline := time.NewTimer(time.Until(until))
	defer deadline.Stop()
	for {
		select {
		case <-cmp.Or(mine, ahead).over:
			mine, ahead = b.enter()
		case <-b.others.again(mine):
		case <-deadline.C:
			b.quit(mine)
			return nil, holdExpired
		case <-ctx.Done():
			b.quit(mine)
			return nil, holdLeft
		}
		goes := ahead == nil
		if mine != nil {
			mine, goes = b.goesFirst(ctx, mine, until)
		}
		switch {
		case goes && mine != nil:
			return mine, holdLed
		case goes:
			return nil, holdReleased
		}
	}
}

// hold has a request with a prefix wait while another brings the same beginning
// to the provider for the first time (burst.hold). Nothing of the provider's is
// taken up meanwhile. An error says that the client has left.
func (x *exchange) hold() error {
	longest := x.gen.cfg.Burst.Hold
	if longest == 0 || !x.plan.inject || x.endpoint != dialect.Turn {
		return nil
	}
	x.burst = x.s.bursts.get(x.burstKey())
	until := time.Now().Add(longest)
	mine, ahead := x.burst.enter()
	if mine == nil && ahead == nil {
		return nil
	}
	if mine != nil {
		lead, goes := x.burst.goesFirst(x.life, mine, until)
		if goes {
			x.lead = lead
			return nil
		}
	}
	return x.waitBehind(mine, ahead, until)
}

func (x *exchange) waitBehind(mine, ahead *lead, until time.Time) error {
	x.s.bursts.held.Add(1)
	defer x.s.bursts.held.Add(-1)
	began := time.Now()
	var end string
	x.lead, end = x.burst.follow(x.life, mine, ahead, until)
	x.s.counters.Held(end, time.Since(began))
	if end == holdLeft {
		x.conclude(logsink.EndClientGone, "held")
		return errClientLeft
	}
	return nil
}

func (x *exchange) burstKey() burstKey {
	start := lineage.Of(x.facts.Model).Next(pointOf(x.body, x.facts.ToolSpans)).
		Next(lineage.Of(x.epoch.Rendering(x.plan.rendering)))
	return burstKey{tenant: x.ident.Tenant, to: x.route.upstream, start: start}
}

// id is the same in all replicas that send to the same provider.
func (k burstKey) id() logsink.BurstID {
	return logsink.BurstID(lineage.Of([]byte(k.tenant)).Next(lineage.Of([]byte(k.to.base.String()))).Next(k.start))
}

// letFollow tells those who wait for this request that its answer has begun; or,
// since a provider caches nothing of what it refuses, that another is to lead.
func (x *exchange) letFollow() {
	if x.burst == nil {
		return
	}
	if x.relay.status/100 == 2 {
		until := x.relay.sent.Add(warmTime)
		x.burst.warm(until)
		x.burst.tell(until, x.lead)
		x.burst, x.lead = nil, nil
		return
	}
	x.stopLeading()
}

// stopLeading lets the next one lead if this request still does.
func (x *exchange) stopLeading() {
	if x.burst == nil {
		return
	}
	x.burst.quit(x.lead)
	x.burst.forget(x.lead)
	x.burst, x.lead = nil, nil
}
