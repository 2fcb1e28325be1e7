package proxy

import (
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
// Bursts are this process's: over replicas, the one that leads would be agreed
// upon in enter, and the beginning of its answer told in warm.
type burst struct {
	mu sync.Mutex // guards the following

	warmed time.Time     // the provider's entry can be read until then
	lead   chan struct{} // closed when its holder leads no more; nil if nobody leads
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
	cache *lru.Cache[burstKey, *burst]
	held  atomic.Int64 // requests that wait now
}

func newBursts() *bursts {
	c, err := lru.New[burstKey, *burst](maxBursts)
	if err != nil {
		panic("BUG: " + err.Error()) // only for a size below 1
	}
	return &bursts{cache: c}
}

func (bs *bursts) get(k burstKey) *burst {
	if b, ok := bs.cache.Get(k); ok {
		return b
	}
	b := &burst{}
	if there, loaded, _ := bs.cache.PeekOrAdd(k, b); loaded {
		return there
	}
	return b
}

// enter has the caller lead, or returns whose end to wait for. With neither, the
// beginning is warm and there is no reason to wait.
func (b *burst) enter() (lead, ahead chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case time.Now().Before(b.warmed):
		return nil, nil
	case b.lead != nil:
		return nil, b.lead
	}
	b.lead = make(chan struct{})
	return b.lead, nil
}

// warm notes that an answer has begun, to a request sent at some time, and lets
// all go on who wait. Whoever was sent without leading may be the first.
func (b *burst) warm(sent time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until := sent.Add(warmTime); until.After(b.warmed) {
		b.warmed = until
	}
	b.pass()
}

// quit ends a lead that came to nothing: the next one leads. It does nothing if
// lead is nil, or leads no more.
func (b *burst) quit(lead chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if lead != nil && b.lead == lead {
		b.pass()
	}
}

// pass wakes those who wait; they enter again. b.mu must be held.
func (b *burst) pass() {
	if b.lead != nil {
		close(b.lead)
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

// follow waits, for hold at most, behind those who lead, ahead first. lead is
// not nil if the caller has come to lead.
func (b *burst) follow(ctx context.Context, ahead chan struct{}, hold time.Duration) (lead chan struct{}, end string) {
	deadline := time.NewTimer(hold)
	defer deadline.Stop()
	for ahead != nil {
		select {
		case <-ahead:
			lead, ahead = b.enter()
		case <-deadline.C:
			return nil, holdExpired
		case <-ctx.Done():
			return nil, holdLeft
		}
	}
	if lead != nil {
		return lead, holdLed
	}
	return nil, holdReleased
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
	var ahead chan struct{}
	if x.lead, ahead = x.burst.enter(); ahead == nil {
		return nil
	}
	return x.waitBehind(ahead, longest)
}

func (x *exchange) waitBehind(ahead chan struct{}, longest time.Duration) error {
	x.s.bursts.held.Add(1)
	defer x.s.bursts.held.Add(-1)
	began := time.Now()
	lead, end := x.burst.follow(x.life, ahead, longest)
	x.lead = lead
	x.s.counters.Held(end, time.Since(began))
	if end == holdLeft {
		x.conclude(logsink.EndClientGone, "held")
		return errClientLeft
	}
	return nil
}

func (x *exchange) burstKey() burstKey {
	start := lineage.Of(x.facts.Model).Next(x.pointOf(x.facts.ToolSpans)).
		Next(lineage.Of(x.epoch.Rendering(x.plan.rendering)))
	return burstKey{tenant: x.ident.Tenant, to: x.route.upstream, start: start}
}

// letFollow tells those who wait for this request that its answer has begun; or,
// since a provider caches nothing of what it refuses, that another is to lead.
func (x *exchange) letFollow() {
	if x.burst == nil {
		return
	}
	if x.relay.status/100 == 2 {
		x.burst.warm(x.relay.sent)
	}
	x.stopLeading()
}

// stopLeading lets the next one lead if this request still does.
func (x *exchange) stopLeading() {
	if x.burst == nil {
		return
	}
	x.burst.quit(x.lead)
	x.burst, x.lead = nil, nil
}
