//go:build !linux

package wire

import "net"

// A direct is nothing here: reads and writes go the usual way.
type direct struct{}

func (c *Conn) initDirect() {}

func (c *Conn) read(p []byte) (int, error) { return c.Conn.Read(p) }

func (c *Conn) write(p []byte) (int, error) { return c.Conn.Write(p) }

func (c *Conn) writeBuffers(bufs *net.Buffers) (int64, error) { return bufs.WriteTo(c.Conn) }
