package trace

import (
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// rounds read TraceLab's rounds: one call of a model a line, the rounds of a
// session behind each other, with the provider's own counts and no block ids.
//
// What a round shares with the one before is taken to be all of that, since
// agents append; only where the prompt got shorter is it what the provider read.
// A block is a token. Source: the README of uw-syfi/TraceLab.
type rounds struct {
	session string
	start   time.Time // of the session
	last    time.Duration
	input   int64 // of the round before
	runs    []cache.Run
	fresh   int64 // the first number that is not used
}

// A round is one line.
type round struct {
	Session  string `json:"session_id"`
	Model    string `json:"model"`
	Input    int64  `json:"input_tokens_total"`
	Shared   int64  `json:"prefix_tokens"`
	Appended int64  `json:"newly_append_tokens"`
	Written  *int64 `json:"claude_cache_creation_input_tokens"`
	Output   int64  `json:"output_tokens"`
	First    string `json:"first_input_event_type"`
	Events   []struct {
		At time.Time `json:"timestamp"`
	} `json:"timing_events"`
}

func (s *rounds) next(l *lines) ([]Request, error) {
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	var r round
	if err := l.decode(line, &r); err != nil {
		return nil, err
	}
	switch {
	case r.Session == "":
		return nil, l.fault("a round without session_id")
	case len(r.Events) == 0:
		return nil, l.fault("a round without timing_events, so that nobody knows when it was")
	case r.Input < 0 || r.Shared < 0 || r.Shared+r.Appended != r.Input:
		return nil, l.fault("prefix_tokens %d and newly_append_tokens %d are not input_tokens_total %d", r.Shared, r.Appended, r.Input)
	}
	q := s.request(&r)
	if q.At < s.last {
		return nil, l.fault("times out of order: %v after %v", q.At, s.last)
	}
	s.last = q.At
	if why := q.check(q.Input); why != "" {
		return nil, l.fault("%s", why)
	}
	return []Request{q}, nil
}

func (s *rounds) request(r *round) Request {
	first := r.Session != s.session
	if first {
		*s = rounds{session: r.Session, start: r.Events[0].At}
	}
	s.follow(r)
	q := Request{
		Scope: r.Session, First: first, At: r.Events[0].At.Sub(s.start), Took: max(0, r.Events[len(r.Events)-1].At.Sub(r.Events[0].At)),
		Input: r.Input, Output: r.Output, Block: 1, Runs: s.runs, Model: r.Model,
		Reported: true, CacheRead: r.Shared,
	}
	if r.Written != nil {
		q.CacheWrite = *r.Written
	}
	switch r.First {
	case "user_message":
		q.Trigger = "user"
	case "tool_result":
		q.Trigger = "tool_result"
	}
	return q
}

// follow makes the round's blocks of those of the one before.
func (s *rounds) follow(r *round) {
	keep := s.input
	if r.Input < s.input {
		keep = min(r.Shared, s.input)
	}
	s.runs = begin(s.runs, min(keep, r.Input))
	if more := r.Input - min(keep, r.Input); more > 0 {
		s.runs = add(s.runs, cache.Run{Start: s.fresh, Count: more})
		s.fresh += more
	}
	s.input = r.Input
}
