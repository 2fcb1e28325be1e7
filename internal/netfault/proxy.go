package netfault

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// A Proxy passes connections on to one server. Its methods may be called from any
// goroutine, at any time.
type Proxy struct {
	t        testing.TB // immutable
	addr     string     // immutable
	upstream string     // immutable

	// life is cancelled by Close, and running waits for every goroutine.
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	// switching is held while the listener is opened or closed.
	switching sync.Mutex
	listener  net.Listener // nil while connections are refused

	// matching lets one goroutine call match at a time.
	matching sync.Mutex

	mu       sync.Mutex
	up, down rules
	changed  chan struct{} // closed when rules change, and made anew
	match    func(cmd []string) bool
	swaps    int // still to be made
	links    map[*link]bool
	counts   Counts
}

// Counts are what a proxy has seen so far.
type Counts struct {
	Accepted  int // connections taken
	Open      int // of these, not yet over
	Unserved  int // ended since the server could not be reached
	Cut       int // ended by a fault
	Swallowed int // replies lost by SwallowReply
	Swapped   int // pairs exchanged by SwapReplies
}

// New starts a proxy on loopback in front of a server, which need not run yet. It
// ends with the test.
func New(t testing.TB, upstreamAddr string) *Proxy {
	t.Helper()
	l, err := listenAnywhere()
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		t: t, addr: l.Addr().String(), upstream: upstreamAddr,
		changed: make(chan struct{}), links: map[*link]bool{},
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.serve(l)
	t.Cleanup(p.Close)
	return p
}

// listenAnywhere takes a port below those that Linux gives to connections, so that
// it stays free, and a client that dials it does not meet itself, while new
// connections are refused.
func listenAnywhere() (net.Listener, error) {
	for range 1000 {
		port := 10000 + rand.IntN(22000)
		if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return l, nil
		}
	}
	return nil, errors.New("cannot find a free port on 127.0.0.1 between 10000 and 32000")
}

// Addr is where clients find the proxy.
func (p *Proxy) Addr() string { return p.addr }

// serve takes connections from l. Its caller holds switching, or has the proxy to
// itself.
func (p *Proxy) serve(l net.Listener) {
	p.listener = l
	p.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.connect(conn.(*net.TCPConn)) })
		}
	})
}

// RefuseNew refuses new connections, as a server that is down does. Open ones go
// on.
func (p *Proxy) RefuseNew() {
	p.switching.Lock()
	defer p.switching.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

// Accept ends RefuseNew.
func (p *Proxy) Accept() {
	p.switching.Lock()
	defer p.switching.Unlock()
	if p.listener != nil || p.life.Err() != nil {
		return
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		p.t.Errorf("netfault: cannot take connections again: %v", err)
		return
	}
	p.serve(l)
}

// CutAll ends all open connections.
func (p *Proxy) CutAll() {
	for _, l := range p.open() {
		l.cut()
	}
}

// Close ends the proxy and all its connections, and returns when its goroutines
// are gone.
func (p *Proxy) Close() {
	p.switching.Lock()
	p.end()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.switching.Unlock()
	for _, l := range p.open() {
		l.close()
	}
	p.running.Wait()
}

// Counts returns what the proxy has seen so far.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

func (p *Proxy) count(f func(*Counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.counts)
}

func (p *Proxy) open() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*link
	for l := range p.links {
		list = append(list, l)
	}
	return list
}
