package proxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
)

// A listener hands out watched connections and knows those that are open.
type listener struct {
	net.Listener
	watch *wire.Watcher
	idle  time.Duration // of writes
	slack time.Duration // for what clients may yet send when it is closed
	close func() error  // once
	over  func()        // closes done, once
	done  chan struct{} // closed when Accept hands out no more

	mu    sync.Mutex // guards conns
	conns map[*wire.Conn]struct{}
}

func newListener(ln net.Listener, watch *wire.Watcher, t Timeouts) *listener {
	done := make(chan struct{})
	return &listener{Listener: ln, watch: watch, idle: t.ClientWrite, slack: t.DrainIdle, close: sync.OnceValue(ln.Close), done: done,
		over: sync.OnceFunc(func() { close(done) }), conns: map[*wire.Conn]struct{}{}}
}

// Close stops listening. Both Shutdown and fasthttp call it.
func (l *listener) Close() error { return l.close() }

// Accept waits for a client. One that cannot be watched is sent away: its
// leaving could not be noticed.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				l.over()
			}
			return nil, err
		}
		wc, err := wire.NewConn(c, l.watch, l.idle)
		if err != nil {
			continue
		}
		l.mu.Lock()
		l.conns[wc] = struct{}{}
		l.mu.Unlock()
		return &client{wc, l}, nil
	}
}

// A client is a connection that leaves its listener when it is closed.
type client struct {
	*wire.Conn
	from *listener
}

// NetConn is the watched connection under it.
func (c *client) NetConn() net.Conn { return c.Conn }

// Close closes the connection.
func (c *client) Close() error {
	c.from.mu.Lock()
	delete(c.from.conns, c.Conn)
	c.from.mu.Unlock()
	return c.Conn.Close()
}

// linger waits, once the listener is closed, until every client has had
// timeouts.drain_idle to send what it was about to, or has left as its answer told
// it to. A client whose request meets a connection that is being closed cannot tell
// that nobody read it.
func (l *listener) linger(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.slack)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for accepting := l.done; accepting != nil || l.open() > 0; {
		select {
		case <-accepting:
			accepting = nil
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (l *listener) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// closeUnused closes connections on which nothing was ever sent; fasthttp would
// wait for them as if a request were under way.
func (l *listener) closeUnused() {
	l.each(func(c *wire.Conn) {
		if !c.Used.Load() {
			_ = c.Close() // its goroutine sees that
		}
	})
}

// cutAll ends what is still open in both directions. To an exchange that is as
// if its client had left: its connection to the provider is closed, however
// silent that is, and its end recorded. The client sees a broken answer.
func (l *listener) cutAll() {
	l.each(func(c *wire.Conn) {
		tcp, ok := c.Conn.(*net.TCPConn)
		if !ok {
			_ = c.Close()
			return
		}
		_ = tcp.CloseRead() // either fails only if the client was faster
		_ = tcp.CloseWrite()
	})
}

func (l *listener) each(f func(*wire.Conn)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		f(c)
	}
}
