package wire

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller uses an epoll of its own: the kernel tells once when a peer has closed
// its sending side or reset the connection. Nothing is done per request.
//
// Go's poller waits for the epoll itself, which is readable when it has news.
// A thread that sat in epoll_wait would keep a processor from looking idle, and
// the runtime's monitor awake for up to 10 ms after each piece of news
// (measured: a quarter of the CPU time while streams start and end).
type poller struct {
	w     *Watcher
	epoll *os.File
	raw   syscall.RawConn // of epoll
}

func newPoller(w *Watcher) (*poller, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot watch connections: epoll_create1: %w", err)
	}
	if err := unix.SetNonblock(ep, true); err != nil { // so NewFile has Go's poller wait for it
		_ = unix.Close(ep)
		return nil, fmt.Errorf("cannot watch connections: fcntl: %w", err)
	}
	p := &poller{w: w, epoll: os.NewFile(uintptr(ep), "epoll")}
	if err := p.epoll.SetDeadline(time.Time{}); err != nil {
		_ = p.epoll.Close()
		return nil, fmt.Errorf("cannot watch connections: epoll in epoll: %w", err)
	}
	p.raw, err = p.epoll.SyscallConn()
	return p, err
}

func (p *poller) add(id watchID) error {
	ev := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLET, Fd: id.fd, Pad: id.gen}
	var errno syscall.Errno
	err := p.raw.Control(func(ep uintptr) {
		_, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_CTL, ep, unix.EPOLL_CTL_ADD, uintptr(id.fd), uintptr(unsafe.Pointer(&ev)), 0, 0)
	})
	if err == nil && errno != 0 {
		err = errno
	}
	if err != nil {
		return fmt.Errorf("cannot watch connection: epoll_ctl: %w", err)
	}
	return nil
}

// remove has nothing to do: closing the descriptor takes it out of the epoll.
func (p *poller) remove(watchID) {}

// run passes news on until stop: the function is never done, so Read returns
// once the epoll is closed.
func (p *poller) run() {
	events := make([]unix.EpollEvent, 128)
	_ = p.raw.Read(func(ep uintptr) bool {
		for n := take(ep, events); n > 0; n = take(ep, events) {
			for _, ev := range events[:n] {
				p.w.left(watchID{ev.Fd, ev.Pad})
			}
		}
		return false // go on when there is more
	})
}

// take takes what news there is, without waiting for any.
func take(ep uintptr, events []unix.EpollEvent) int {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, ep, uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
		switch errno {
		case 0:
			return int(n)
		case unix.EINTR:
		default:
			panic(fmt.Sprintf("BUG: epoll_pwait: %v", errno))
		}
	}
}

func (p *poller) stop() error { return p.epoll.Close() }
