package logsink

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Queue takes records off the request path and appends them in batches. It is
// bounded and lossy by declaration: when the log cannot keep up, or is away for
// longer than the queue has room, records are dropped and counted. A crash
// loses what was put in the last Every, and the batch being written.
//
// Records are appended in the order in which they were put, so a header record
// and its blobs are stored in the transaction of the requests that refer to
// them, or before.
type Queue struct {
	log  Log          // immutable
	opts QueueOptions // immutable

	// mu guards the following. waiting and size count what is in pending and
	// what is being written.
	mu      sync.Mutex
	pending []queued
	spare   []queued // an empty array for the next batch, if there is one
	waiting int
	size    int64
	closed  bool
	stats   QueueStats

	recs []Record // room for those of a batch; the goroutine's

	first chan struct{} // pending is not empty any more
	full  chan struct{} // pending is worth writing at once
	quit  chan struct{} // closed by Close: write what is there
	ended chan struct{} // closed when the goroutine is over

	// abandon cancels writes when Close runs out of time.
	ctx     context.Context
	abandon context.CancelFunc
}

// QueueOptions bound a queue. Zero fields have the defaults.
type QueueOptions struct {
	Records int           // how many may wait; default 65536
	Bytes   int64         // how much they may hold, blobs included; default 64 MiB
	Every   time.Duration // how long a record waits at most before it is written; default 80ms
	Batch   int           // so many waiting, or 16 MiB, are written at once; default 4096, at most half of Records
	Timeout time.Duration // of one write; default 10s
}

func (o QueueOptions) withDefaults() QueueOptions {
	setDefault(&o.Records, 65536)
	setDefault(&o.Bytes, 64<<20)
	setDefault(&o.Every, 80*time.Millisecond)
	setDefault(&o.Batch, max(1, min(batchRecords, o.Records/2)))
	setDefault(&o.Timeout, 10*time.Second)
	return o
}

// QueueStats is what a queue has done and has before it.
type QueueStats struct {
	Depth     int           // records that wait or are being written
	Bytes     int64         // what they hold, roughly
	Dropped   int64         // records that were lost: no room, refused by the log, or left at Close
	Errors    int64         // writes that failed; a batch that is tried again counts each time
	Flushed   int64         // records that are stored
	LastFlush time.Duration // how long the last write took that succeeded
}

// A queued record holds its blobs, which are the queue's own.
type queued struct {
	rec   Record
	blobs []Blob
	size  int64
}

// recordSize is what a record is taken to hold without its blobs: the structs
// are near it, and to be exact would cost more than it gives.
const recordSize = 1 << 10

// NewQueue starts a queue in front of a log. The queue does not close the log.
func NewQueue(l Log, opts QueueOptions) *Queue {
	q := &Queue{
		log: l, opts: opts.withDefaults(),
		first: make(chan struct{}, 1), full: make(chan struct{}, 1),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
	q.ctx, q.abandon = context.WithCancel(context.Background())
	go q.work()
	return q
}

// Put hands over a record with the blobs that it refers to, and never blocks.
// It reports whether there was room; if not, the record is dropped and counted.
// The queue keeps what rec points to until it is stored, so that must not be
// changed any more; blobs' bytes are copied.
func (q *Queue) Put(rec Record, blobs ...Blob) bool {
	item := queued{rec: rec, blobs: cloneBlobs(blobs), size: recordSize}
	for i := range blobs {
		item.size += int64(len(blobs[i].Bytes))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.waiting >= q.opts.Records || q.size+item.size > q.opts.Bytes {
		q.stats.Dropped++
		return false
	}
	q.pending = append(q.pending, item)
	q.waiting++
	q.size += item.size
	signal(q.first)
	if len(q.pending) >= q.opts.Batch || q.size >= batchBytes {
		signal(q.full)
	}
	return true
}

// PutSync appends a record and its blobs and returns when they are durable. It
// does not wait for what is in the queue.
func (q *Queue) PutSync(ctx context.Context, rec Record, blobs ...Blob) error {
	began := time.Now()
	err := q.log.Append(ctx, []Record{rec}, blobs)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.stats.Errors++
		q.stats.Dropped++
		return err
	}
	q.stats.Flushed++
	q.stats.LastFlush = time.Since(began)
	return nil
}

// Stats returns the counters.
func (q *Queue) Stats() QueueStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Depth, s.Bytes = q.waiting, q.size
	return s
}

// Close takes no more records, writes those that wait, and returns when that is
// done or ctx ends. Its error says how many were lost.
func (q *Queue) Close(ctx context.Context) error {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.quit)
	}
	q.mu.Unlock()
	select {
	case <-q.ended:
	case <-ctx.Done():
		q.abandon()
		<-q.ended
	}
	q.abandon()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == 0 {
		return nil
	}
	lost := q.waiting
	q.drop(q.pending)
	q.pending = nil
	return fmt.Errorf("cannot write the last %d records of the log before the time to stop was over: %w", lost, context.Cause(ctx))
}

// drop counts items as lost. It is called under mu.
func (q *Queue) drop(items []queued) {
	q.stats.Dropped += int64(len(items))
	q.done(items)
}

// done gives back the room of items. It is called under mu.
func (q *Queue) done(items []queued) {
	q.waiting -= len(items)
	for i := range items {
		q.size -= items[i].size
	}
}

// signal wakes the goroutine; a signal that is not taken yet is enough.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
