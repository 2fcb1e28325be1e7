package netfault

import "time"

// A Direction is that of the bytes to which a fault happens.
type Direction int

const (
	Up   Direction = 1 // from client to server
	Down Direction = 2 // from server to client
	Both           = Up | Down
)

// rules are the faults of one direction.
type rules struct {
	delay time.Duration
	mute  bool
	rate  int // bytes per second, 0 for all that come

	// cutSet counts calls of CutAfter; a connection that has not seen the last
	// begins to count cutAfter anew. There is none while cutting is false.
	cutting  bool
	cutSet   int
	cutAfter int
}

// change changes the rules of a direction and wakes all who wait by the old ones.
func (p *Proxy) change(d Direction, f func(*rules)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d&Up != 0 {
		f(&p.up)
	}
	if d&Down != 0 {
		f(&p.down)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// rules returns those of one direction, and a channel that is closed when they
// are others.
func (p *Proxy) rules(d Direction) (rules, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d == Up {
		return p.up, p.changed
	}
	return p.down, p.changed
}

// Delay passes bytes on d after they came. Those that come while others wait, wait
// for these and then for their own delay's rest.
func (p *Proxy) Delay(dir Direction, d time.Duration) {
	p.change(dir, func(r *rules) { r.delay = d })
}

// Mute takes connections and bytes and passes nothing on, not even an end.
func (p *Proxy) Mute(dir Direction) {
	p.change(dir, func(r *rules) { r.mute = true })
}

// Throttle passes on so many bytes per second on each connection; 0 is no limit.
func (p *Proxy) Throttle(dir Direction, bytesPerSecond int) {
	p.change(dir, func(r *rules) { r.rate = max(0, bytesPerSecond) })
}

// CutAfter cuts each connection when n more bytes have passed. With 0, the next
// byte does not pass.
func (p *Proxy) CutAfter(dir Direction, n int) {
	p.change(dir, func(r *rules) {
		r.cutting, r.cutAfter = true, max(0, n)
		r.cutSet++
	})
}

// SwallowReply passes commands on and, when match says so of one, cuts the
// connection at the moment its reply is complete, instead of passing that on.
// Replies to commands before it have been passed on; those behind it are lost too.
// It holds for commands that arrive from now on, until Heal. match is called by
// one goroutine at a time with the words of a command as sent.
func (p *Proxy) SwallowReply(match func(cmd []string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.match = match
}

// SwapReplies exchanges, n times, two replies that follow each other on one
// connection: those to the oldest two commands, when the first begins to arrive
// and the second was asked for. A client that sends a command only when the one
// before is answered never sees it.
func (p *Proxy) SwapReplies(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swaps = n
}

// Heal ends all faults: what was held back is passed on, and new connections are
// taken. What was cut stays cut.
func (p *Proxy) Heal() {
	p.SwallowReply(nil)
	p.SwapReplies(0)
	p.change(Both, func(r *rules) { *r = rules{cutSet: r.cutSet} })
	p.Accept()
}

// toLose asks match whether the reply to a command is to be lost.
func (p *Proxy) toLose(cmd []string) bool {
	p.mu.Lock()
	match := p.match
	p.mu.Unlock()
	if match == nil {
		return false
	}
	p.matching.Lock()
	defer p.matching.Unlock()
	return match(cmd)
}

func (p *Proxy) losing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.match != nil
}

func (p *Proxy) takeSwap() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.swaps == 0 {
		return false
	}
	p.swaps--
	return true
}
