package proxy

import (
	"errors"
	"net"
	"slices"
	"sync"
)

// dials hand connections to a pool that would open them by itself, but not for a
// request that may be given up (I7). The pool finds only connections that are
// ready: where there is none, the request that asked opens one, and asks again.
// Another may take it first, and leave it its own.
type dials struct {
	mu    sync.Mutex // guards the following
	ready []net.Conn // for a moment: who opened one asks for it at once
}

// errNoneReady is what the pool's dial fails with when a connection must be opened.
var errNoneReady = errors.New("no connection is ready")

// take hands out a connection that is ready. It is the pool's dial.
func (d *dials) take(string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ready) == 0 {
		return nil, errNoneReady
	}
	c := d.ready[0]
	d.ready = slices.Delete(d.ready, 0, 1)
	return c, nil
}

// add makes a connection ready.
func (d *dials) add(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready = append(d.ready, c)
}

// discard closes a connection that is ready, if nobody has taken it yet.
func (d *dials) discard(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.ready, c); i >= 0 {
		d.ready = slices.Delete(d.ready, i, i+1)
		_ = c.Close() // nothing was sent on it
	}
}
