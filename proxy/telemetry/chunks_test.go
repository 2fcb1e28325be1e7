package telemetry

import (
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestChunks: a histogram of what comes out is that of what went in.
func TestChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOf(rapid.Custom(drawTime)).Draw(t, "times")
		var c Chunks
		for _, took := range times {
			c.Add(took)
		}
		var out []time.Duration
		for took := range c.all() {
			out = append(out, took)
		}
		wantCounts, wantSum := histogram(times)
		counts, sum := histogram(out)
		if counts != wantCounts || wantSum-sum > time.Duration(len(times)) || sum > wantSum { // means are cut to whole nanoseconds
			t.Fatalf("of %v came %v: buckets %v, sum %v; want %v, %v", times, out, counts, sum, wantCounts, wantSum)
		}
	})
}

// drawTime draws many that stand on a bound.
func drawTime(t *rapid.T) time.Duration {
	if rapid.Bool().Draw(t, "on a bound") {
		return time.Duration(rapid.SampledFrom(durationBuckets).Draw(t, "bound") * 1e9)
	}
	return time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "time"))
}

func histogram(times []time.Duration) (counts [chunkBounds + 1]int, sum time.Duration) {
	for _, took := range times {
		counts[sort.SearchFloat64s(durationBuckets[:chunkBounds], took.Seconds())]++
		sum += took
	}
	return counts, sum
}
