package provider

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxEntries bounds each cache.
const maxEntries = 1 << 18

// A cache holds which prompt beginnings are warm.
type cache struct {
	mu      sync.Mutex
	seq     int64 // of the latest arrival or beginning of an answer
	entries map[entryKey]entry
}

// An entryKey is a prompt beginning in the scope where it may be shared: one
// organization, one model, and what else the dialect puts into scope.
type entryKey struct{ scope, sum digest }

// scopeOf names a scope.
func scopeOf(parts ...string) digest { return sha256.Sum256([]byte(strings.Join(parts, "\x00"))) }

type entry struct {
	lifetime time.Duration
	expires  time.Time
	seq      int64 // it can be read by requests that arrived later
}

// A moment is when a request arrived: a time for lifetimes, and a number that
// orders arrivals and beginnings of answers, whatever the clock says.
type moment struct {
	at  time.Time
	seq int64
}

func newCache() *cache { return &cache{entries: map[entryKey]entry{}} }

// arrive returns the moment of a request that arrives now.
func (c *cache) arrive(at time.Time) moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	return moment{at, c.seq}
}

// find returns the lifetime of the entry that is warm for a request.
func (c *cache) find(k entryKey, m moment) (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[k]
	return e.lifetime, ok && e.seq < m.seq && m.at.Before(e.expires)
}

// keep makes an entry live for its lifetime from start on, and never shorter
// than it would have. seq is when it can be read if it is new.
func (c *cache) keep(k entryKey, lifetime time.Duration, start time.Time, seq int64) {
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
func (c *cache) evict(now time.Time) {
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

// A plan is what one request reads and writes. It is made when the request
// arrives; the cache learns of it only when the answer begins, so requests that
// run beside each other miss (facts/providers.md 1.3).
type plan struct {
	scope  digest
	start  moment
	kept   []planned // entries read, and those to write
	ends   []point   // after each block of the prompt; OpenAI from GPT-5.6 on
	tokens Tokens    // the input classes
}

type planned struct {
	sum      digest
	lifetime time.Duration
}

func (p *plan) keep(sum digest, lifetime time.Duration) {
	p.kept = append(p.kept, planned{sum, lifetime})
}

// commit applies a plan. Lifetimes count from the request's start.
func (c *cache) commit(p *plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	for _, k := range p.kept {
		c.keep(entryKey{p.scope, k.sum}, k.lifetime, p.start.at, c.seq)
	}
}
