package proxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
)

// dialing opens one end of a pipe, and says so.
func dialing(opened chan<- net.Conn) func(context.Context) (net.Conn, error) {
	return func(context.Context) (net.Conn, error) {
		here, there := net.Pipe()
		opened <- there
		return here, nil
	}
}

// isClosed waits until the other end of a connection is closed.
func isClosed(there net.Conn) { _, _ = there.Read(make([]byte, 1)) }

// TestI10_DialsKeepNothing: a connection that nobody takes is closed: of who got
// another first, of who left, and of a pool that is closed.
func TestI10_DialsKeepNothing(t *testing.T) {
	var d dials
	opened := make(chan net.Conn, 1)
	if _, err := d.take(""); !errors.Is(err, errNoneReady) {
		t.Errorf("take of nothing: %v", err)
	}
	c, err := d.open(t.Context(), dialing(opened))
	if err != nil {
		t.Fatal(err)
	}
	d.discard(c)
	isClosed(<-opened)

	c, _ = d.open(t.Context(), dialing(opened))
	if got, err := d.take(""); got != c || err != nil {
		t.Errorf("take = %v, %v; want what was opened", got, err)
	}
	d.discard(c) // it has been taken, and stays open
	there := <-opened
	go func() { _, _ = there.Write([]byte("x")) }()
	if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("a connection that was taken: %v", err)
	}

	ctx, leave := context.WithCancel(t.Context())
	late := func(ctx context.Context) (net.Conn, error) {
		leave()
		<-ctx.Done()
		return dialing(opened)(ctx)
	}
	if _, err := d.open(ctx, late); !errors.Is(err, context.Canceled) {
		t.Errorf("open of a client that left: %v", err)
	}
	isClosed(<-opened)

	if _, err := d.open(t.Context(), dialing(opened)); err != nil {
		t.Fatal(err)
	}
	d.close()
	isClosed(<-opened)
	if _, err := d.open(t.Context(), dialing(opened)); !errors.Is(err, errNoneReady) {
		t.Errorf("open after close: %v", err)
	}
}

// TestI10_BurstOfDials: however many requests open connections at once, the pool
// has all of them in the end, and dials none.
func TestI10_BurstOfDials(t *testing.T) {
	b := newBench(t)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { b.try("/v1/messages", anthropicTurn, "x-provider-fault", "delay=5ms") })
	}
	all.Wait()
	up := b.srv.current.Load().ups[b.up.URL()]
	up.dials.mu.Lock()
	left := len(up.dials.ready)
	up.dials.mu.Unlock()
	if left != 0 {
		t.Errorf("%d connections are left that the pool does not know", left)
	}
	up.pool.CloseIdleConnections()
	eventually(t, "all connections to the provider are closed", func() bool { return b.up.Conns() == 0 })
}
