package economics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

const (
	blockSize    = 10
	toolBlocks   = 3
	systemBlocks = 2
	openerBlocks = 2
)

// A conversation draws requests whose blocks are numbered by their text and all
// before it, as traces do.
type conversation struct {
	numbers map[string]int64
	text    []string // of the latest prompt, block by block
	past    [][]string
	at      time.Duration
	words   int
}

func newConversation() *conversation {
	c := &conversation{numbers: map[string]int64{}}
	for i := range toolBlocks + systemBlocks {
		c.text = append(c.text, fmt.Sprint("head", i))
	}
	return c
}

// next draws a request: mostly the one before and something more, sometimes with
// its end, its history or its system prompt replaced, or one behind an earlier one.
func (c *conversation) next(t *rapid.T) trace.Request {
	const head = toolBlocks + systemBlocks
	switch rapid.IntRange(0, 12).Draw(t, "turn") {
	case 0:
		c.text = c.text[:rapid.IntRange(head, len(c.text)).Draw(t, "rewind")]
	case 1:
		c.text = c.text[:head]
	case 2:
		c.words++
		c.text = append([]string(nil), c.text...)
		c.text[head-1] = fmt.Sprint("system", c.words%2)
	}
	if len(c.past) > 0 && rapid.IntRange(0, 5).Draw(t, "back") == 0 {
		c.text = rapid.SampledFrom(c.past).Draw(t, "to")
	}
	c.text = append([]string(nil), c.text...)
	for range rapid.IntRange(1, 4).Draw(t, "new") {
		c.words++
		c.text = append(c.text, fmt.Sprint("w", c.words))
	}
	c.past = append(c.past, c.text)
	c.at += time.Duration(rapid.IntRange(0, 7).Draw(t, "gap")) * time.Minute
	r := trace.Request{
		At: c.at, Input: int64(len(c.text)) * blockSize, Output: 1, Block: blockSize,
		Tools: toolBlocks * blockSize, System: systemBlocks * blockSize, Trigger: rapid.SampledFrom([]string{"user", "tool_result"}).Draw(t, "trigger"),
	}
	for i := range c.text {
		key := strings.Join(c.text[:i+1], " ")
		n, ok := c.numbers[key]
		if !ok {
			n = int64(len(c.numbers))
			c.numbers[key] = n
		}
		r.Runs = append(r.Runs, cache.Run{Start: n, Count: 1})
	}
	return r
}

// An oracle is a prefix cache of texts, in as few words as possible.
type oracle struct {
	touched  map[string]time.Duration
	lifetime time.Duration
}

func (o *oracle) read(blocks []string, at time.Duration) (warm int64) {
	for i := range blocks {
		last, ok := o.touched[strings.Join(blocks[:i+1], " ")]
		if !ok || o.lifetime > 0 && at-last > o.lifetime {
			break
		}
		warm++
	}
	for i := range blocks {
		o.touched[strings.Join(blocks[:i+1], " ")] = at
	}
	return warm * blockSize
}

// insert puts an opener into a prompt, as the strategy says.
func insert(c *cell, s *scene, r *trace.Request, opener int64) []string {
	at := map[place]int{beforeSystem: toolBlocks, inSystem: toolBlocks + systemBlocks, beforeHistory: toolBlocks + systemBlocks, atHead: toolBlocks + systemBlocks, atTail: len(r.Runs)}[c.strategy.place]
	var out []string
	put := func() {
		for i := range opener / blockSize {
			out = append(out, fmt.Sprint("opener", s.lanes[c.strategy.composes].text, "/", i))
		}
	}
	for i, run := range r.Runs {
		if i == at {
			put()
		}
		name := fmt.Sprint(run.Start)
		if i >= toolBlocks+systemBlocks {
			name = fmt.Sprint(s.history, "h", run.Start)
		}
		out = append(out, name)
	}
	if at == len(r.Runs) {
		put()
	}
	return out
}

func drawPlan(t *rapid.T) plan {
	p := plan{
		change:  rapid.SampledFrom(changes).Draw(t, "change"),
		resumes: rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "resumes"), forks: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "forks"),
		compactions: rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "compactions"),
		signed:      rapid.Bool().Draw(t, "signed"), stretch: 1, shared: 1, burst: 1, seed: rapid.Uint64().Draw(t, "seed"), marks: MarksIdeal,
	}
	return p
}

// TestInvariant3_ReadsWhatTheCacheSays: one look at the ages of blocks gives
// what a cache of the whole text, with the opener in it, reads, for each strategy
// and lifetime and whatever happens to the session.
func TestInvariant3_ReadsWhatTheCacheSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &scene{plan: drawPlan(t)}
		var oracles []*oracle
		for _, lifetime := range []time.Duration{0, 5 * time.Minute, 12 * time.Minute} {
			x := &tier{lifetime: lifetime, rules: cache.Rules{Step: 1}}
			for _, g := range strategies {
				s.add(g, x, openerBlocks*blockSize)
				oracles = append(oracles, &oracle{map[string]time.Duration{}, lifetime})
			}
		}
		pl := player{scenes: []*scene{s}}
		pl.beginScope()
		conv := newConversation()
		for n := range rapid.IntRange(1, 25).Draw(t, "requests") {
			r := conv.next(t)
			before := make([]int64, len(s.cells))
			for i, c := range s.cells {
				before[i] = c.sums.all().read
			}
			pl.prompt.Request = &r
			pl.request(&r)
			for i, c := range s.cells {
				if c.strategy.uncached {
					continue
				}
				want := oracles[i].read(insert(c, s, &r, c.given(&pl.prompt, s)), r.At)
				if got := c.sums.all().read - before[i]; got != want {
					t.Fatalf("request %d of %s at lifetime %v reads %d, want %d (plan %+v)", n, c.strategy.name, c.tier.lifetime, got, want, s.plan)
				}
			}
		}
	})
}

// TestAgesLikeBlocks holds the profile to the cache package's own blocks.
func TestAgesLikeBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := horizon{lifetime: time.Duration(rapid.IntRange(0, 15).Draw(t, "lifetime")) * time.Minute}
		blocks := cache.NewBlocks(cache.BlocksOptions{Lifetime: h.lifetime})
		var a ages
		conv := newConversation()
		for range rapid.IntRange(1, 30).Draw(t, "requests") {
			r := conv.next(t)
			steps := a.profile(&r, nil)
			got, want := warm(steps, h.move(a.times, r.At)), blocks.Read(r.Runs, r.At)*blockSize
			if got != want {
				t.Fatalf("at %v ages say %d, Blocks %d", r.At, got, want)
			}
			a.touch(&r)
			blocks.Touch(r.Runs, r.At)
		}
	})
}
