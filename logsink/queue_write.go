package logsink

import (
	"context"
	"errors"
	"time"
)

// A batch is bounded too: the log writes it in one transaction. It is not worth
// writing much before it is full: at 20,000 requests a second a batch of 1024
// records costs a quarter more of the processor for each request than what
// gathers in 80 ms (BenchmarkQueueAtRate).
const (
	batchRecords = 4096
	batchBytes   = 16 << 20
)

// Waits between tries of a batch while the log is away.
const (
	retryFirst = 50 * time.Millisecond
	retryMost  = 2 * time.Second
)

// work writes batches until Close, and then what is left. After a batch it
// waits again, unless enough has gathered meanwhile: many small batches would
// cost far more.
func (q *Queue) work() {
	defer close(q.ended)
	for q.wait() {
		if batch := q.take(); q.write(batch) {
			q.reuse(batch)
		}
	}
	for {
		batch := q.take()
		if len(batch) == 0 || !q.write(batch) {
			return
		}
	}
}

// wait returns when records should be written, or false when the queue closes.
// An idle queue sleeps.
func (q *Queue) wait() bool {
	select {
	case <-q.first:
	case <-q.quit:
		return false
	}
	timer := time.NewTimer(q.opts.Every)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.full:
	case <-q.quit:
		return false
	}
	return true
}

// take returns the next batch, which stays counted until it is done.
func (q *Queue) take() []queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, int64(0)
	for n < len(q.pending) && n < batchRecords && (n == 0 || size+q.pending[n].size <= batchBytes) {
		size += q.pending[n].size
		n++
	}
	batch := q.pending[:n:n]
	q.pending = q.pending[n:]
	switch {
	case len(q.pending) == 0:
		q.pending, q.spare = q.spare, nil // the array goes with the batch
	case len(q.pending) >= q.opts.Batch:
		signal(q.full)
		fallthrough
	default:
		signal(q.first)
	}
	return batch
}

// reuse keeps the array of a batch that is written, unless it is far larger than
// batches are: at 20,000 requests a second a fresh one for each was an eighth of
// all memory that had to be collected.
func (q *Queue) reuse(batch []queued) {
	clear(batch)
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(batch) <= q.opts.Batch {
		q.spare = batch[:0]
	}
}

// write stores a batch, however long the log is away, and reports whether it is
// done with it. If Close gives up it puts back what is not stored.
func (q *Queue) write(batch []queued) bool {
	err := q.insist(batch)
	switch {
	case err == nil:
		return true
	case hopeless(err):
		return q.writeSingly(batch)
	}
	q.putBack(batch)
	return false
}

// hopeless reports whether the same batch will fail again: the log refuses a
// record for what it is, or cannot go on where a session is damaged.
func hopeless(err error) bool {
	return !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrCorrupt)
}

// writeSingly is for a batch that is hopeless: the records that can be are
// stored, and the others are lost.
func (q *Queue) writeSingly(batch []queued) bool {
	for i := range batch {
		one := batch[i : i+1]
		err := q.insist(one)
		if err != nil && !hopeless(err) {
			q.putBack(batch[i:])
			return false
		}
		if err != nil {
			q.mu.Lock()
			q.drop(one)
			q.mu.Unlock()
		}
	}
	return true
}

// insist tries until the batch is stored, is refused for what it is, or Close
// gives up, which leaves the error ErrUnavailable.
func (q *Queue) insist(batch []queued) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		err := q.append(batch)
		if err == nil || hopeless(err) || !q.sleep(wait) {
			return err
		}
	}
}

func (q *Queue) putBack(batch []queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = append(batch, q.pending...)
}

// sleep waits between tries, and returns false when there is no time for more.
func (q *Queue) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-q.ctx.Done():
		return false
	}
}

// append makes one try. The log stores a record once however often it is
// offered, so a try whose outcome is not known does no harm.
func (q *Queue) append(batch []queued) error {
	q.recs = q.recs[:0]
	defer func() { clear(q.recs) }()
	var blobs []Blob
	for i := range batch {
		q.recs = append(q.recs, batch[i].rec)
		blobs = append(blobs, batch[i].blobs...)
	}
	ctx, cancel := context.WithTimeout(q.ctx, q.opts.Timeout)
	defer cancel()
	began := time.Now()
	err := q.log.Append(ctx, q.recs, blobs)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.stats.Errors++
		return err
	}
	q.stats.Flushed += int64(len(batch))
	q.stats.LastFlush = time.Since(began)
	q.done(batch)
	return nil
}
