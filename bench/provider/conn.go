package provider

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A tap is a server connection that keeps the ledger: it sees every byte before
// net/http does, knows where requests begin, and when the client leaves.
type tap struct {
	net.Conn
	set    *connSet
	number int
	frame  framer // touched by whoever reads; net/http reads from one goroutine at a time

	gone chan struct{} // closed once the client left, or we closed

	// mu guards what follows. waiting are exchanges whose head began and which
	// no handler has taken; answering is the one whose answer is being written,
	// until net/http has sent the last of it, which is after the handler.
	mu        sync.Mutex
	waiting   []*Exchange
	answering *Exchange
	whole     bool // the handler wrote all it meant to
	broken    bool // a write failed
	isGone    bool
	closeOnce sync.Once
}

func newTap(c net.Conn, set *connSet, number int) *tap {
	t := &tap{Conn: c, set: set, number: number, gone: make(chan struct{})}
	t.frame = framer{began: t.began, ended: t.headEnded}
	return t
}

func (t *tap) began() {
	e := t.set.ledger.begin(t.number)
	t.mu.Lock()
	t.waiting = append(t.waiting, e)
	t.mu.Unlock()
	if t.set.onFirstByte != nil {
		t.set.onFirstByte()
	}
}

func (t *tap) headEnded(head []byte) {
	t.mu.Lock()
	e := t.waiting[len(t.waiting)-1]
	t.mu.Unlock()
	t.set.ledger.update(e, func(e *Exchange) {
		e.Head, e.Header = head, fields(head)
		method, target := requestLine(head)
		e.Method = method
		e.Path, e.Query, _ = strings.Cut(target, "?")
	})
}

// take gives the oldest waiting exchange to a handler. There is always one,
// unless net/http reads a request where the framer had lost its way.
func (t *tap) take() *Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.waiting = append(t.waiting, t.set.ledger.begin(t.number))
	}
	t.answering, t.whole, t.broken = t.waiting[0], false, false
	t.waiting = t.waiting[1:]
	return t.answering
}

// disown takes the exchange being answered out of the ledger.
func (t *tap) disown() {
	t.mu.Lock()
	e := t.answering
	t.answering = nil
	t.mu.Unlock()
	t.set.ledger.forget(e)
}

// succeed notes that the handler wrote everything.
func (t *tap) succeed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.whole = true
}

// finish ends the exchange that is being answered, if any.
func (t *tap) finish() {
	t.mu.Lock()
	e, complete := t.answering, t.whole && !t.broken
	t.answering = nil
	t.mu.Unlock()
	if e == nil {
		return
	}
	t.set.ledger.update(e, func(e *Exchange) { e.EndedAt, e.Complete = time.Now(), complete })
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.frame.feed(p[:n])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.left(errors.Is(err, net.ErrClosed))
	}
	return n, err
}

// left notes the end of the client's side, or of ours.
func (t *tap) left(byUs bool) {
	t.mu.Lock()
	first := !t.isGone
	t.isGone = true
	open := slices.Clone(t.waiting)
	if t.answering != nil {
		open = append(open, t.answering)
	}
	t.mu.Unlock()
	if !first {
		return
	}
	if !byUs {
		at := time.Now()
		for _, e := range open {
			t.set.ledger.update(e, func(e *Exchange) { e.GoneAt = at })
		}
	}
	close(t.gone)
}

// Write records what it writes. What net/http writes before any handler ran,
// as to a malformed head, belongs to the oldest request waiting.
func (t *tap) Write(p []byte) (int, error) {
	n, err := t.Conn.Write(p)
	t.mu.Lock()
	t.broken = t.broken || err != nil
	e := t.answering
	if e == nil && len(t.waiting) > 0 {
		e = t.waiting[0]
	}
	t.mu.Unlock()
	if e != nil {
		t.set.ledger.update(e, func(e *Exchange) { e.Sent = append(e.Sent, p[:n]...) })
	}
	if err != nil {
		t.left(errors.Is(err, net.ErrClosed))
	}
	return n, err
}

// Close closes the connection and ends its exchanges. Whoever calls it, net/http
// or the provider, returns when that is done.
func (t *tap) Close() error {
	err := t.Conn.Close()
	t.closeOnce.Do(func() {
		t.left(true)
		t.finish()
		t.mu.Lock()
		waiting := t.waiting
		t.mu.Unlock()
		for _, e := range waiting {
			t.set.ledger.update(e, func(e *Exchange) { e.EndedAt = time.Now() })
		}
		t.set.remove(t)
	})
	return err
}

// reset ends the connection with a TCP RST, dropping what was not yet sent, and
// without the farewell of TLS.
func (t *tap) reset() {
	c := t.Conn
	if under, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = under.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it fails only on a connection that is gone
		_ = tcp.Close()
	}
}

type connKey struct{}

// withConn lets handlers find the tap.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c.(*tap))
}

// connState ends an exchange when net/http has sent the last of its answer.
func connState(c net.Conn, s http.ConnState) {
	if s == http.StateIdle {
		c.(*tap).finish()
	}
}

func tapOf(ctx context.Context) *tap { return ctx.Value(connKey{}).(*tap) }
