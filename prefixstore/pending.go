package prefixstore

import (
	"context"
	"sync"

	"github.com/seed-9236c7ca/preface/logsink"
)

// maxPending bounds what is remembered while the log is down. Past it, opening
// requests are refused rather than sent with a decision nobody remembers.
const maxPending = 10_000

// pending holds the epochs whose opening request went out bare while the log
// was down, until the log has them.
type pending struct {
	mu     sync.Mutex // guards epochs
	epochs map[logsink.Key]*pendingEpoch
}

type pendingEpoch struct {
	epoch  *Epoch
	anchor *logsink.Anchor
}

func (p *pending) get(k logsink.Key) *Epoch {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.epochs[k]; e != nil {
		return e.epoch
	}
	return nil
}

func (p *pending) all() []*pendingEpoch {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*pendingEpoch, 0, len(p.epochs))
	for _, e := range p.epochs {
		list = append(list, e)
	}
	return list
}

func (p *pending) drop(k logsink.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.epochs, k)
}

// Remember decides, while the log is down, that a new session is bare. It is
// anchored so as soon as the log answers; until then this process knows. It
// returns false if too many are remembered already. A crash here loses the
// decision: the session's next request then finds no anchor, and as it has a
// history, goes by SignedHistory.
func (s *Store) Remember(w Want, r *Recipe, why string) (*Epoch, bool) {
	a := s.anchor(w, r, 1, logsink.ReasonInitial)
	a.Decision, a.Why = logsink.Bare, why
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	if e := s.pending.epochs[w.Key]; e != nil {
		return e.epoch, true
	}
	if len(s.pending.epochs) >= maxPending {
		return nil, false
	}
	e := newEpoch(a, true, false)
	s.pending.epochs[w.Key] = &pendingEpoch{e, a}
	return e, true
}

// Bare is Find for a request whose epoch, if it begins one, goes without a
// prefix, for want of one.
func (s *Store) Bare(ctx context.Context, w Want, r *Recipe, why string) (*Epoch, error) {
	w.Bare = why
	return s.fly(ctx, w, r)
}

// settle writes the pending anchors. It stops at the first error: the log is
// still down.
func (s *Store) settle(ctx context.Context) {
	for _, p := range s.pending.all() {
		e, err := s.freeze(ctx, p.anchor)
		if err != nil {
			return
		}
		s.pending.drop(p.anchor.Key)
		if e.Injects() {
			// Another replica froze the session meanwhile: this process has sent
			// requests without its prefix. Nothing undoes that; it must be seen.
			s.opt.Logger.Error("session went out bare while the log was down, but is anchored with a prefix",
				"session", e.Key.Session, "epoch", e.Number)
		}
	}
}
