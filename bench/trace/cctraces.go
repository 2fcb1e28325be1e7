package trace

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// sessions read cc_traces: one session of Claude Code a line, with requests as
// arrays whose blocks are those that they keep of the one before, and runs.
// Subagents are objects among them, with times and lists of their own.
type sessions struct{}

// A session is one line; a subagent is one too.
type session struct {
	ID      string            `json:"id"`
	Block   int64             `json:"block_size"`
	Scope   string            `json:"hash_id_scope"`
	Tools   int64             `json:"tool_tokens"`
	System  int64             `json:"system_tokens"`
	Start   float64           `json:"t"` // of a subagent, in its session
	List    []json.RawMessage `json:"requests"`
	nesting int
}

func (*sessions) next(l *lines) ([]Request, error) {
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	var s session
	if err := l.decode(line, &s); err != nil {
		return nil, err
	}
	if s.Scope != "local" {
		return nil, l.fault("hash_id_scope is %q; only block ids of one session are known here", s.Scope)
	}
	list, err := s.requests(l, nil)
	if err != nil {
		return nil, err
	}
	// Subagents run beside their session: what was sent first comes first.
	slices.SortStableFunc(list, func(a, b Request) int { return int(max(-1, min(1, a.At-b.At))) })
	if len(list) > 0 {
		list[0].First = true
	}
	return list, nil
}

// requests appends the session's requests and those of its subagents.
func (s *session) requests(l *lines, to []Request) ([]Request, error) {
	var before []cache.Run
	last := time.Duration(0)
	for i, raw := range s.List {
		if raw[0] == '{' {
			var err error
			if to, err = s.subagent(l, raw, to); err != nil {
				return nil, err
			}
			continue
		}
		q, err := s.request(l, raw, before)
		if err != nil {
			return nil, err
		}
		if q.At < last {
			return nil, l.fault("times out of order: request %d of %q is at %v, after %v", i+1, s.ID, q.At, last)
		}
		last, before = q.At, q.Runs
		to = append(to, q)
	}
	return to, nil
}

// mostNesting bounds subagents of subagents.
const mostNesting = 8

func (s *session) subagent(l *lines, raw []byte, to []Request) ([]Request, error) {
	var w struct {
		Sub *session `json:"sub"`
	}
	if err := l.decode(raw, &w); err != nil {
		return nil, err
	}
	if w.Sub == nil || s.nesting == mostNesting {
		return nil, l.fault("an object among the requests of %q that is no subagent", s.ID)
	}
	w.Sub.ID, w.Sub.Block, w.Sub.nesting = s.ID, s.Block, s.nesting+1
	w.Sub.Start += s.Start
	return w.Sub.requests(l, to)
}

// request reads one array.
func (s *session) request(l *lines, raw []byte, before []cache.Run) (Request, error) {
	var (
		at, took, thought  float64
		input, output      int64
		keep               int64
		runs               [][2]int64
		model, stop, types string
	)
	members := []any{&at, &input, &output, &keep, &runs, &took, &thought, &model, &stop, &types}
	want := len(members)
	if err := json.Unmarshal(raw, &members); err != nil || len(members) != want {
		return Request{}, l.fault("a request of %q is not the array of %d members that it must be", s.ID, want)
	}
	if keep < 0 || keep > count(before) {
		return Request{}, l.fault("a request of %q keeps %d blocks of the one before, which has %d", s.ID, keep, count(before))
	}
	q := Request{
		Scope: s.ID, Sub: s.nesting > 0, At: span(s.Start+at, time.Second), Took: span(took, time.Second),
		Input: input, Output: output, Block: s.Block, Runs: begin(before, keep),
		Tools: s.Tools, System: s.System, Model: model, Trigger: trigger(types),
	}
	for _, r := range runs {
		q.Runs = add(q.Runs, cache.Run{Start: r[0], Count: r[1]})
	}
	if why := q.check(input / max(1, s.Block)); why != "" {
		return Request{}, l.fault("a request of %q: %s", s.ID, why)
	}
	return q, nil
}

// trigger says what a request answers, from what its last message holds.
func trigger(types string) string {
	switch types {
	case "":
		return ""
	case "tool_result":
		return "tool_result"
	}
	return "user"
}
