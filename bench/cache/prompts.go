package cache

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Sum stands for the beginning of a prompt up to some point.
type Sum [sha256.Size]byte

// A Point is a place in a prompt: how many tokens lie before it, and which.
type Point struct {
	Tokens int64
	Sum    Sum
}

// Scope names what a cache entry may be shared in: one organization, one model,
// and what else the provider puts into the key.
func Scope(parts ...string) Sum { return sha256.Sum256([]byte(strings.Join(parts, "\x00"))) }

// maxEntries bounds a Prompts.
const maxEntries = 1 << 18

// Prompts is a cache that holds which beginnings of prompts are warm: what the
// providers of hosted models have. A request arrives, is planned, and is
// committed when its answer begins. It is for any number of goroutines.
type Prompts struct {
	mu      sync.Mutex
	seq     int64 // of the latest arrival or beginning of an answer
	entries map[entryKey]entry
}

type entryKey struct{ scope, sum Sum }

type entry struct {
	lifetime time.Duration
	expires  time.Time
	seq      int64 // it can be read by requests that arrived later
}

// A Moment is when a request arrived: a time for lifetimes, and a number that
// orders arrivals and beginnings of answers, whatever the clock says.
type Moment struct {
	At  time.Time
	seq int64
}

// NewPrompts returns an empty cache.
func NewPrompts() *Prompts { return &Prompts{entries: map[entryKey]entry{}} }

// Arrive returns the moment of a request that arrives now.
func (c *Prompts) Arrive(at time.Time) Moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	return Moment{at, c.seq}
}

// A Plan is what one request reads and writes. It is made when the request
// arrives; the cache learns of it only when the answer begins, so requests that
// run beside each other miss (facts/providers.md 1.3).
type Plan struct {
	Tokens Tokens

	scope Sum
	start Moment
	kept  []planned // entries read, and those to write
}

type planned struct {
	key      entryKey
	lifetime time.Duration
}

func (p *Plan) keep(sum Sum, lifetime time.Duration) { p.keepIn(p.scope, sum, lifetime) }

func (p *Plan) keepIn(scope, sum Sum, lifetime time.Duration) {
	p.kept = append(p.kept, planned{entryKey{scope, sum}, lifetime})
}

// Tokens are the input of requests in disjoint classes. Writes that cost
// nothing are Fresh.
type Tokens struct{ Fresh, Read, Write5m, Write1h, Write30m, Write12h int64 }

// write counts a write that costs something, by its lifetime.
func (t *Tokens) write(n int64, lifetime time.Duration) {
	switch lifetime {
	case Lifetime5m:
		t.Write5m += n
	case Lifetime1h:
		t.Write1h += n
	case Lifetime30m:
		t.Write30m += n
	case Lifetime12h:
		t.Write12h += n
	default:
		panic("BUG: nobody sells writes for " + lifetime.String())
	}
}

// Written is the sum of the writes that cost something.
func (t Tokens) Written() int64 { return t.Write5m + t.Write1h + t.Write30m + t.Write12h }

// Input is the sum of all classes.
func (t Tokens) Input() int64 { return t.Fresh + t.Read + t.Written() }

// Commit applies a plan. Lifetimes count from the request's start.
func (c *Prompts) Commit(p *Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	for _, k := range p.kept {
		c.keep(k.key, k.lifetime, p.start.At, c.seq)
	}
}

// find returns the lifetime of the entry that is warm for a request.
func (c *Prompts) find(scope, sum Sum, m Moment) (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[entryKey{scope, sum}]
	return e.lifetime, ok && e.seq < m.seq && m.At.Before(e.expires)
}

// keep makes an entry live for its lifetime from start on, and never shorter
// than it would have. seq is when it can be read if it is new.
func (c *Prompts) keep(k entryKey, lifetime time.Duration, start time.Time, seq int64) {
	e := entry{lifetime, start.Add(lifetime), seq}
	if old, ok := c.entries[k]; ok && start.Before(old.expires) {
		e.seq = old.seq
		if old.expires.After(e.expires) {
			e = old
		}
	}
	c.entries[k] = e
	if len(c.entries) > maxEntries {
		c.evict(start)
	}
}

// evict drops what has expired, and else the quarter that expires first.
func (c *Prompts) evict(now time.Time) {
	var ends []time.Time
	for k, e := range c.entries {
		if !now.Before(e.expires) {
			delete(c.entries, k)
			continue
		}
		ends = append(ends, e.expires)
	}
	if len(ends) < maxEntries*3/4 {
		return
	}
	slices.SortFunc(ends, time.Time.Compare)
	limit := ends[len(ends)/4]
	for k, e := range c.entries {
		if !e.expires.After(limit) {
			delete(c.entries, k)
		}
	}
}

// tokensAt is the number of tokens up to the end of a block, 0 for none.
func tokensAt(ends []Point, i int) int64 {
	if i < 0 {
		return 0
	}
	return ends[i].Tokens
}
