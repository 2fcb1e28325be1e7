package telemetry

import (
	"iter"
	"slices"
	"time"
)

// chunkBounds is how many bounds the conventions' histogram of chunks has: those
// of durations up to 81.92 s.
const chunkBounds = 14

// Chunks counts the times between a stream's chunks. A stream can have very many,
// so they are kept as a histogram is: by bucket.
type Chunks struct {
	n   [chunkBounds + 1]uint32
	sum [chunkBounds + 1]time.Duration
}

// Add counts one.
func (c *Chunks) Add(took time.Duration) {
	i, _ := slices.BinarySearch(durationBuckets[:chunkBounds], took.Seconds()) // a bound is of the bucket below
	c.n[i]++
	c.sum[i] += took
}

// all are as many times as were counted, each the mean of those of its bucket: a
// histogram of them has the same counts and the same sum.
func (c *Chunks) all() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for i, n := range c.n {
			for range n {
				if !yield(c.sum[i] / time.Duration(n)) {
					return
				}
			}
		}
	}
}
