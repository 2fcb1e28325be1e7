package prefixstore

import (
	"context"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A forgetful log can lose what it had stored, as a server that was emptied
// does, or a replica that takes over before it has everything.
type forgetful interface {
	OnLost(func(logsink.EpochRef))
}

// lostMost bounds the lost epochs that wait to be put back. Past it they are
// told of again with their next record.
const lostMost = 1024

// minds has a forgetful log tell what it lost.
func (s *Store) minds(log logsink.Log) {
	f, ok := log.(forgetful)
	if !ok {
		return
	}
	s.forgetful, s.lost = true, make(chan logsink.EpochRef, lostMost)
	f.OnLost(func(ref logsink.EpochRef) {
		select {
		case s.lost <- ref:
		default:
		}
	})
}

// restore puts an epoch back into a log that has lost it: the anchor that is in
// use here, never one that is composed anew (I2). If the log meanwhile has
// another, that stays, and it must be seen.
func (s *Store) restore(ctx context.Context, ref logsink.EpochRef) {
	e := s.known(ref.Key)
	if e == nil || e.Number != ref.Epoch || e.anchor == nil {
		return // it is pending, or nobody here knows it any more
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.LogTimeout)
	defer cancel()
	ours := *e.anchor // so that the one that is stored now is told from one put back before
	won, err := s.log.Freeze(ctx, &ours)
	switch {
	case err != nil:
		s.opt.Logger.Error("the log has lost a session's anchor, and it cannot be put back yet", "session", ref.Session, "epoch", ref.Epoch, "error", err)
	case won == &ours:
		s.restored.Add(1)
		s.opt.Logger.Error("the log had lost a session's anchor; it was put back from memory", "session", ref.Session, "epoch", ref.Epoch)
	case won.Decision != e.Decision || won.Prefix != e.Prefix:
		s.replaced.Add(1)
		s.opt.Logger.Error("the log had lost a session's anchor, and another process has frozen another prefix", "session", ref.Session, "epoch", ref.Epoch)
	}
}

// Losses counts anchors that the log had lost: those that were put back, and
// those that another process had replaced by others before.
func (s *Store) Losses() (restored, replaced int64) {
	return s.restored.Load(), s.replaced.Load()
}
