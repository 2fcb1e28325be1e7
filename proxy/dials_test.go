package proxy

import (
	"errors"
	"net"
	"sync"
	"testing"
)

// TestI10_DialsKeepNothing: a connection that nobody takes is closed by who opened
// it, and one that was taken is not.
func TestI10_DialsKeepNothing(t *testing.T) {
	var d dials
	if _, err := d.take(""); !errors.Is(err, errNoneReady) {
		t.Errorf("take of nothing: %v", err)
	}
	c, there := net.Pipe()
	d.add(c)
	d.discard(c)
	if _, err := there.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was discarded is open")
	}
	if _, err := d.take(""); !errors.Is(err, errNoneReady) {
		t.Errorf("take of what was discarded: %v", err)
	}

	c, there = net.Pipe()
	d.add(c)
	if got, err := d.take(""); got != c || err != nil {
		t.Errorf("take = %v, %v; want what was added", got, err)
	}
	d.discard(c)
	go func() { _, _ = there.Write([]byte("x")) }()
	if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("a connection that was taken: %v", err)
	}
}

// TestI10_BurstOfDials: however many requests open connections at once, the pool
// has all of them in the end.
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
