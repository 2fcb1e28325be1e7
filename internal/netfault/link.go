package netfault

import (
	"net"
	"sync"
)

// A link is one connection of a client and its continuation to the server.
type link struct {
	p      *Proxy
	flight flight
	done   chan struct{} // closed with the connections

	mu    sync.Mutex
	conns []*net.TCPConn // the client's, then the server's
	ended bool           // they are closed
}

// connect links a client with the server and returns when both have ended.
func (p *Proxy) connect(client *net.TCPConn) {
	l := &link{p: p, flight: flight{p: p}, done: make(chan struct{}), conns: []*net.TCPConn{client}}
	p.mu.Lock()
	p.links[l] = true
	p.counts.Accepted++
	p.counts.Open++
	p.mu.Unlock()
	l.run(client)
	l.close()
	p.mu.Lock()
	delete(p.links, l)
	p.counts.Open--
	p.mu.Unlock()
}

func (l *link) run(client *net.TCPConn) {
	var d net.Dialer
	conn, err := d.DialContext(l.p.life, "tcp", l.p.upstream)
	if err != nil {
		l.p.count(func(c *Counts) { c.Unserved++ })
		_ = client.SetLinger(0)
		return
	}
	server := conn.(*net.TCPConn)
	if !l.attach(server) {
		return
	}
	var up sync.WaitGroup
	up.Go((&pipe{link: l, dir: Up, src: client, dst: server}).run)
	(&pipe{link: l, dir: Down, src: server, dst: client}).run()
	up.Wait()
}

// attach makes the server's connection one that ends with the link, which may
// have been cut while the server was dialed.
func (l *link) attach(server *net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		_ = server.Close()
		return false
	}
	l.conns = append(l.conns, server)
	return true
}

// close ends both connections, if they are open.
func (l *link) close() { l.end(func(*Counts) {}) }

// cut is close as a fault. It is counted when a client sees it.
func (l *link) cut() { l.end(func(c *Counts) { c.Cut++ }) }

func (l *link) end(count func(*Counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	l.p.count(count)
	close(l.done)
	for _, c := range l.conns {
		_ = c.Close()
	}
}
