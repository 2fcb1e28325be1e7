package cache

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBlocks(t *testing.T) {
	b := NewBlocks(BlocksOptions{Lifetime: 5 * time.Minute})
	read := func(want int64, at time.Duration, runs ...Run) {
		t.Helper()
		if got := b.Read(runs, at); got != want {
			t.Errorf("Read(%v, %v) = %d, want %d", runs, at, got, want)
		}
	}
	read(0, 0, Run{0, 10})
	b.Touch([]Run{{0, 10}}, 0)
	read(10, 5*time.Minute, Run{0, 10})
	read(0, 5*time.Minute+1, Run{0, 10})
	read(10, 0, Run{0, 10}, Run{20, 4})
	read(0, 0, Run{20, 4}, Run{0, 10})

	// A longer prompt keeps the shared beginning alive, and no more.
	b.Touch([]Run{{0, 4}, {20, 4}}, 3*time.Minute)
	read(4, 6*time.Minute, Run{0, 10})
	read(8, 6*time.Minute, Run{0, 4}, Run{20, 8})

	// A touch out of order shortens no life.
	b.Touch([]Run{{0, 4}}, time.Minute)
	read(4, 8*time.Minute, Run{0, 10})

	b.Reset()
	read(0, 3*time.Minute, Run{0, 10})
}

func TestBlocksWithoutLifetime(t *testing.T) {
	b := NewBlocks(BlocksOptions{})
	b.Touch([]Run{{0, 3}}, 0)
	if got := b.Read([]Run{{0, 3}}, 1000*time.Hour); got != 3 {
		t.Errorf("Read after 1000 h = %d, want 3", got)
	}
}

// TestBlocksCapacity: the end of the prompt that was touched longest ago goes
// first, and a prompt longer than the cache leaves its beginning.
func TestBlocksCapacity(t *testing.T) {
	b := NewBlocks(BlocksOptions{Capacity: 6})
	b.Touch([]Run{{0, 4}}, 0)
	b.Touch([]Run{{10, 4}}, 1)
	if got := b.Read([]Run{{0, 4}}, 1); got != 2 {
		t.Errorf("first prompt: Read = %d, want 2", got)
	}
	if got := b.Read([]Run{{10, 4}}, 1); got != 4 {
		t.Errorf("second prompt: Read = %d, want 4", got)
	}
	b.Touch([]Run{{20, 9}}, 2)
	if got := b.Read([]Run{{20, 9}}, 2); got != 6 {
		t.Errorf("long prompt: Read = %d, want 6", got)
	}
	if got := b.Read([]Run{{10, 4}}, 2); got != 0 {
		t.Errorf("second prompt after the long one: Read = %d, want 0", got)
	}
}

// naive is the same cache in as few words as possible.
type naive struct {
	o     BlocksOptions
	last  map[int64]time.Duration
	order []int64 // touched last first
}

func expand(runs []Run) []int64 {
	var out []int64
	for _, r := range runs {
		for n := r.Start; n < r.Start+r.Count; n++ {
			out = append(out, n)
		}
	}
	return out
}

func (c *naive) read(runs []Run, at time.Duration) (warm int64) {
	for _, n := range expand(runs) {
		last, ok := c.last[n]
		if !ok || c.o.Lifetime > 0 && at-last > c.o.Lifetime {
			break
		}
		warm++
	}
	return warm
}

func (c *naive) touch(runs []Run, at time.Duration) {
	for _, n := range slices.Backward(expand(runs)) {
		last, ok := c.last[n]
		if !ok {
			last = at
		}
		c.last[n] = max(last, at)
		c.order = slices.DeleteFunc(c.order, func(m int64) bool { return m == n })
		c.order = slices.Insert(c.order, 0, n)
		if c.o.Capacity > 0 && int64(len(c.order)) > c.o.Capacity {
			delete(c.last, c.order[len(c.order)-1])
			c.order = c.order[:len(c.order)-1]
		}
	}
}

func drawRuns(t *rapid.T) []Run {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Run {
		return Run{rapid.Int64Range(0, 30).Draw(t, "start"), rapid.Int64Range(0, 12).Draw(t, "count")}
	}), 0, 4).Draw(t, "runs")
}

func TestBlocksLikeNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := BlocksOptions{
			Lifetime: time.Duration(rapid.IntRange(0, 20).Draw(t, "lifetime")),
			Capacity: rapid.Int64Range(0, 20).Draw(t, "capacity"),
		}
		b, c := NewBlocks(o), &naive{o: o, last: map[int64]time.Duration{}}
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			at := time.Duration(rapid.IntRange(-5, 60).Draw(t, "at"))
			runs := drawRuns(t)
			if got, want := b.Read(runs, at), c.read(runs, at); got != want {
				t.Fatalf("%+v: Read(%v, %d) = %d, want %d", o, runs, at, got, want)
			}
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0:
				b.Reset()
				c = &naive{o: o, last: map[int64]time.Duration{}}
			case 1, 2: // only looked
			default:
				b.Touch(runs, at)
				c.touch(runs, at)
			}
		}
	})
}

// TestBlocksMonotone: a longer lifetime or a larger cache never reads less.
func TestBlocksMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		less := BlocksOptions{Lifetime: time.Duration(rapid.IntRange(1, 20).Draw(t, "lifetime")), Capacity: rapid.Int64Range(1, 20).Draw(t, "capacity")}
		more := BlocksOptions{Lifetime: less.Lifetime * 2, Capacity: less.Capacity + 5}
		a, b := NewBlocks(less), NewBlocks(more)
		var at time.Duration
		for range rapid.IntRange(1, 30).Draw(t, "requests") {
			at += time.Duration(rapid.IntRange(0, 10).Draw(t, "gap"))
			runs := drawRuns(t)
			if got, want := b.Read(runs, at), a.Read(runs, at); got < want {
				t.Fatalf("%+v reads %d of %v, and %+v only %d", less, want, runs, more, got)
			}
			a.Touch(runs, at)
			b.Touch(runs, at)
		}
	})
}

// BenchmarkBlocks is the work of 710 sessions of real agents: 48,658 requests
// of 1,900 blocks, in sessions that grow.
func BenchmarkBlocks(b *testing.B) {
	const sessions, requests = 710, 69
	c := NewBlocks(BlocksOptions{Lifetime: 5 * time.Minute})
	for b.Loop() {
		for range sessions {
			c.Reset()
			for i := range int64(requests) {
				runs := [...]Run{{0, 900 + 28*i}, {3000 + i, 28}}
				at := time.Duration(i) * time.Minute
				c.Read(runs[:], at)
				c.Touch(runs[:], at)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*sessions*requests), "ns/request")
}

// BenchmarkBlocksCapacity is an engine's cache under a mixed load.
func BenchmarkBlocksCapacity(b *testing.B) {
	c := NewBlocks(BlocksOptions{Capacity: 50_000})
	r := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		start := r.Int64N(200) * 1000
		runs := [...]Run{{start, 25 + r.Int64N(100)}}
		c.Read(runs[:], 0)
		c.Touch(runs[:], 0)
	}
}
