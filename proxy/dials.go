package proxy

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
)

// dials open connections for a pool that waits for its own dials whoever has left
// (I7). The pool finds only connections that are ready: where there is none, the
// request that asked opens one, and asks again. Another may take it first, and
// leave it its own.
type dials struct {
	running sync.WaitGroup

	mu    sync.Mutex // guards the following
	ready []net.Conn // for a moment: who opened one asks for it at once
	over  bool
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

// discard closes a connection that is ready, if nobody has taken it yet.
func (d *dials) discard(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.ready, c); i >= 0 {
		d.ready = slices.Delete(d.ready, i, i+1)
		_ = c.Close() // nothing was sent on it
	}
}

// open has a connection opened and waits until it is ready, or ctx ends. One that
// comes too late is closed.
func (d *dials) open(ctx context.Context, connect func(context.Context) (net.Conn, error)) (net.Conn, error) {
	type made struct {
		conn net.Conn
		err  error
	}
	ready := make(chan made)
	err := d.start(func() {
		c, err := connect(ctx)
		select {
		case ready <- made{c, err}:
		case <-ctx.Done():
			if err == nil {
				_ = c.Close() // nobody wants it any more
			}
		}
	})
	if err != nil {
		return nil, err
	}
	select {
	case m := <-ready:
		if m.err != nil {
			return nil, m.err
		}
		return m.conn, d.add(m.conn)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// start runs f beside the request, unless the pool is closed.
func (d *dials) start(f func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return errNoneReady
	}
	d.running.Go(f)
	return nil
}

// add makes a connection ready, or closes it if the pool is closed.
func (d *dials) add(c net.Conn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return closing(c, errNoneReady)
	}
	d.ready = append(d.ready, c)
	return nil
}

// close closes what nobody took, and waits for dials under way.
func (d *dials) close() {
	d.mu.Lock()
	ready := d.ready
	d.ready, d.over = nil, true
	d.mu.Unlock()
	for _, c := range ready {
		_ = c.Close() // nothing was sent on it
	}
	d.running.Wait()
}
