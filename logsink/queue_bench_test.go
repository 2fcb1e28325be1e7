//go:build unix

package logsink_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// BenchmarkQueueAtRate is the cost of the whole log at 20,000 requests a second
// from 64 sessions: what its Batch and Every come to shows only at a rate. One
// operation is a millisecond of it.
func BenchmarkQueueAtRate(b *testing.B) {
	const perTick, sessions = 20, 64
	l := benchLog(b)
	q := logsink.NewQueue(l, logsink.QueueOptions{})
	recs := benchBatch(0, sessions, perTick*b.N)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	before := cpuTime()
	b.ResetTimer()
	for n := range b.N {
		<-tick.C
		for _, r := range recs[n*2*perTick:][:2*perTick] {
			q.Put(r)
		}
	}
	if err := q.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	report(b, before, perTick, "request")
	if s := q.Stats(); s.Dropped > 0 {
		b.Errorf("%d records were dropped", s.Dropped)
	}
}
