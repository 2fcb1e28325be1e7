package wire

import (
	"sync"
)

// watchID names a watched connection: its descriptor and the number of times
// the watcher had seen a connection before it. Descriptors are used again,
// numbers are not.
type watchID struct {
	fd  int32
	gen int32
}

// A Watcher notices when peers leave. One goroutine serves all connections.
type Watcher struct {
	poll *poller // how this system tells; immutable

	// conns is what is watched, by descriptor.
	mu    sync.Mutex
	conns map[int32]*Conn
	gen   int32

	stop sync.Once
	done sync.WaitGroup
}

// NewWatcher starts a watcher. Close stops it.
func NewWatcher() (*Watcher, error) {
	w := &Watcher{conns: map[int32]*Conn{}}
	var err error
	if w.poll, err = newPoller(w); err != nil {
		return nil, err
	}
	w.done.Go(w.poll.run)
	return w, nil
}

// Close stops the watcher and waits for its goroutine. Connections stay open.
func (w *Watcher) Close() (err error) {
	w.stop.Do(func() { err = w.poll.stop() })
	w.done.Wait()
	return err
}

func (w *Watcher) add(c *Conn) error {
	var err error
	ctl := c.raw.Control(func(fd uintptr) {
		w.mu.Lock()
		w.gen++
		c.id = watchID{int32(fd), w.gen}
		w.conns[c.id.fd] = c
		w.mu.Unlock()
		err = w.poll.add(c.id)
	})
	if err == nil {
		err = ctl
	}
	return err
}

func (w *Watcher) remove(c *Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conns[c.id.fd] == c {
		delete(w.conns, c.id.fd)
		w.poll.remove(c.id)
	}
}

// left tells the connection with this id, if it is still the one watched.
func (w *Watcher) left(id watchID) {
	w.mu.Lock()
	c := w.conns[id.fd]
	w.mu.Unlock()
	if c != nil && c.id == id {
		c.left()
	}
}
