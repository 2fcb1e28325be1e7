package provider

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A ledger holds the latest exchanges.
type ledger struct {
	maxRequests int   // immutable
	maxBytes    int64 // immutable

	// Everything below, and every field of every kept Exchange, is read and
	// written only under mu. changed is closed and replaced at each change.
	mu      sync.Mutex
	kept    []*Exchange // by ID
	lastID  int
	bytes   int64 // what release could free
	changed chan struct{}
}

func newLedger(maxRequests int, maxBytes int64) *ledger {
	return &ledger{maxRequests: maxRequests, maxBytes: maxBytes, changed: make(chan struct{})}
}

// begin opens an exchange at its first byte.
func (l *ledger) begin(conn int) *Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	e := &Exchange{ID: l.lastID, Conn: conn, FirstByteAt: time.Now()}
	l.kept = append(l.kept, e)
	if len(l.kept) > l.maxRequests {
		l.drop(l.kept[0])
		l.kept = slices.Delete(l.kept, 0, 1)
	}
	l.notify()
	return e
}

// update changes an exchange under the lock. One that was dropped gains nothing.
func (l *ledger) update(e *Exchange, change func(*Exchange)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := e.held()
	change(e)
	if e.released {
		e.release()
	}
	l.bytes += e.held() - before
	l.shrink()
	l.notify()
}

// shrink lets go of the oldest bodies until the bound holds.
func (l *ledger) shrink() {
	for _, e := range l.kept {
		if l.bytes <= l.maxBytes {
			return
		}
		l.drop(e)
	}
}

// drop lets go of what an exchange holds.
func (l *ledger) drop(e *Exchange) {
	l.bytes -= e.held()
	e.release()
}

// forget takes an exchange out, as if it had never come.
func (l *ledger) forget(e *Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := l.find(e.ID); ok {
		l.drop(e)
		l.kept = slices.Delete(l.kept, i, i+1)
	}
	l.notify()
}

func (l *ledger) find(id int) (int, bool) {
	return slices.BinarySearchFunc(l.kept, id, func(e *Exchange, id int) int { return e.ID - id })
}

func (l *ledger) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// snapshot returns the exchanges after an ID.
func (l *ledger) snapshot(after int) []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := l.find(after + 1)
	out := make([]Exchange, 0, len(l.kept)-i)
	for _, e := range l.kept[i:] {
		out = append(out, e.snapshot())
	}
	return out
}

// Received returns the exchanges that the ledger still has, open ones and
// those that broke off included, in order of their first bytes.
func (p *Provider) Received() []Exchange { return p.ledger.snapshot(0) }

// ReceivedAfter is Received without those up to and including an ID.
func (p *Provider) ReceivedAfter(id int) []Exchange { return p.ledger.snapshot(id) }

// Exchange returns the exchange with an ID, and whether the ledger has it.
func (p *Provider) Exchange(id int) (Exchange, bool) {
	l := p.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := l.find(id)
	if !ok {
		return Exchange{}, false
	}
	return l.kept[i].snapshot(), true
}

// Await returns the first exchange in the ledger for which cond holds, waiting
// until there is one or ctx ends. cond must not call the Provider.
func (p *Provider) Await(ctx context.Context, cond func(*Exchange) bool) (Exchange, error) {
	for {
		e, found, changed := p.ledger.match(cond)
		if found {
			return e, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Exchange{}, fmt.Errorf("no such exchange came: %w", ctx.Err())
		}
	}
}

func (l *ledger) match(cond func(*Exchange) bool) (Exchange, bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.kept {
		if cond(e) {
			return e.snapshot(), true, nil
		}
	}
	return Exchange{}, false, l.changed
}

// Open returns how many requests have begun and not ended.
func (p *Provider) Open() int {
	l := p.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, e := range l.kept {
		if e.Open() {
			n++
		}
	}
	return n
}
