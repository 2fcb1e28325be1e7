package economics

import (
	"context"
	"errors"
	"io"

	"github.com/seed-9236c7ca/preface/bench/trace"
)

// A player plays a trace to scenes, scope by scope.
type player struct {
	scenes    []*scene
	subagents bool // count those that the trace has
	ages      ages
	prompt    prompt
	scopes    int64
	requests  int64
	overlaps  int64 // requests that began before the answer to the one before had ended
	beginning int64 // number of the block with which the scope's history begins
	ends      int64 // of the answer before, in the scope's time
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
	return nil
}

func (pl *player) beginScope() {
	pl.ages.reset()
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
	p.turn = r.Trigger == "" || r.Trigger == "user"
	if p.seq == 0 {
		p.begun, pl.ends = true, 0
		pl.beginning = blockAfter(r, p.head)
	}
	pl.followBeginning(r)
	if int64(r.At) < pl.ends {
		pl.overlaps++
	}
	pl.ends = int64(r.At + r.Took)
}

// followBeginning finds out whether a request still has the beginning of its
// session's history. A block's number changes with any text before it, so another
// number alone means that the system prompt changed; if the prompt is also less
// than half as long, its history was replaced.
func (pl *player) followBeginning(r *trace.Request) {
	p := &pl.prompt
	switch now := blockAfter(r, p.head); {
	case r.Tools+r.System == 0, now == pl.beginning:
		p.begun = true
	case p.begun && 2*r.Input >= p.lastIn:
		pl.beginning = now
	default:
		p.begun = false
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
