package wire

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Conn is a connection with idle deadlines and a watch on its peer.
// Reads and writes may run at the same time, but one of each.
type Conn struct {
	net.Conn
	raw   syscall.RawConn
	watch *Watcher
	id    watchID

	// These are for whoever has the connection: that a request began on it, and
	// what belongs to it.
	Used  atomic.Bool
	Owner any

	gone   atomic.Bool
	closed sync.Once

	mu     sync.Mutex // guards onGone
	onGone func()

	readBy   deadline
	readIdle time.Duration // the reading goroutine's

	// The write deadline belongs to the goroutine that writes. writeArmed is when
	// it was last pushed ahead: doing so on every call would cost more than the
	// call.
	writeIdle  time.Duration
	writeArmed time.Time

	reader, writer direct // each belongs to the goroutine that reads or writes
}

// NewConn wraps a connection and watches its peer; one that has no descriptor
// of its own (a SOCKS tunnel) is not watched. A zero writeIdle sets no write
// deadline. The Conn owns c, also when NewConn fails.
func NewConn(c net.Conn, w *Watcher, writeIdle time.Duration) (*Conn, error) {
	wc := &Conn{Conn: c, watch: w, writeIdle: writeIdle}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return wc, nil
	}
	var err error
	if wc.raw, err = sc.SyscallConn(); err == nil {
		wc.initDirect()
		err = w.add(wc)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return wc, nil
}

// Gone reports whether the peer has closed or reset its side. A half-closed
// peer counts as gone: nothing tells it from one that left.
func (c *Conn) Gone() bool { return c.gone.Load() }

// OnGone has f called, on the watcher's goroutine, when the peer leaves; f must
// not block. A nil f stops that: once OnGone(nil) has returned, f is not called
// any more. If the peer has left already, f is called at once by this goroutine.
func (c *Conn) OnGone(f func()) {
	c.mu.Lock()
	c.onGone = f
	c.mu.Unlock()
	if f != nil && c.gone.Load() {
		c.fire()
	}
}

// left is called by the watcher.
func (c *Conn) left() {
	c.gone.Store(true)
	c.fire()
}

// fire calls the function, once.
func (c *Conn) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.onGone; f != nil {
		c.onGone = nil
		f()
	}
}

// SetReadIdle has reads fail after a silence of d; 0 lets them wait for ever.
func (c *Conn) SetReadIdle(d time.Duration) error {
	c.readIdle = d
	if d == 0 {
		return c.readBy.set(time.Time{}, c.Conn.SetReadDeadline)
	}
	return nil
}

// Read reads, under the idle deadline if there is one.
func (c *Conn) Read(p []byte) (int, error) {
	if c.readIdle > 0 {
		if err := c.readBy.set(time.Now().Add(c.readIdle), c.Conn.SetReadDeadline); err != nil {
			return 0, err
		}
	}
	for {
		n, err := c.read(p)
		if err == nil || n > 0 || !c.readBy.early(err, c.Conn.SetReadDeadline) {
			return n, err
		}
	}
}

// Write writes under the idle deadline. A large p on a slow connection is
// written in pieces, each of which has the whole idle time.
func (c *Conn) Write(p []byte) (int, error) {
	var done int
	for {
		piece := p[done:]
		if len(piece) > maxWrite {
			piece = piece[:maxWrite]
		}
		if err := c.armWrite(); err != nil {
			return done, err
		}
		n, err := c.write(piece)
		if done += n; err != nil || done == len(p) {
			return done, err
		}
	}
}

// maxWrite bounds one write, so that its deadline is about idleness and not
// about the size of a body.
const maxWrite = 1 << 20

// WriteBuffers writes all buffers, with as few system calls as the kernel
// allows, and returns the bytes written. What is left in bufs means nothing.
func (c *Conn) WriteBuffers(bufs *net.Buffers) (int64, error) {
	if err := c.armWrite(); err != nil {
		return 0, err
	}
	return c.writeBuffers(bufs)
}

func (c *Conn) armWrite() error {
	if c.writeIdle == 0 {
		return nil
	}
	return rearm(&c.writeArmed, c.writeIdle, c.Conn.SetWriteDeadline)
}

// rearm pushes a deadline ahead if it was last pushed more than an eighth of
// the idle time ago. The eighth is added, so a silence of idle is always allowed.
func rearm(armed *time.Time, idle time.Duration, set func(time.Time) error) error {
	now := time.Now()
	if now.Sub(*armed) < idle/8 {
		return nil
	}
	*armed = now
	return set(now.Add(idle + idle/8))
}

// SetDeadline sets both deadlines once, over the idle deadlines until those
// are next pushed ahead.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets the read deadline once.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.readBy.set(t, c.Conn.SetReadDeadline)
}

// SetWriteDeadline sets the write deadline once.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.writeArmed = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// Close leaves the watcher first: once the descriptor is closed its number may
// belong to another connection.
func (c *Conn) Close() error {
	c.closed.Do(func() { c.watch.remove(c) })
	return c.Conn.Close()
}

// Abort closes the connection so that the peer sees a reset rather than an
// orderly end.
func (c *Conn) Abort() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // best effort: Close follows whatever it says
	}
	return c.Close()
}

// Of returns the Conn under c, through TLS if need be, or nil.
func Of(c net.Conn) *Conn {
	switch c := c.(type) {
	case *Conn:
		return c
	case interface{ NetConn() net.Conn }:
		return Of(c.NetConn())
	}
	return nil
}
