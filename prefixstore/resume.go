package prefixstore

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// over reports whether the request starts a new epoch: the client says that it
// resumes, an operator ended the epoch, or the session was idle for too long.
// A proxy restart is none of these (DESIGN.md 4.5).
func (s *Store) over(e *Epoch, resume string, now time.Time) bool {
	return e.resumedBy(resume) || s.wasEnded(e) || s.idled(e, now)
}

// resumedBy reports whether the signal asks for an epoch that e is not yet. A
// token resumes once, or begins a session that is new. The plain "1" cannot tell a resume from the same request
// sent again, so an epoch that it began lasts until it has had an answer.
func (e *Epoch) resumedBy(signal string) bool {
	switch {
	case signal == "":
		return false
	case e.resume != signal:
		return true
	}
	return signal == "1" && e.completed.Load()
}

// wasEnded reports whether the epoch is known to be over: an operator ended it,
// or a later one was frozen, here or by another process. A copy of it may still
// be in the cache, or on its way there from a slow read.
func (s *Store) wasEnded(e *Epoch) bool {
	last, ok := s.ended.Get(e.Key)
	return ok && e.Number <= last
}

// end notes that a session's epochs up to one are over, and reports whether that
// is news.
func (s *Store) end(k logsink.Key, epoch int) bool {
	s.ending.Lock()
	defer s.ending.Unlock()
	if last, ok := s.ended.Peek(k); ok && last >= epoch {
		return false
	}
	s.ended.Add(k, epoch)
	return true
}

func (s *Store) idled(e *Epoch, now time.Time) bool {
	last := e.last.Load()
	return s.opt.IdleLimit > 0 && last > 0 && now.Sub(time.Unix(0, last)) > s.opt.IdleLimit
}

// recall sets an epoch's last use from the log, for a process that has not seen
// the session before. A log that cannot tell leaves it unknown, which is not
// idle.
func (s *Store) recall(ctx context.Context, e *Epoch) {
	l, ok := s.log.(interface {
		LastActive(ctx context.Context, k logsink.Key) (time.Time, error)
	})
	if !ok {
		return
	}
	if t, err := l.LastActive(ctx, e.Key); err == nil {
		e.Touch(t)
	}
}

// watch learns of epochs that an operator ended, and writes what is pending,
// until ctx ends.
func (s *Store) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var bell <-chan struct{} // of a log that tells when there is something to learn
	if l, ok := s.log.(interface{ Bell() <-chan struct{} }); ok {
		bell = l.Bell()
	}
	cursor := s.learnEnded(ctx, 0, slog.LevelDebug) // of before this process
	for {
		cursor = s.learnEnded(ctx, cursor, slog.LevelInfo)
		s.settle(ctx)
		select {
		case <-ctx.Done():
			return
		case ref := <-s.lost:
			s.restore(ctx, ref)
		case <-bell:
			gather(ctx)
		case <-tick.C:
		}
	}
}

// gather lets bells come that are about to: one question is for all of them.
func gather(ctx context.Context) {
	timer := time.NewTimer(bellPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// bellPause is short beside the answer of any provider, before which a client
// cannot go on with its resumed session elsewhere.
const bellPause = 20 * time.Millisecond

func (s *Store) learnEnded(ctx context.Context, cursor int64, level slog.Level) int64 {
	ctx, cancel := context.WithTimeout(ctx, s.opt.LogTimeout)
	defer cancel()
	refs, next, err := s.log.Ended(ctx, cursor)
	if errors.Is(err, context.Canceled) {
		return cursor
	}
	s.outage.tell(s.opt.Logger, err)
	s.away.Store(err != nil)
	if err != nil {
		return cursor
	}
	for _, ref := range refs {
		if s.end(ref.Key, ref.Epoch) {
			s.opt.Logger.Log(ctx, level, "epoch ended by an operator, or in another process", "session", ref.Session, "epoch", ref.Epoch)
		}
	}
	return next
}

// LogAnswers reports whether the log answered when it was last asked, which is
// each second.
func (s *Store) LogAnswers() bool { return !s.away.Load() }

// An outage of the log is told when it begins, each minute, and when it is over:
// a line each second would hide all others.
type outage struct{ since, told time.Time }

const outageEvery = time.Minute

func (o *outage) tell(logger *slog.Logger, err error) {
	now := time.Now()
	switch {
	case err == nil && !o.since.IsZero():
		logger.Info("the header log answers again", "after", now.Sub(o.since).Round(time.Second).String())
		*o = outage{}
	case err != nil && now.Sub(o.told) >= outageEvery:
		if o.since.IsZero() {
			o.since = now
		}
		o.told = now
		logger.Warn("the header log does not answer; sessions in memory go on, resumes elsewhere are not seen; asking again each second", "since", o.since, "error", err)
	}
}
