//go:build !linux

package wire

import (
	"net"
	"syscall"
)

// A direct is nothing here: reads and writes go the usual way.
type direct struct{}

func (c *Conn) initDirect() {}

// Unread reports whether the peer has sent bytes that nobody has read yet. It
// waits for nothing.
func (c *Conn) Unread() (some bool) {
	if c.raw == nil {
		return false
	}
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		some = err == nil && n > 0
	})
	return err == nil && some // a closed one has none
}

func (c *Conn) read(p []byte) (int, error) { return c.Conn.Read(p) }

func (c *Conn) write(p []byte) (int, error) { return c.Conn.Write(p) }

func (c *Conn) writeBuffers(bufs *net.Buffers) (int64, error) { return bufs.WriteTo(c.Conn) }
