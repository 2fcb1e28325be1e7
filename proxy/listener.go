package proxy

import (
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

	mu    sync.Mutex // guards conns
	conns map[*wire.Conn]struct{}
}

// Accept waits for a client. One that cannot be watched is sent away: its
// leaving could not be noticed.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
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

// closeUnused closes connections on which nothing was ever sent; fasthttp would
// wait for them as if a request were under way.
func (l *listener) closeUnused() {
	l.close(func(c *wire.Conn) bool { return !c.Used.Load() })
}

// closeAll cuts what is still open.
func (l *listener) closeAll() { l.close(func(*wire.Conn) bool { return true }) }

func (l *listener) close(which func(*wire.Conn) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if which(c) {
			_ = c.Close() // its goroutine sees that
		}
	}
}
