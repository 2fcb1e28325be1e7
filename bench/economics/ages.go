package economics

import (
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// ages knows when each block of a scope was last touched: by which of the
// scope's requests, which tells the time too. From it one look at a prompt gives
// what any lifetime would read of it ([cache.Blocks] says the same for one
// lifetime; a test holds them together).
type ages struct {
	last  []int32         // by block number: 1 + the request that touched it last; 0 is never
	times []time.Duration // start of each request of the scope
}

// A step says that a prompt's first tokens were all touched by the request
// oldest or a later one.
type step struct {
	tokens int64
	oldest int32
}

func (a *ages) reset() {
	clear(a.last)
	a.last, a.times = a.last[:0], a.times[:0]
}

// profile appends to steps what of a prompt was touched, with growing tokens and
// falling oldest.
func (a *ages) profile(r *trace.Request, steps []step) []step {
	var blocks int64
	cur := step{oldest: 1 << 30}
	for _, run := range r.Runs {
		known := a.known(run)
		for i, last := range known {
			if last >= cur.oldest {
				continue
			}
			cur.tokens = min((blocks+int64(i))*r.Block, r.Input)
			steps = appendStep(steps, cur)
			cur.oldest = last
			if last == 0 {
				return fromZero(steps)
			}
		}
		blocks += int64(len(known))
		if int64(len(known)) < run.Count {
			break
		}
	}
	cur.tokens = min(blocks*r.Block, r.Input)
	return fromZero(appendStep(steps, cur))
}

func appendStep(steps []step, s step) []step {
	if s.tokens == 0 {
		return steps
	}
	return append(steps, s)
}

// fromZero turns numbers that begin with 1 into requests.
func fromZero(steps []step) []step {
	for i := range steps {
		steps[i].oldest--
	}
	return steps
}

// known is the part of a run whose numbers were seen at some time.
func (a *ages) known(run cache.Run) []int32 {
	n := int64(len(a.last))
	return a.last[min(run.Start, n):min(run.Start+run.Count, n)]
}

// touch notes the scope's next request.
func (a *ages) touch(r *trace.Request) {
	a.times = append(a.times, r.At)
	now := int32(len(a.times))
	for _, run := range r.Runs {
		a.grow(int(run.Start + run.Count))
		stretch := a.last[run.Start : run.Start+run.Count]
		for i := range stretch {
			stretch[i] = now
		}
	}
}

func (a *ages) grow(n int) {
	if n <= len(a.last) {
		return
	}
	if n > cap(a.last) {
		a.last = append(make([]int32, 0, 2*n), a.last...)
	}
	a.last = a.last[:n]
}

// lastOf is the request that last touched the block before a place in a prompt,
// counted in tokens; the latest request of all where no whole block lies before
// it, -1 if none did.
func (a *ages) lastOf(r *trace.Request, place int64) int32 {
	at := place/r.Block - 1
	if at < 0 {
		return int32(len(a.times)) - 1
	}
	for _, run := range r.Runs {
		if at >= run.Count {
			at -= run.Count
			continue
		}
		if n := run.Start + at; n < int64(len(a.last)) {
			return a.last[n] - 1
		}
		break
	}
	return -1
}

// A horizon finds the first request whose touches are alive, for one lifetime.
type horizon struct {
	lifetime time.Duration // 0 is for ever
	first    int32
}

func (h *horizon) move(times []time.Duration, now time.Duration) int32 {
	if h.lifetime == 0 {
		return 0
	}
	for int(h.first) < len(times) && now-times[h.first] > h.lifetime {
		h.first++
	}
	return h.first
}

// warm is how many of a prompt's tokens were touched by a request or later ones.
func warm(steps []step, since int32) int64 {
	var tokens int64
	for _, s := range steps {
		if s.oldest < since {
			break
		}
		tokens = s.tokens
	}
	return tokens
}
