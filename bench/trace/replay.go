package trace

import (
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/logsink"
)

// A replay makes a trace of one session of a header log.
//
// The log knows which requests are of one thread, when its header (tools, system
// prompt, parameters) changed, and how many messages each had, but not which
// tokens they share. So a prompt is taken to begin like the one before it in its
// thread if the header is the same: as far as that went if it has as many
// messages or more, and as far as the header and the opener if it has fewer (it was compacted).
// Threads that have the same tools and system prompt share those. A block is a
// token; tokens of a part are its share of the body's bytes.
//
// Sizes are those of what was sent: an opener that Preface inserted is in them.
// Where the provider reported no usage, four bytes are taken for a token.
type replay struct {
	key     logsink.Key
	headers map[string]*logsink.Header
	answers map[string]*logsink.Response
	asked   []*logsink.Request
	heads   map[string]cache.Run // by tools and system prompt
	threads map[string]*replayed
	fresh   int64 // the first number that is not used
}

// replayed is a thread as its latest request left it.
type replayed struct {
	header   string
	messages int
	input    int64
	runs     []cache.Run
}

func newReplay(k logsink.Key) *replay {
	return &replay{
		key: k, headers: map[string]*logsink.Header{}, answers: map[string]*logsink.Response{},
		heads: map[string]cache.Run{}, threads: map[string]*replayed{},
	}
}

// record takes in a record, in whatever order they come.
func (s *replay) record(r logsink.Record) {
	switch {
	case r.Header != nil:
		s.headers[r.Header.ID] = r.Header
	case r.Response != nil && r.Response.Status/100 == 2:
		s.answers[r.Response.ID] = r.Response
	case r.Request != nil && r.Request.Class != "count": // counting tokens is no call of a model
		s.asked = append(s.asked, r.Request)
	}
}

// requests are those that were answered, in the order in which they were sent.
func (s *replay) requests() []Request {
	slices.SortStableFunc(s.asked, func(a, b *logsink.Request) int { return a.Time.Compare(b.Time) })
	var list []Request
	var start time.Time
	for _, r := range s.asked {
		a := s.answers[r.ID]
		if a == nil {
			continue // no answer, or an error: nothing stays in a cache
		}
		if list == nil {
			start = r.Time
		}
		q := s.request(r, a)
		q.At, q.First = r.Time.Sub(start), list == nil
		list = append(list, q)
	}
	return list
}

func (s *replay) request(r *logsink.Request, a *logsink.Response) Request {
	q := Request{Scope: s.key.Tenant + "/" + s.key.Session, Took: max(0, a.Total), Block: 1, Model: r.Model}
	if a.Model != "" {
		q.Model = a.Model
	}
	q.readUsage(a.FirstUsage())
	if q.Input == 0 {
		q.Input = int64(r.Size) / 4
	}
	q.Input = min(q.Input, longestPrompt)
	var parts string
	q.Tools, q.System, parts = s.header(r, q.Input)
	q.Runs = s.follow(r, &q, parts)
	return q
}

// readUsage takes over what the provider counted.
func (q *Request) readUsage(u *logsink.Usage) {
	if u == nil {
		return
	}
	for _, n := range []*int64{u.Fresh, u.Unsplit, u.CacheRead, u.Write5m, u.Write1h, u.Write30m, u.WriteOther} {
		q.Input += counted(n)
	}
	q.Output = counted(u.Output)
	q.Reported = u.CacheRead != nil
	q.CacheRead = counted(u.CacheRead)
	q.CacheWrite = counted(u.Write5m) + counted(u.Write1h) + counted(u.Write30m) + counted(u.WriteOther)
}

// counted is a count that can be true, else 0.
func counted(n *int64) int64 {
	if n == nil || *n < 0 || *n > longestPrompt {
		return 0
	}
	return *n
}

// header estimates the tokens of tools and system prompt, and names what they are.
func (s *replay) header(r *logsink.Request, input int64) (tools, system int64, parts string) {
	h := s.headers[r.Header]
	if h == nil || r.Size == 0 {
		return 0, 0, ""
	}
	var name strings.Builder
	for _, p := range h.Parts {
		tokens := input * min(int64(p.Size), int64(r.Size)) / int64(r.Size)
		switch p.Name {
		case "tools":
			tools = tokens
		case "system":
			system = tokens
		default:
			continue // parameters are no part of a prompt
		}
		name.WriteString(p.Name + p.Digest.String())
	}
	system = min(system, input-tools)
	return tools, system, name.String()
}

// follow gives the prompt its blocks.
func (s *replay) follow(r *logsink.Request, q *Request, parts string) []cache.Run {
	id := r.Thread + "\x00" + r.Class
	was := s.threads[id]
	head := q.Tools + q.System + opener(r, q.Input)
	var runs []cache.Run
	switch {
	case was != nil && was.header == r.Header && r.Messages >= was.messages:
		runs = begin(was.runs, min(was.input, q.Input))
	case was != nil && was.header == r.Header:
		runs = begin(was.runs, min(head, q.Input))
	default:
		runs = s.shared(parts, q)
	}
	if more := q.Input - count(runs); more > 0 {
		runs = add(runs, cache.Run{Start: s.fresh, Count: more})
		s.fresh += more
	}
	s.threads[id] = &replayed{r.Header, r.Messages, q.Input, runs}
	return runs
}

// shared are the blocks of tools and system prompt, which all prompts have that
// have the same.
func (s *replay) shared(parts string, q *Request) []cache.Run {
	n := q.Tools + q.System
	if parts == "" || n == 0 {
		return nil
	}
	run, known := s.heads[parts]
	if !known {
		run = cache.Run{Start: s.fresh, Count: n}
		s.fresh += n
		s.heads[parts] = run
	}
	return []cache.Run{{Start: run.Start, Count: min(run.Count, q.Input)}}
}

// opener estimates the tokens of what Preface inserted.
func opener(r *logsink.Request, input int64) (tokens int64) {
	for _, s := range r.Splices {
		if s.Kind == "prefix" && r.Size > 0 {
			tokens += input * min(int64(s.Length), int64(r.Size)) / int64(r.Size)
		}
	}
	return tokens
}
