package trace

import (
	"fmt"
	"slices"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// count is how many blocks runs have.
func count(runs []cache.Run) (n int64) {
	for _, r := range runs {
		n += r.Count
	}
	return n
}

// begin returns the first n blocks of runs, as runs of its own.
func begin(runs []cache.Run, n int64) []cache.Run {
	var out []cache.Run
	for _, r := range runs {
		if n <= 0 {
			break
		}
		r.Count = min(r.Count, n)
		n -= r.Count
		out = append(out, r)
	}
	return out
}

// add appends a run, to the last one if it goes on there.
func add(runs []cache.Run, r cache.Run) []cache.Run {
	if last := len(runs) - 1; last >= 0 && runs[last].Start+runs[last].Count == r.Start {
		runs[last].Count += r.Count
		return runs
	}
	return append(runs, r)
}

// runsOf packs numbers.
func runsOf(ids []int64) []cache.Run {
	var runs []cache.Run
	for _, id := range ids {
		runs = add(runs, cache.Run{Start: id, Count: 1})
	}
	return runs
}

const (
	longestPrompt = 1 << 30 // what is believed of a prompt, in tokens and in blocks
	mostBlocks    = 1 << 28 // caches keep something for each number up to the largest
)

// check says what is wrong with a request that must have a number of blocks, or
// "". Blocks are numbered as they are first seen, and a block stands behind one
// beginning only: so numbers grow within a prompt.
func (q *Request) check(blocks int64) string {
	switch {
	case q.Block <= 0 || q.Block > 1<<20:
		return "the block size is no number of tokens from 1 to 1,048,576"
	case q.Input < 0 || q.Output < 0 || q.Input > longestPrompt || q.Output > longestPrompt:
		return "a number of tokens is negative or beyond belief"
	case q.Tools < 0 || q.System < 0:
		return "tools or system prompt of less than no tokens"
	case q.At < 0 || q.Took < 0:
		return "a time before the beginning"
	}
	if !slices.IsSortedFunc(q.Runs, byStart) || overlap(q.Runs) {
		return "block ids go backwards in a prompt"
	}
	if last := len(q.Runs) - 1; last >= 0 && q.Runs[last].Start > mostBlocks-q.Runs[last].Count {
		return fmt.Sprintf("a block has a number beyond %d: numbers must be dense", int64(mostBlocks))
	}
	if n := count(q.Runs); n != blocks {
		return fmt.Sprintf("%d tokens are %d blocks of %d, and it has %d: is the block size another one?", q.Input, blocks, q.Block, n)
	}
	return ""
}

func byStart(a, b cache.Run) int {
	switch {
	case a.Start < b.Start:
		return -1
	case a.Start > b.Start:
		return 1
	}
	return 0
}

func overlap(runs []cache.Run) bool {
	for i, r := range runs {
		if r.Start < 0 || r.Count <= 0 || r.Count > longestPrompt || i > 0 && runs[i-1].Start+runs[i-1].Count > r.Start {
			return true
		}
	}
	return false
}
