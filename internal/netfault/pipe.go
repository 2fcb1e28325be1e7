package netfault

import (
	"io"
	"math"
	"net"
	"time"
)

const (
	pieceSize = 32 << 10
	forever   = time.Duration(math.MaxInt64)

	// throttledPieces is how many pieces a second a throttled connection passes on.
	throttledPieces = 20
)

// A pipe is one direction of a link. It belongs to one goroutine.
type pipe struct {
	link     *link
	dir      Direction
	src, dst *net.TCPConn

	cutSeen int // the call of CutAfter by which left is counted
	left    int // bytes that pass before the cut
}

// run passes everything on until an end, and then that.
func (p *pipe) run() {
	buf := make([]byte, pieceSize)
	for {
		n, err := p.src.Read(buf)
		if n > 0 && !p.forward(buf[:n]) {
			p.link.close()
			return
		}
		if err != nil {
			p.finish(err)
			return
		}
	}
}

// forward passes on what is to be passed on of b. It is false when the connection
// is over.
func (p *pipe) forward(b []byte) bool {
	came := time.Now()
	out, cut := b, false
	if p.dir == Up {
		p.link.flight.depart(b)
	} else {
		out, cut = p.link.flight.arrive(b)
	}
	if !p.write(out, came) {
		return false
	}
	if cut {
		p.link.cut()
	}
	return !cut
}

// finish passes on the end of src, as an end or as a reset.
func (p *pipe) finish(err error) {
	if _, _, ok := p.due(time.Now()); !ok {
		return
	}
	if err == io.EOF {
		_ = p.dst.CloseWrite()
		return
	}
	_ = p.dst.SetLinger(0)
	p.link.close()
}

// write passes b on by the rules of each moment. It is false when the connection
// is over.
func (p *pipe) write(b []byte, came time.Time) bool {
	for len(b) > 0 {
		r, changed, ok := p.due(came)
		if !ok {
			return false
		}
		n := p.allowed(r, len(b))
		if n == 0 {
			p.link.cut()
			return false
		}
		if r.rate > 0 {
			n = min(n, max(1, r.rate/throttledPieces))
			woken, ok := p.wait(changed, time.Duration(n)*time.Second/time.Duration(r.rate))
			if !ok {
				return false
			}
			if woken {
				continue
			}
		}
		if _, err := p.dst.Write(b[:n]); err != nil {
			return false
		}
		b = b[n:]
		p.left -= n
		if r.cutting && p.left == 0 {
			p.link.cut()
			return false
		}
	}
	return true
}

// due waits until what came then may pass, and returns the rules by which it may.
// It is not ok when the connection is over.
func (p *pipe) due(came time.Time) (r rules, changed <-chan struct{}, ok bool) {
	for {
		r, changed = p.link.p.rules(p.dir)
		wait := time.Until(came.Add(r.delay))
		switch {
		case r.mute:
			wait = forever
		case wait <= 0:
			return r, changed, true
		}
		if _, ok := p.wait(changed, wait); !ok {
			return r, changed, false
		}
	}
}

// allowed returns how many of n bytes pass before a cut.
func (p *pipe) allowed(r rules, n int) int {
	if !r.cutting {
		return n
	}
	if p.cutSeen != r.cutSet {
		p.cutSeen, p.left = r.cutSet, r.cutAfter
	}
	return min(n, p.left)
}

// wait waits for d, for other rules, which wake it, or for the end of the
// connection, which is not ok.
func (p *pipe) wait(changed <-chan struct{}, d time.Duration) (woken, ok bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.link.done:
		return false, false
	case <-changed:
		return true, true
	case <-timer.C:
		return false, true
	}
}
