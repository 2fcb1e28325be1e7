package proxy

import (
	"context"
	"sync"
	"time"
)

// A life is the context of one request. It ends when its client leaves, and at
// the latest with the exchange. Few requests wait for anything that it could
// end, so its channel is made for the first who asks.
type life struct {
	mu    sync.Mutex // guards the following
	done  chan struct{}
	ended bool
}

var _ context.Context = (*life)(nil)

// end ends it, once; whoever waits is told.
func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended && l.done != nil {
		close(l.done)
	}
	l.ended = true
}

// Done is closed by end.
func (l *life) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.ended {
			close(l.done)
		}
	}
	return l.done
}

// Err is context.Canceled once it has ended.
func (l *life) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return context.Canceled
	}
	return nil
}

// Deadline is none: what a request waits for has timeouts of its own.
func (l *life) Deadline() (deadline time.Time, ok bool) { return }

// Value is nil for every key.
func (l *life) Value(any) any { return nil }
