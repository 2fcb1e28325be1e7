//go:build !linux

package wire

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// PollEvery is how often connections are looked at where the kernel is not
// asked to tell.
const PollEvery = 50 * time.Millisecond

// poller peeks at each connection that somebody waits on: a readable
// connection without a byte to read has been closed by its peer.
type poller struct {
	w    *Watcher
	quit chan struct{}
}

func newPoller(w *Watcher) (*poller, error) {
	return &poller{w: w, quit: make(chan struct{})}, nil
}

func (p *poller) add(watchID) error { return nil }
func (p *poller) remove(watchID)    {}

func (p *poller) run() {
	tick := time.NewTicker(PollEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.look()
		}
	}
}

func (p *poller) look() {
	p.w.mu.Lock()
	conns := make([]*Conn, 0, len(p.w.conns))
	for _, c := range p.w.conns {
		conns = append(conns, c)
	}
	p.w.mu.Unlock()
	for _, c := range conns {
		if peerLeft(c) {
			c.left()
		}
	}
}

func peerLeft(c *Conn) bool {
	left := false
	_ = c.raw.Control(func(fd uintptr) { // a closed connection has nothing to tell
		var b [1]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		left = err == nil && n == 0 || errors.Is(err, unix.ECONNRESET)
	})
	return left
}

func (p *poller) stop() error {
	close(p.quit)
	return nil
}
