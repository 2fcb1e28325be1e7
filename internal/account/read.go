package account

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// Options say what is accounted for.
type Options struct {
	// Since and Until bound when requests were sent: from Since on, and before
	// Until. A request without a record counts by its answer.
	Since, Until time.Time
	// Tenant is a hash or the beginning of one; empty: all.
	Tenant string
	// Prices price answers that were recorded without a price; nil: none.
	Prices *usage.Prices
	// Explain gives the command that shows more of a session; it may be nil.
	Explain func(logsink.Key) string
	// Progress is told how far it is after every few records; it may be nil.
	Progress func(Progress)
}

// Progress is how far a Read is.
type Progress struct{ Sessions, Records int64 }

// Read walks through a log, which may be written meanwhile, and returns the
// account of a span of time.
func Read(ctx context.Context, log logsink.Reader, o Options) (*Report, error) {
	w := &walk{ctx: ctx, log: log, o: &o, book: newBook(), seen: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	// A session that is resumed during the walk moves to where it began: what is
	// new there is looked at again.
	began := time.Now().Add(-clockSkew)
	err := w.sessions(time.Time{})
	if err == nil {
		err = w.sessions(began)
	}
	if err != nil {
		return nil, err
	}
	return w.book.close(&o), nil
}

// clockSkew is by how much the clocks of writers and readers may differ.
const clockSkew = time.Minute

// A walk goes from session to session, so that of all but one only sums are in
// memory.
type walk struct {
	ctx  context.Context
	log  logsink.Reader
	o    *Options
	book *book
	far  Progress

	seen map[uint64]struct{} // hashes of the sessions that were read
	seed maphash.Seed
}

// sessions reads those that are new to the walk, newest anchor first, down to
// the first that was not used from then on.
func (w *walk) sessions(from time.Time) error {
	var failed error
	err := w.log.Sessions(w.ctx, w.wholeTenant(), "", func(info logsink.SessionInfo) bool {
		if info.LastTime.Before(from) {
			return false
		}
		if w.selects(&info) && w.isNew(info.Key) {
			failed = w.session(&info)
		}
		return failed == nil
	})
	return cmp.Or(failed, err)
}

// wholeTenant is the tenant if it is a whole hash, by which the log can choose.
func (w *walk) wholeTenant() string {
	if len(w.o.Tenant) == 32 {
		return w.o.Tenant
	}
	return ""
}

// selects reports whether a session may have been used in the span.
func (w *walk) selects(info *logsink.SessionInfo) bool {
	return strings.HasPrefix(info.Tenant, w.o.Tenant) && !info.LastTime.Before(w.o.Since) && info.Since.Before(w.o.Until.Add(beginning))
}

// beginning is by how much a session may seem to begin after its first request:
// without an anchor, it does so when that is answered.
const beginning = 2 * time.Hour

func (w *walk) isNew(k logsink.Key) bool {
	var h maphash.Hash
	h.SetSeed(w.seed)
	_, _ = h.WriteString(k.Tenant)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(k.Session)
	sum := h.Sum64()
	if _, ok := w.seen[sum]; ok {
		return false
	}
	w.seen[sum] = struct{}{}
	return true
}

// session reads one session.
func (w *walk) session(info *logsink.SessionInfo) error {
	s := &sitting{walk: w, info: info, open: map[string]asked{}, causes: causes{}, epochs: map[int]struct{}{}}
	var failed error
	err := w.log.Records(w.ctx, info.Key, 0, func(_ int64, r logsink.Record) bool {
		failed = s.take(r)
		return failed == nil
	})
	if err = cmp.Or(failed, err); err == nil {
		err = s.end()
	}
	w.far.Sessions++
	return err
}

// A sitting is the reading of one session.
type sitting struct {
	*walk
	info *logsink.SessionInfo

	open    map[string]asked // requests without an answer so far, by id
	order   []string         // ids of open, and of some that are not any more; oldest first
	anchors map[int]*logsink.Anchor
	sums    Sums
	causes  causes
	epochs  map[int]struct{}
}

// maxOpen bounds how many requests of one session wait for an answer. Those
// beyond it are given up, the oldest first.
const maxOpen = 1 << 16

func (s *sitting) take(r logsink.Record) error {
	if s.far.Records++; s.o.Progress != nil && s.far.Records%256 == 0 {
		s.o.Progress(s.far)
	}
	switch {
	case r.Request != nil:
		return s.ask(r.Request)
	case r.Response != nil:
		return s.answer(r.Response)
	}
	return nil
}

func (s *sitting) ask(q *logsink.Request) error {
	if _, again := s.open[q.ID]; !again { // else it is another attempt
		s.order = append(s.order, q.ID)
	}
	s.open[q.ID] = askedOf(q)
	if len(s.order) <= maxOpen {
		return nil
	}
	s.order = slices.DeleteFunc(s.order, func(id string) bool { _, ok := s.open[id]; return !ok })
	for len(s.order) > maxOpen/2 {
		if err := s.giveUp(s.order[0]); err != nil {
			return err
		}
		s.order = s.order[1:]
	}
	return nil
}

// giveUp counts a request as one without an answer.
func (s *sitting) giveUp(id string) error {
	a, ok := s.open[id]
	if !ok {
		return nil
	}
	delete(s.open, id)
	return s.add(newExchange(a, nil, nil))
}

func (s *sitting) answer(p *logsink.Response) error {
	a, ok := s.open[p.ID]
	if !ok {
		a = orphaned(p)
	}
	delete(s.open, p.ID)
	return s.add(newExchange(a, p, s.o.Prices))
}

// add takes a request in if it was sent in the span.
func (s *sitting) add(x *exchange) error {
	if x.at.Before(s.o.Since) || !x.at.Before(s.o.Until) {
		return nil
	}
	prefix, err := s.prefix(x)
	if err != nil {
		return err
	}
	s.book.add(x, prefix)
	s.sums.add(x)
	s.epochs[x.epoch] = struct{}{}
	if x.resp != nil && x.class != "count" {
		s.causes.add(x)
		s.miss(x)
	}
	return nil
}

// prefix is the one that a request carried, "" if none. It sees to it that the
// contributors of each are known.
func (s *sitting) prefix(x *exchange) (string, error) {
	if !x.inject {
		return "", nil
	}
	if x.epoch == s.info.Epochs && s.book.contributors[s.info.Prefix] != nil {
		return s.info.Prefix, nil
	}
	if s.anchors == nil {
		if err := s.readAnchors(); err != nil {
			return "", err
		}
	}
	if a := s.anchors[x.epoch]; a != nil {
		return a.Prefix, nil
	}
	return UnknownPrefix, nil
}

// UnknownPrefix is the name of prefixes whose anchor is gone.
const UnknownPrefix = "unknown"

func (s *sitting) readAnchors() error {
	list, err := s.log.Anchors(s.ctx, s.info.Key)
	if err != nil && !errors.Is(err, logsink.ErrNoSession) {
		return err
	}
	s.anchors = make(map[int]*logsink.Anchor, len(list))
	for _, a := range list {
		s.anchors[a.Epoch] = &logsink.Anchor{Prefix: a.Prefix} // without its messages
		if of := s.book.contributors; of[a.Prefix] == nil && len(of) < namesApart {
			of[a.Prefix] = append([]logsink.Contribution{}, a.Contributors...)
		}
	}
	return nil
}

func (s *sitting) miss(x *exchange) {
	c := x.resp.Cause
	if c == nil || c.Missed <= 0 && x.lost <= 0 {
		return
	}
	m := Miss{
		Time: x.at, Key: s.info.Key, Request: x.id, Epoch: x.epoch, Thread: x.thread, Model: x.model,
		LostTold: x.lostTold, Cause: c,
	}
	if x.now {
		priced := *c
		priced.Lost, m.Cause = int64(x.lost), &priced
	}
	s.book.misses.offer(m)
}

// end takes in the requests that have no answer, and the session.
func (s *sitting) end() error {
	for _, id := range s.order {
		if err := s.giveUp(id); err != nil {
			return err
		}
	}
	if s.sums.Requests == 0 && s.sums.Counts == 0 {
		return nil
	}
	s.book.sessions++
	if s.o.Progress != nil {
		s.o.Progress(s.far)
	}
	d := Session{Key: s.info.Key, Group: groupOf("", &s.sums), Epochs: len(s.epochs)}
	if !s.book.dearest.wants(&d) {
		return nil
	}
	if list := s.causes.list(); len(list) > 0 {
		d.Cause, d.Owner = list[0].Name, list[0].Owner
	}
	s.book.dearest.offer(d)
	return nil
}
