package wire

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// poller uses epoll: the kernel tells once when a peer has closed its sending
// side or reset the connection. Nothing is done per request.
type poller struct {
	w       *Watcher
	epoll   int
	stopper int // an eventfd that ends run
}

func newPoller(w *Watcher) (*poller, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot watch connections: epoll_create1: %w", err)
	}
	stopper, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(ep)
		return nil, fmt.Errorf("cannot watch connections: eventfd: %w", err)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(stopper)}
	if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, stopper, &ev); err != nil {
		return nil, fmt.Errorf("cannot watch connections: epoll_ctl: %w", err)
	}
	return &poller{w: w, epoll: ep, stopper: stopper}, nil
}

func (p *poller) add(id watchID) error {
	ev := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLET, Fd: id.fd, Pad: id.gen}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, int(id.fd), &ev); err != nil {
		return fmt.Errorf("cannot watch connection: epoll_ctl: %w", err)
	}
	return nil
}

// remove has nothing to do: closing the descriptor takes it out of the epoll.
func (p *poller) remove(watchID) {}

func (p *poller) run() {
	events := make([]unix.EpollEvent, 128)
	for {
		n, err := unix.EpollWait(p.epoll, events, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			panic(fmt.Sprintf("BUG: epoll_wait: %v", err))
		}
		for _, ev := range events[:n] {
			if int(ev.Fd) == p.stopper {
				_ = unix.Close(p.epoll)
				_ = unix.Close(p.stopper)
				return
			}
			p.w.left(watchID{ev.Fd, ev.Pad})
		}
	}
}

func (p *poller) stop() error {
	_, err := unix.Write(p.stopper, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	return err
}
