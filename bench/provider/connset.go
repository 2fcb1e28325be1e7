package provider

import (
	"net"
	"sync"
)

// A connSet knows the connections and handlers that are alive.
type connSet struct {
	ledger      *ledger
	onFirstByte func()

	wg sync.WaitGroup // handlers, and goroutines of Provider

	mu     sync.Mutex
	taps   map[*tap]bool
	last   int
	closed bool
}

func newConnSet(l *ledger, onFirstByte func()) *connSet {
	return &connSet{ledger: l, onFirstByte: onFirstByte, taps: map[*tap]bool{}}
}

// enter counts a handler; it must call wg.Done. It is false after closeAll.
func (s *connSet) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Add(1)
	return true
}

func (s *connSet) add(c net.Conn) *tap {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	t := newTap(c, s, s.last)
	s.taps[t] = true
	return t
}

func (s *connSet) remove(t *tap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taps, t)
}

// closeAll closes every connection, hijacked ones too, and waits for handlers.
func (s *connSet) closeAll() {
	s.mu.Lock()
	s.closed = true
	open := make([]*tap, 0, len(s.taps))
	for t := range s.taps {
		open = append(open, t)
	}
	s.mu.Unlock()
	for _, t := range open {
		_ = t.Close() // it is being thrown away
	}
	s.wg.Wait()
}

// Conns returns how many connections are open.
func (p *Provider) Conns() int {
	p.conns.mu.Lock()
	defer p.conns.mu.Unlock()
	return len(p.conns.taps)
}

type tapListener struct {
	net.Listener
	set *connSet
}

func (l *tapListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.set.add(c), nil
}
