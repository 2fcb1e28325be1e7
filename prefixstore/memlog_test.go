package prefixstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// memLog is a log in memory that can be told to fail. The methods that a Store
// does not use are not there.
type memLog struct {
	logsink.Log

	mu      sync.Mutex
	anchors map[logsink.EpochRef]*logsink.Anchor
	last    map[logsink.Key]int
	ended   []logsink.EpochRef
	active  map[logsink.Key]time.Time

	down      bool // nothing is stored, every call fails
	loseReply bool // what is offered is stored, but the caller hears of a failure
	freezes   int
}

func newMemLog() *memLog {
	return &memLog{
		anchors: map[logsink.EpochRef]*logsink.Anchor{}, last: map[logsink.Key]int{}, active: map[logsink.Key]time.Time{},
	}
}

var errDown = fmt.Errorf("test: %w", logsink.ErrUnavailable)

func (l *memLog) Freeze(_ context.Context, a *logsink.Anchor) (*logsink.Anchor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.freezes++
	if l.down {
		return nil, errDown
	}
	ref := logsink.EpochRef{Key: a.Key, Epoch: a.Epoch}
	won, ok := l.anchors[ref]
	if !ok {
		won = a
		l.anchors[ref], l.last[a.Key] = a, max(l.last[a.Key], a.Epoch)
		if a.Epoch > 1 {
			l.ended = append(l.ended, logsink.EpochRef{Key: a.Key, Epoch: a.Epoch - 1})
		}
	}
	if l.loseReply {
		return nil, errDown
	}
	return won, nil
}

func (l *memLog) Current(_ context.Context, k logsink.Key) (*logsink.Anchor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errDown
	}
	if l.last[k] == 0 {
		return nil, logsink.ErrNoSession
	}
	return l.anchors[logsink.EpochRef{Key: k, Epoch: l.last[k]}], nil
}

func (l *memLog) EndEpoch(_ context.Context, k logsink.Key, epoch int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, logsink.EpochRef{Key: k, Epoch: epoch})
	return nil
}

func (l *memLog) Ended(_ context.Context, after int64) ([]logsink.EpochRef, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, after, errDown
	}
	return append([]logsink.EpochRef(nil), l.ended[after:]...), int64(len(l.ended)), nil
}

func (l *memLog) LastActive(_ context.Context, k logsink.Key) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t, ok := l.active[k]; ok {
		return t, nil
	}
	return l.anchors[logsink.EpochRef{Key: k, Epoch: l.last[k]}].Time, nil
}

func (l *memLog) set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// epoch is the anchor that the log has of an epoch, or nil.
func (l *memLog) epoch(e *Epoch) *logsink.Anchor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.anchors[logsink.EpochRef{Key: e.Key, Epoch: e.Number}]
}

// A secretive log does not tell of epochs that are over: what a process froze or
// read itself it must know without.
type secretive struct{ *memLog }

func (secretive) Ended(_ context.Context, after int64) ([]logsink.EpochRef, int64, error) {
	return nil, after, nil
}
