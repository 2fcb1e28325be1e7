package admin

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-9236c7ca/preface/logsink"
)

// storyMost bounds the requests of a session that a page works on; a page of a
// session with more shows the latest.
const storyMost = 20_000

// A story is all that the log has of one session.
type story struct {
	logsink.Key
	Anchors []*logsink.Anchor
	Headers []*logsink.Header
	Turns   []*Turn
	Cut     bool // there were more than storyMost turns

	headers map[string]*logsink.Header
	latest  map[string]*Turn // by request id
}

// A Turn is a request with its answer.
type Turn struct {
	Request  *logsink.Request  `json:"request"`
	Response *logsink.Response `json:"response,omitempty"` // nil: none is in the log yet
}

// read reads a session, or returns logsink.ErrNoSession.
func (p *pages) read(ctx context.Context, k logsink.Key) (*story, error) {
	if k == (logsink.Key{}) { // to the log that means all sessions
		return nil, logsink.ErrNoSession
	}
	s := &story{Key: k, headers: map[string]*logsink.Header{}, latest: map[string]*Turn{}}
	anchors, err := p.Log.Anchors(ctx, k)
	if err != nil && !errors.Is(err, logsink.ErrNoSession) {
		return nil, err
	}
	s.Anchors = anchors
	rerr := p.Log.Records(ctx, k, 0, func(_ int64, r logsink.Record) bool {
		s.take(r)
		return true
	})
	if rerr != nil {
		return nil, rerr
	}
	// Replicas and sub-agents write at once.
	slices.SortStableFunc(s.Turns, func(a, b *Turn) int { return a.Request.Time.Compare(b.Request.Time) })
	if err != nil && len(s.Turns) == 0 && len(s.Headers) == 0 {
		return nil, err
	}
	return s, nil
}

func (s *story) take(r logsink.Record) {
	switch {
	case r.Header != nil:
		s.Headers = append(s.Headers, r.Header)
		s.headers[r.Header.ID] = r.Header
	case r.Request != nil:
		t := &Turn{Request: r.Request}
		s.latest[r.Request.ID] = t
		if s.Turns = append(s.Turns, t); len(s.Turns) >= 2*storyMost {
			s.Turns = append(s.Turns[:0], s.Turns[storyMost:]...)
			s.Cut = true
		}
	case r.Response != nil:
		if t := s.latest[r.Response.ID]; t != nil {
			t.Response = r.Response
		}
	}
}

// anchor returns that of an epoch, or nil.
func (s *story) anchor(epoch int) *logsink.Anchor {
	for _, a := range s.Anchors {
		if a.Epoch == epoch {
			return a
		}
	}
	return nil
}

// turn returns a request by its id, the last of its attempts, and its place.
func (s *story) turn(id string) (*Turn, int) {
	for i := len(s.Turns) - 1; i >= 0; i-- {
		if s.Turns[i].Request.ID == id {
			return s.Turns[i], i
		}
	}
	return nil, -1
}

// before returns the header of the same thread that was in force before h.
func (s *story) before(h *logsink.Header) *logsink.Header {
	var last *logsink.Header
	for _, o := range s.Headers {
		if o == h {
			return last
		}
		if o.Thread == h.Thread {
			last = o
		}
	}
	return nil
}

// threads are the session's, in the order in which they began.
func (s *story) threads() []string {
	var list []string
	seen := map[string]bool{}
	for _, t := range s.Turns {
		if name := t.Request.Thread; !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}
