package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// A direct reads or writes a nonblocking descriptor with bare system calls. The
// usual ones tell the scheduler first, so that it can give the processor to
// others while a call blocks. These cannot block, and with streams of small and
// rare events the telling costs as much as the call: each time it wakes the
// runtime's monitor, which had gone to sleep (measured: a quarter of the CPU
// time of such streams). Go's poller still waits for readiness, under the
// deadlines.
//
// Nothing can interrupt a bare call, not even the garbage collector. So it must
// be short: large buffers go the usual way.
type direct struct {
	try func(fd uintptr) bool // once, made once

	// What to call: read or write with a buffer and its size, or writev with a
	// list and its length.
	call uintptr
	at   unsafe.Pointer
	size int
	list [maxParts]syscall.Iovec

	n     int
	errno syscall.Errno

	peek   func(fd uintptr) // one byte, made once
	unread bool             // what it found
}

const (
	maxDirect = 64 << 10 // bytes of one bare call: it copies them in some 10 us
	maxParts  = 8        // buffers
)

func (c *Conn) initDirect() {
	c.reader.try, c.writer.try = c.reader.once, c.writer.once
	c.reader.peek = c.reader.look
}

// Unread reports whether the peer has sent bytes that nobody has read yet. It
// belongs to the goroutine that reads, and waits for nothing.
func (c *Conn) Unread() bool {
	if c.raw == nil {
		return false
	}
	d := &c.reader
	d.unread = false
	return c.raw.Control(d.peek) == nil && d.unread // a closed one has none
}

func (d *direct) look(fd uintptr) {
	var b [1]byte
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b)), uintptr(len(b)), syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	d.unread = errno == 0 && n > 0
}

// once makes the call, and reports whether it did anything: if not, the
// descriptor is not ready.
func (d *direct) once(fd uintptr) bool {
	if d.call != syscall.SYS_READ {
		sent(fd)
	}
	for {
		n, _, errno := syscall.RawSyscall(d.call, fd, uintptr(d.at), uintptr(d.size))
		switch errno {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		if d.call == syscall.SYS_READ {
			received(fd)
		}
		d.n, d.errno = int(n), errno
		return true
	}
}

// do makes the call when the descriptor is ready; wait is its raw connection's
// Read or Write. Errors are those of package net.
func (d *direct) do(c net.Conn, op string, wait func(func(fd uintptr) bool) error) (int, error) {
	err := wait(d.try)
	d.at = nil
	switch {
	case err != nil:
		return 0, err
	case d.errno != 0:
		return 0, &net.OpError{Op: op, Net: c.RemoteAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, d.errno)}
	}
	return d.n, nil
}

// read reads once.
func (c *Conn) read(p []byte) (int, error) {
	if c.raw == nil || len(p) == 0 || len(p) > maxDirect {
		return c.Conn.Read(p)
	}
	d := &c.reader
	d.call, d.at, d.size = syscall.SYS_READ, unsafe.Pointer(&p[0]), len(p)
	n, err := d.do(c.Conn, "read", c.raw.Read)
	if n == 0 && err == nil {
		return 0, io.EOF
	}
	return n, err
}

// write writes all of p.
func (c *Conn) write(p []byte) (done int, err error) {
	if c.raw == nil || len(p) == 0 || len(p) > maxDirect {
		return c.Conn.Write(p)
	}
	d := &c.writer
	for done < len(p) && err == nil {
		var n int
		d.call, d.at, d.size = syscall.SYS_WRITE, unsafe.Pointer(&p[done]), len(p)-done
		n, err = d.do(c.Conn, "write", c.raw.Write)
		done += n
	}
	return done, err
}

// writeBuffers writes all of bufs.
func (c *Conn) writeBuffers(bufs *net.Buffers) (done int64, err error) {
	d := &c.writer
	if c.raw == nil || !d.gather(*bufs) {
		return bufs.WriteTo(c.Conn)
	}
	n, err := d.do(c.Conn, "writev", c.raw.Write)
	clear(d.list[:])
	done = int64(n)
	for _, p := range *bufs {
		if sent := min(n, len(p)); sent < len(p) && err == nil {
			var more int
			more, err = c.write(p[sent:])
			done += int64(more)
		}
		n -= min(n, len(p))
	}
	return done, err
}

// gather sets d up to write bufs, unless they are too many or too large.
func (d *direct) gather(bufs net.Buffers) bool {
	bytes := 0
	for _, p := range bufs {
		bytes += len(p)
	}
	if bytes == 0 || bytes > maxDirect || len(bufs) > maxParts {
		return false
	}
	d.call, d.at, d.size = syscall.SYS_WRITEV, unsafe.Pointer(&d.list), 0
	for _, p := range bufs {
		if len(p) > 0 {
			d.list[d.size].Base = &p[0]
			d.list[d.size].SetLen(len(p))
			d.size++
		}
	}
	return true
}
