package prefixstore

import (
	"context"
	"fmt"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// first freezes a session's epoch 1.
func (s *Store) first(ctx context.Context, w Want, r *Recipe) (*Epoch, error) {
	a := s.anchor(w, r, 1, logsink.ReasonInitial)
	a.Resume = w.Resume // had its effect: the session begins
	switch {
	case w.Bare != "":
		a.Decision, a.Why = logsink.Bare, w.Bare
	case w.SignedHistory:
		// The history was signed without a prefix of ours; with one the provider
		// would refuse it (facts/providers.md 1.7).
		a.Decision, a.Why = logsink.Bare, "foreign_history"
	default:
		if err := s.compose(ctx, a, w, r); err != nil {
			return nil, err
		}
	}
	return s.freeze(ctx, a)
}

// next freezes the epoch after e. A history that is signed together with e's
// prefix keeps e's bytes; the anchor says so.
func (s *Store) next(ctx context.Context, e *Epoch, w Want, r *Recipe) (*Epoch, error) {
	if s.pending.get(e.Key) != nil {
		if s.settle(ctx); s.pending.get(e.Key) != nil {
			return nil, fmt.Errorf("cannot resume session %q: epoch %d is not in the log yet: %w", e.Key.Session, e.Number, logsink.ErrUnavailable)
		}
	}
	a := s.anchor(w, r, e.Number+1, logsink.ReasonResume)
	a.Resume = w.Resume
	if w.SignedHistory {
		if err := s.copyFrom(ctx, a, e); err != nil {
			return nil, err
		}
		return s.freeze(ctx, a)
	}
	if w.Bare != "" {
		a.Decision, a.Why = logsink.Bare, w.Bare
		return s.freeze(ctx, a)
	}
	if err := s.compose(ctx, a, w, r); err != nil {
		return nil, err
	}
	return s.freeze(ctx, a)
}

// copyFrom gives a the decision and bytes of the epoch before.
func (s *Store) copyFrom(ctx context.Context, a *logsink.Anchor, e *Epoch) error {
	ctx, cancel := context.WithTimeout(ctx, s.opt.LogTimeout)
	defer cancel()
	old, err := s.log.Current(ctx, e.Key)
	if err != nil {
		return err
	}
	a.Decision, a.Prefix, a.Messages, a.Renderings = old.Decision, old.Prefix, old.Messages, old.Renderings
	a.Contributors, a.Why = old.Contributors, "foreign_history"
	if old.Injects() {
		a.Why = "signed_history"
	}
	return nil
}

func (s *Store) anchor(w Want, r *Recipe, epoch int, reason string) *logsink.Anchor {
	return &logsink.Anchor{
		V: logsink.Version, Key: w.Key, Epoch: epoch, Reason: reason,
		Route: r.Route, Source: w.Source, Config: r.Config,
		Preface: s.opt.Version, Time: s.opt.Now().UTC(),
	}
}

// compose runs the contributors and fills in the prefix, or the decision bare
// if they gave nothing.
func (s *Store) compose(ctx context.Context, a *logsink.Anchor, w Want, r *Recipe) error {
	ctx, cancel := context.WithTimeout(ctx, s.opt.ComposeTimeout)
	defer cancel()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-ctx.Done():
		return &ComposeError{fmt.Errorf("%d compositions are under way already (prefix.compose_timeout %v)", maxComposing, s.opt.ComposeTimeout)}
	}
	about := w.Session
	about.Tenant, about.Session = w.Key.Tenant, w.Key.Session
	about.Epoch, about.Reason, about.Route = a.Epoch, a.Reason, a.Route
	res, err := r.Compose(ctx, about)
	failpoint.Hit(failpoint.Composed)
	if err != nil {
		return &ComposeError{err}
	}
	a.Contributors = contributions(res.Contributions)
	if len(res.Messages) == 0 {
		a.Decision, a.Why = logsink.Bare, "empty"
		return nil
	}
	a.Decision, a.Messages = logsink.Inject, messages(res.Messages)
	a.Prefix = logsink.PrefixHash(a.Messages)
	if a.Renderings, err = r.Render(a.Messages); err != nil {
		return &ComposeError{fmt.Errorf("cannot render it: %w", err)}
	}
	return nil
}

// freeze writes the anchor and takes back whichever is there. A crash before
// the log has it leaves nothing; after, the session has its prefix although
// nobody used it yet.
func (s *Store) freeze(ctx context.Context, a *logsink.Anchor) (*Epoch, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opt.LogTimeout)
	defer cancel()
	failpoint.Hit(failpoint.BeforeLog)
	won, err := s.log.Freeze(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("cannot freeze epoch %d of session %q (log.timeout %v): %w", a.Epoch, a.Session, s.opt.LogTimeout, err)
	}
	if won.Key != a.Key || won.Epoch != a.Epoch {
		panic(fmt.Sprintf("BUG: the log answered epoch %d of another session", won.Epoch))
	}
	failpoint.Hit(failpoint.Acknowledged)
	return s.keep(won, won == a), nil
}

func messages(in []contrib.Message) []logsink.Message {
	out := make([]logsink.Message, len(in))
	for i, m := range in {
		out[i] = logsink.Message(m)
	}
	return out
}

func contributions(in []contrib.Contribution) []logsink.Contribution {
	out := make([]logsink.Contribution, len(in))
	for i, c := range in {
		out[i] = logsink.Contribution(c)
	}
	return out
}
