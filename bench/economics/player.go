package economics

import (
	"context"
	"errors"
	"io"

	"github.com/seed-9236c7ca/preface/bench/trace"
)

// A player plays a trace to scenes, scope by scope.
type player struct {
	scenes     []*scene
	subagents  bool // count those that the trace has
	ages       ages
	paths      paths
	prompt     prompt
	scopes     int64
	requests   int64
	overlaps   int64           // requests that began before the answer to the one before had ended
	beginnings map[int64]bool  // first blocks of histories, and whether they have what the scope began with
	heads      map[int64]int32 // last blocks of system prompts, and the last begun request that had it
	ends       int64           // of the answer before, in the scope's time
}

// progressEvery is how often progress is told and cancellation looked for.
const progressEvery = 256

// play plays requests until next says io.EOF.
func (pl *player) play(ctx context.Context, next func(*trace.Request) error, progress func(requests int64)) error {
	var r trace.Request
	pl.prompt.Request = &r
	for {
		if err := next(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if r.First {
			pl.endScope()
			pl.beginScope()
		}
		if r.Sub && !pl.subagents {
			continue
		}
		pl.request(&r)
		if pl.requests%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(pl.requests)
		}
	}
	pl.endScope()
	progress(pl.requests)
	return nil
}

// knowsSessions reports whether the trace tells sessions apart: if all of it is
// one scope, its beginning is not that of a session.
func (pl *player) knowsSessions() bool { return pl.scopes > 1 }

func (pl *player) beginScope() {
	pl.ages.reset()
	pl.paths.reset()
	pl.beginnings, pl.heads, pl.ends = map[int64]bool{}, map[int64]int32{}, 0
	pl.prompt.seq, pl.prompt.scope = 0, uint64(pl.scopes)
	pl.scopes++
}

func (pl *player) endScope() {
	if pl.prompt.seq == 0 {
		return
	}
	for _, s := range pl.scenes {
		for _, c := range s.cells {
			c.endScope(s, &pl.prompt)
		}
	}
}

// request plays one request. The first of a scope that is played need not be the
// first that it has.
func (pl *player) request(r *trace.Request) {
	p := &pl.prompt
	pl.look(r)
	for _, s := range pl.scenes {
		if p.seq == 0 {
			s.begin(p)
		}
		s.play(p, &pl.ages)
	}
	pl.ages.touch(r)
	pl.paths.add(r)
	p.seq++
	p.lastAt, p.lastIn = r.At, r.Input
	pl.requests++
}

// look finds what all cells want to know about a request.
func (pl *player) look(r *trace.Request) {
	p := &pl.prompt
	p.head = min(r.Tools+r.System, r.Input)
	p.steps = pl.ages.profile(r, p.steps[:0])
	p.toolsEnd, p.headEnd = pl.ages.lastOf(r, r.Tools), pl.ages.lastOf(r, p.head)
	p.path = pl.paths.on(r, p.path)
	p.turn = r.Trigger == "" || r.Trigger == "user"
	pl.followBeginning(r)
	pl.followHead(r)
	if int64(r.At) < pl.ends {
		pl.overlaps++
	}
	pl.ends = int64(r.At + r.Took)
}

// followBeginning finds out whether a request still has the beginning of its
// session's history. A block's number changes with any text before it, so another
// number alone means that the system prompt changed; if the prompt is also less
// than half as long, or behind one that has lost it, its history was replaced.
func (pl *player) followBeginning(r *trace.Request) {
	p := &pl.prompt
	now := blockAfter(r, p.head)
	begun, known := pl.beginnings[now]
	if !known {
		begun = p.seq == 0 || r.Tools+r.System == 0 || p.begun && 2*r.Input >= p.lastIn
		pl.beginnings[now] = begun
	}
	p.begun = begun
}

// followHead finds the request before that had this one's tools and system, and
// the beginning of the session's history behind them.
func (pl *player) followHead(r *trace.Request) {
	p := &pl.prompt
	if p.begunAt = p.headEnd; r.Tools+r.System == 0 {
		return
	}
	head := numberAt(r, p.head/r.Block-1)
	last, known := pl.heads[head]
	if !known {
		last = -1
	}
	p.begunAt = last
	if p.begun {
		pl.heads[head] = p.seq
	}
}

// blockAfter is the number of the first block that lies wholly behind a place,
// -1 if there is none.
func blockAfter(r *trace.Request, place int64) int64 {
	at := (place + r.Block - 1) / r.Block
	for _, run := range r.Runs {
		if at < run.Count {
			return run.Start + at
		}
		at -= run.Count
	}
	return -1
}
