package cache

import (
	"fmt"
	"math"
	"time"
)

// BlocksOptions say how long a cache of numbered blocks holds them.
type BlocksOptions struct {
	Lifetime time.Duration // from start to start of the requests that touch a block; 0 is for ever
	Capacity int64         // blocks; beyond it those touched longest ago go. 0 is unbounded
}

// Blocks is a strict prefix cache of numbered blocks: a block is read if it and
// all before it in the prompt were touched at most Lifetime ago. Numbers are
// dense: memory is 8 bytes (24 with a Capacity) for each up to the largest. It
// is for one goroutine.
type Blocks struct {
	lifetime time.Duration // immutable
	capacity int64         // immutable

	touched []time.Duration // by block number: the latest touch, or never
	order   recency         // of the blocks touched, if there is a capacity
}

const (
	never     = time.Duration(math.MinInt64)
	maxNumber = 1 << 32 // beyond it numbers are not dense, but hashes
)

// NewBlocks returns an empty cache.
func NewBlocks(o BlocksOptions) *Blocks {
	return &Blocks{lifetime: o.Lifetime, capacity: o.Capacity}
}

// Reset forgets all blocks, and keeps the memory for the next scope.
func (b *Blocks) Reset() {
	b.touched = b.touched[:0]
	b.order.reset()
}

// Read returns how many leading blocks of a prompt are warm at a time. It
// touches none.
func (b *Blocks) Read(runs []Run, at time.Duration) int64 {
	oldest := b.oldest(at)
	var warm int64
	for _, r := range runs {
		n := b.warm(r, oldest)
		warm += n
		if n < r.Count {
			break
		}
	}
	return warm
}

// oldest is the earliest touch that is still alive at a time.
func (b *Blocks) oldest(at time.Duration) time.Duration {
	if b.lifetime == 0 || at < never+1+b.lifetime {
		return never + 1
	}
	return at - b.lifetime
}

func (b *Blocks) warm(r Run, oldest time.Duration) int64 {
	known := int64(len(b.touched))
	if r.Start >= known {
		return 0
	}
	for i, t := range b.touched[r.Start:min(r.Start+r.Count, known)] {
		if t < oldest {
			return int64(i)
		}
	}
	return min(r.Count, known-r.Start)
}

// Touch reads or writes all blocks of a prompt at a time. Touches out of order
// shorten no block's life; what goes when Capacity is reached is decided by the
// order of calls, and within one by the place in the prompt: its end goes first,
// as in engines, since a block is of no use without those before it.
func (b *Blocks) Touch(runs []Run, at time.Duration) {
	for _, r := range runs {
		b.grow(r)
	}
	if b.capacity > 0 {
		b.touchInOrder(runs, at)
		return
	}
	for _, r := range runs {
		stretch := b.touched[r.Start : r.Start+r.Count]
		for i, t := range stretch {
			stretch[i] = max(t, at)
		}
	}
}

func (b *Blocks) grow(r Run) {
	if r.Start < 0 || r.Count < 0 || r.Start > maxNumber || r.Count > maxNumber {
		panic(fmt.Sprintf("BUG: run of %d blocks from number %d", r.Count, r.Start))
	}
	known, want := len(b.touched), int(r.Start+r.Count)
	if want <= known {
		return
	}
	if want > cap(b.touched) {
		b.touched = append(make([]time.Duration, 0, 2*want), b.touched...)
	}
	b.touched = b.touched[:want]
	for i := known; i < want; i++ {
		b.touched[i] = never
	}
}

func (b *Blocks) touchInOrder(runs []Run, at time.Duration) {
	b.order.grow(len(b.touched))
	for i := len(runs) - 1; i >= 0; i-- {
		for n := runs[i].Start + runs[i].Count - 1; n >= runs[i].Start; n-- {
			b.order.touch(n, b.touched[n] != never)
			b.touched[n] = max(b.touched[n], at)
			if b.order.held > b.capacity {
				b.touched[b.order.dropOldest()] = never
			}
		}
	}
}
