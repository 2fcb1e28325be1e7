package economics

import "github.com/seed-9236c7ca/preface/bench/cache"

// An engine is a self-hosted engine's cache of a given size, with openers in it:
// of all blocks those go first that were used longest ago. What it holds depends
// on all that was ever put in, openers and histories behind them included, so that
// each cell has its own.
type engine struct {
	capacity int64 // tokens
	blocks   *cache.Blocks
	numbers  map[blockKey]int64
	runs     []cache.Run // of the prompt at hand, by our numbers
}

// A blockKey names a block by its text and all that stands before it.
type blockKey struct {
	number  int64 // of the trace's block, or the one before the opener
	part    int32 // of the opener, from 1 on; 0 is a block of the trace
	version int32 // of the opener that it is of, or that stands before it; 0 is none
	history int32 // request at which the history that it stands in was replaced
}

func newEngine(capacity int64) *engine { return &engine{capacity: capacity} }

// forget empties it for another scope.
func (e *engine) forget() { e.blocks, e.numbers = nil, nil }

// read puts a prompt in, and returns how many of its leading tokens were there. An
// opener takes whole blocks.
func (e *engine) read(c *cell, p *prompt, s *scene, opener int64) int64 {
	if e.blocks == nil {
		e.blocks = cache.NewBlocks(cache.BlocksOptions{Capacity: max(1, e.capacity/p.Block)})
		e.numbers = map[blockKey]int64{}
	}
	at, of := c.place(p)/p.Block, (opener+p.Block-1)/p.Block
	e.lay(c, p, s, at, of)
	warm := e.blocks.Read(e.runs, 0)
	e.blocks.Touch(e.runs, 0)
	if warm >= at+of {
		return min((warm-of)*p.Block, p.Input) + opener
	}
	return min(min(warm, at)*p.Block, p.Input) + min(max(warm-at, 0)*p.Block, opener)
}

// lay numbers the blocks of a prompt with an opener of some blocks in it, behind
// so many of the trace's.
func (e *engine) lay(c *cell, p *prompt, s *scene, at, opener int64) {
	e.runs = e.runs[:0]
	version := 1 + s.lanes[c.strategy.composes].since
	head := p.head / p.Block
	key := blockKey{number: -1}
	var i int64
	put := func() {
		if i != at || opener == 0 {
			return
		}
		key.version = version
		for part := range opener {
			key.part = int32(part) + 1
			e.add(key)
		}
		key.part = 0
	}
	for _, run := range p.Runs {
		for n := run.Start; n < run.Start+run.Count; n++ {
			put()
			if i >= head {
				key.history = s.history
			}
			key.number = n
			e.add(key)
			i++
		}
	}
	put()
}

func (e *engine) add(key blockKey) {
	n, known := e.numbers[key]
	if !known {
		n = int64(len(e.numbers))
		e.numbers[key] = n
	}
	if last := len(e.runs) - 1; last >= 0 && e.runs[last].Start+e.runs[last].Count == n {
		e.runs[last].Count++
		return
	}
	e.runs = append(e.runs, cache.Run{Start: n, Count: 1})
}
