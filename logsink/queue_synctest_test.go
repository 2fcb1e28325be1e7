package logsink_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

var alice = logsink.Key{Tenant: "a11ce", Session: "s-1"}

// fakeLog takes batches as fail and delay say. Only Append is called.
type fakeLog struct {
	logsink.Log
	delay time.Duration // of each call, within its context

	mu      sync.Mutex
	fail    func(recs []logsink.Record) error
	batches [][]string
	blobs   map[logsink.Digest]string
	stored  []string
}

func (l *fakeLog) Append(ctx context.Context, recs []logsink.Record, blobs []logsink.Blob) error {
	select {
	case <-time.After(l.delay):
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", logsink.ErrUnavailable, ctx.Err())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		if err := l.fail(recs); err != nil {
			return err
		}
	}
	var ids []string
	for _, r := range recs {
		ids = append(ids, r.ID())
	}
	for _, b := range blobs {
		if l.blobs == nil {
			l.blobs = map[logsink.Digest]string{}
		}
		l.blobs[b.Digest] = string(b.Bytes)
	}
	l.batches = append(l.batches, ids)
	l.stored = append(l.stored, ids...)
	return nil
}

func (l *fakeLog) setFail(f func([]logsink.Record) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = f
}

func (l *fakeLog) ids() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.stored...)
}

func away([]logsink.Record) error { return logtest.Unavailable("locked") }

func record(i int) logsink.Record {
	return logtest.Request(alice, "main", fmt.Sprintf("r%d", i), "", i)
}

func recordNames(from, to int) (ids []string) {
	for i := from; i < to; i++ {
		ids = append(ids, fmt.Sprintf("r%d", i))
	}
	return ids
}

// queueTest runs a test under a fake clock and checks that no goroutine is left.
func queueTest(t *testing.T, l *fakeLog, opts logsink.QueueOptions, f func(t *testing.T, q *logsink.Queue)) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		q := logsink.NewQueue(l, opts)
		f(t, q)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		q.Close(ctx)
	})
}

func TestQueueWritesWithinTheLossWindow(t *testing.T) {
	l := &fakeLog{delay: 5 * time.Millisecond}
	queueTest(t, l, logsink.QueueOptions{}, func(t *testing.T, q *logsink.Queue) {
		for i := range 10 {
			q.Put(record(i))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(39 * time.Millisecond)
		if got := l.ids(); len(got) != 0 {
			t.Errorf("stored after 49 ms: %v, want nothing yet", got)
		}
		time.Sleep(51 * time.Millisecond)
		if got := l.ids(); !cmp.Equal(got, recordNames(0, 10)) {
			t.Errorf("stored after 100 ms: %v, want all ten in order", got)
		}
		if len(l.batches) != 1 {
			t.Errorf("%d batches, want 1", len(l.batches))
		}
		want := logsink.QueueStats{Flushed: 10, LastFlush: 5 * time.Millisecond}
		if got := q.Stats(); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	})
}

func TestQueueWritesALargeBatchAtOnce(t *testing.T) {
	l := &fakeLog{}
	queueTest(t, l, logsink.QueueOptions{Batch: 8, Every: time.Hour}, func(t *testing.T, q *logsink.Queue) {
		for i := range 7 {
			q.Put(record(i))
		}
		synctest.Wait()
		if got := l.ids(); len(got) != 0 {
			t.Errorf("stored at once: %v, want nothing before the batch is full", got)
		}
		q.Put(record(7))
		synctest.Wait()
		if got := l.ids(); !cmp.Equal(got, recordNames(0, 8)) {
			t.Errorf("stored at once: %v, want all 8", got)
		}
	})
}

// What would fill a batch, or half of the room, must not wait for Every.
func TestQueueWritesBeforeItIsFull(t *testing.T) {
	f := func(name string, opts logsink.QueueOptions, puts int, blobs ...logsink.Blob) {
		t.Run(name, func(t *testing.T) {
			l := &fakeLog{}
			queueTest(t, l, opts, func(t *testing.T, q *logsink.Queue) {
				for i := range puts {
					if synctest.Wait(); len(l.ids()) > 0 {
						t.Errorf("%d are stored after %d were put, want none before %d", len(l.ids()), i, puts)
					}
					q.Put(record(i), blobs...)
				}
				if synctest.Wait(); len(l.ids()) != puts {
					t.Errorf("%d are stored at once, want all %d", len(l.ids()), puts)
				}
			})
		})
	}
	f("records", logsink.QueueOptions{Every: time.Hour}, 4096)
	f("records of a small queue", logsink.QueueOptions{Every: time.Hour, Records: 10}, 5)
	f("bytes", logsink.QueueOptions{Every: time.Hour}, 16, logsink.Blob{Bytes: make([]byte, 1<<20-1<<10)}) // and what a record is taken to hold
}

func TestQueueWritesMoreThanOneBatchHolds(t *testing.T) {
	l := &fakeLog{}
	queueTest(t, l, logsink.QueueOptions{}, func(t *testing.T, q *logsink.Queue) {
		for i := range 10_001 {
			q.Put(record(i))
		}
		time.Sleep(200 * time.Millisecond)
		if got := l.ids(); !cmp.Equal(got, recordNames(0, 10_001)) {
			t.Errorf("stored %d, want all 10001 in order", len(got))
		}
	})
}

// What does not go into one batch must not wait for another Put.
func TestQueueWritesTheRestOfABatch(t *testing.T) {
	rest := func(opts logsink.QueueOptions) {
		l := &fakeLog{delay: 100 * time.Millisecond}
		queueTest(t, l, opts, func(t *testing.T, q *logsink.Queue) {
			for i := range 8 {
				q.Put(record(i))
			}
			time.Sleep(60 * time.Millisecond) // the first batch is being written
			for i := range 5000 {
				q.Put(record(8 + i))
			}
			time.Sleep(10 * time.Second)
			if got := len(l.ids()); got != 5008 {
				t.Errorf("stored %d with %+v, want 5008", got, opts)
			}
		})
	}
	rest(logsink.QueueOptions{Batch: 8, Every: time.Hour})
	rest(logsink.QueueOptions{Batch: 100_000})
}

func TestI10_QueueIsBoundedByNumberAndBytes(t *testing.T) {
	l := &fakeLog{fail: away}
	queueTest(t, l, logsink.QueueOptions{Records: 5, Bytes: 100 << 10}, func(t *testing.T, q *logsink.Queue) {
		blob := logsink.Blob{Bytes: make([]byte, 60<<10)}
		if !q.Put(record(0), blob) || q.Put(record(1), blob) || !q.Put(record(2)) {
			t.Errorf("Put: want the second 60 KiB refused and a small one taken")
		}
		for i := 3; i < 6; i++ {
			q.Put(record(i))
		}
		if q.Put(record(6)) {
			t.Errorf("Put of a sixth record was taken, the bound is 5")
		}
		time.Sleep(time.Second) // tried and failed: still bounded
		if q.Put(record(7)) {
			t.Errorf("Put of a sixth record was taken while a batch is being tried")
		}
		if s := q.Stats(); s.Depth != 5 || s.Dropped != 3 || s.Bytes > 100<<10 || s.Errors < 3 {
			t.Errorf("Stats() = %+v, want depth 5, dropped 3, several errors", s)
		}
		l.setFail(nil)
		time.Sleep(5 * time.Second)
		if s := q.Stats(); s.Depth != 0 || s.Bytes != 0 || s.Flushed != 5 {
			t.Errorf("Stats() after the log came back = %+v, want all stored", s)
		}
		if !q.Put(record(8), blob) {
			t.Errorf("Put after the log came back was refused")
		}
	})
}

func TestQueueKeepsOrderAndBlobsOverAnOutage(t *testing.T) {
	l := &fakeLog{fail: away}
	queueTest(t, l, logsink.QueueOptions{}, func(t *testing.T, q *logsink.Queue) {
		h, blob := logtest.Header(alice, "main", "h", "system text")
		given := append([]byte(nil), blob.Bytes...)
		q.Put(h, logsink.Blob{Digest: blob.Digest, Bytes: given})
		copy(given, "XXXXXX") // the caller's buffer is its own again
		time.Sleep(10 * time.Second)
		for i := range 30 {
			q.Put(record(i))
			time.Sleep(100 * time.Millisecond)
		}
		l.setFail(nil)
		time.Sleep(5 * time.Second)
		if got := l.ids(); !cmp.Equal(got, append([]string{"h"}, recordNames(0, 30)...)) {
			t.Errorf("stored %v, want the header and 30 in order", got)
		}
		if got := l.blobs[blob.Digest]; got != "system text" {
			t.Errorf("stored blob %q, want the bytes as they were put", got)
		}
	})
}

// A record that the log refuses must not take the others with it.
func TestQueueLosesOnlyWhatIsRefused(t *testing.T) {
	refuse := func(recs []logsink.Record) error {
		for _, r := range recs {
			if r.ID() == "r3" {
				return errors.New("refused")
			}
		}
		return nil
	}
	l := &fakeLog{fail: refuse}
	queueTest(t, l, logsink.QueueOptions{}, func(t *testing.T, q *logsink.Queue) {
		for i := range 6 {
			q.Put(record(i))
		}
		time.Sleep(time.Second)
		if got, want := l.ids(), []string{"r0", "r1", "r2", "r4", "r5"}; !cmp.Equal(got, want) {
			t.Errorf("stored %v, want %v", got, want)
		}
		if s := q.Stats(); s.Depth != 0 || s.Dropped != 1 || s.Flushed != 5 || s.Errors != 2 {
			t.Errorf("Stats() = %+v, want 1 dropped, 5 flushed, 2 errors", s)
		}
	})
}

func TestQueueCloseDrains(t *testing.T) {
	l := &fakeLog{delay: 20 * time.Millisecond}
	queueTest(t, l, logsink.QueueOptions{}, func(t *testing.T, q *logsink.Queue) {
		for i := range 5000 {
			q.Put(record(i))
		}
		if err := q.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		if got := len(l.ids()); got != 5000 {
			t.Errorf("stored %d, want 5000", got)
		}
		if q.Put(record(1)) {
			t.Errorf("Put after Close was taken")
		}
		if err := q.Close(t.Context()); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}

func TestQueueCloseGivesUpInTime(t *testing.T) {
	f := func(name string, l *fakeLog) {
		t.Run(name, func(t *testing.T) {
			queueTest(t, l, logsink.QueueOptions{}, func(t *testing.T, q *logsink.Queue) {
				for i := range 7 {
					q.Put(record(i))
				}
				time.Sleep(time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				began := time.Now()
				err := q.Close(ctx)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Close with a log that is away: %v, want a deadline error", err)
				}
				if d := time.Since(began); d != 300*time.Millisecond {
					t.Errorf("Close took %s, want 300ms", d)
				}
				if s := q.Stats(); s.Dropped != 7 || s.Depth != 0 || s.Bytes != 0 {
					t.Errorf("Stats() = %+v, want 7 dropped and nothing left", s)
				}
			})
		})
	}
	f("away", &fakeLog{fail: away})
	f("hanging", &fakeLog{delay: time.Hour})
}

func TestQueuePutSync(t *testing.T) {
	l := &fakeLog{delay: time.Millisecond}
	queueTest(t, l, logsink.QueueOptions{}, func(t *testing.T, q *logsink.Queue) {
		if err := q.PutSync(t.Context(), record(1)); err != nil || !cmp.Equal(l.ids(), []string{"r1"}) {
			t.Errorf("PutSync = %v with %v stored, want r1", err, l.ids())
		}
		l.setFail(away)
		if err := q.PutSync(t.Context(), record(2)); !errors.Is(err, logsink.ErrUnavailable) {
			t.Errorf("PutSync with a log that is away: %v, want ErrUnavailable", err)
		}
		if s := q.Stats(); s.Flushed != 1 || s.Errors != 1 || s.Dropped != 1 || s.LastFlush != time.Millisecond {
			t.Errorf("Stats() = %+v, want 1 flushed, 1 error, 1 dropped", s)
		}
	})
}

func TestQueueIsSafeForManyGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t)
	l := &fakeLog{}
	q := logsink.NewQueue(l, logsink.QueueOptions{Batch: 16})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				q.Put(record(w*1000 + i))
				q.Stats()
			}
		})
	}
	wg.Wait()
	if err := q.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := q.Stats(); len(l.ids()) != 1600 || s.Flushed != 1600 || s.Dropped != 0 {
		t.Errorf("stored %d, %+v; want 1600", len(l.ids()), s)
	}
}

func BenchmarkQueuePut(b *testing.B) {
	l := &fakeLog{}
	q := logsink.NewQueue(l, logsink.QueueOptions{})
	defer q.Close(context.Background())
	r := record(1)
	b.ReportAllocs()
	for b.Loop() {
		q.Put(r)
	}
}
