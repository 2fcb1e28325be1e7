package telemetry

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A spanExporter sends spans, as the fields of a ScopeSpans that they are.
type spanExporter interface {
	export(ctx context.Context, spans []byte) error
	close(ctx context.Context) error
}

// A spanQueue gathers spans into batches and has them exported by a goroutine of
// its own. Spans that find it full are dropped, those that a collector does not
// take too; whoever puts a span never waits. After halt exports are given up at
// once.
type spanQueue struct {
	to       spanExporter
	limits   queueLimits
	troubles *troubles

	waiting      atomic.Int64 // spans, those on their way included
	full         atomic.Int64 // spans that found no place
	sent, failed atomic.Int64

	mu       sync.Mutex // guards the following
	gathered batch
	spare    []byte // of a batch that is over
	closed   bool

	batches chan batch // has a place for all that can wait
	done    chan struct{}
	halted  context.Context
	halt    context.CancelFunc
}

// A batch is some spans, encoded.
type batch struct {
	spans encoding
	n     int64
}

// queueLimits are those of OTEL_BSP_….
type queueLimits struct {
	size, batch    int64 // spans
	delay, timeout time.Duration
}

// maxQueue bounds what a variable may ask for, in spans of some 2 KB.
const maxQueue = 1 << 16

// queueLimitsFrom reads the variables, whose names and defaults are those of
// OpenTelemetry's specification.
func queueLimitsFrom(log *slog.Logger) queueLimits {
	read := func(name string, otherwise, most int64) int64 {
		text := strings.TrimSpace(os.Getenv("OTEL_BSP_" + name))
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 {
			log.Warn("cannot read a variable: want a whole number above 0; its default counts", "variable", "OTEL_BSP_"+name, "default", otherwise)
			return otherwise
		}
		return min(n, most)
	}
	const day = 24 * 60 * 60 * 1000
	l := queueLimits{
		size:    read("MAX_QUEUE_SIZE", 2048, maxQueue),
		batch:   read("MAX_EXPORT_BATCH_SIZE", 512, maxQueue),
		delay:   time.Duration(read("SCHEDULE_DELAY", 5000, day)) * time.Millisecond,
		timeout: time.Duration(read("EXPORT_TIMEOUT", 30000, day)) * time.Millisecond,
	}
	l.batch = min(l.batch, l.size)
	return l
}

// newSpanQueue starts a queue; close ends it.
func newSpanQueue(to spanExporter, l queueLimits, t *troubles) *spanQueue {
	q := &spanQueue{to: to, limits: l, troubles: t, batches: make(chan batch, l.size/l.batch+1), done: make(chan struct{})}
	q.halted, q.halt = context.WithCancel(context.Background())
	go q.work()
	return q
}

// put queues a copy of a span, or drops it.
func (q *spanQueue) put(span []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.waiting.Load() >= q.limits.size {
		q.full.Add(1)
		return
	}
	q.waiting.Add(1)
	q.gathered.spans.bytes(scopeSpans, span)
	if q.gathered.n++; q.gathered.n >= q.limits.batch {
		q.batches <- q.cut()
	}
}

// cut takes what is gathered; q.mu is held.
func (q *spanQueue) cut() batch {
	b := q.gathered
	q.gathered, q.spare = batch{spans: q.spare}, nil
	return b
}

// work exports batches that are full, and what there is each time the delay is
// over, until the queue is closed.
func (q *spanQueue) work() {
	defer close(q.done)
	tick := time.NewTicker(q.limits.delay)
	defer tick.Stop()
	for {
		select {
		case b, more := <-q.batches:
			if !more {
				q.send(q.rest())
				return
			}
			q.send(b)
		case <-tick.C:
			q.send(q.rest())
		}
	}
}

func (q *spanQueue) rest() batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cut()
}

// send exports a batch. Its failure is counted and told here.
func (q *spanQueue) send(b batch) {
	defer q.over(b)
	if b.n == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(q.halted, q.limits.timeout)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		err = q.to.export(ctx, b.spans)
	}
	if err != nil {
		q.failed.Add(b.n)
		q.troubles.tell("traces", err)
		return
	}
	q.sent.Add(b.n)
}

// over makes room, and keeps the batch's memory for another.
func (q *spanQueue) over(b batch) {
	q.waiting.Add(-b.n)
	q.mu.Lock()
	defer q.mu.Unlock()
	if cap(b.spans) > cap(q.spare) {
		q.spare = b.spans[:0]
	}
}

// close exports what there is, until halt at most. Called again it does nothing.
func (q *spanQueue) close(ctx context.Context) error {
	q.mu.Lock()
	again := q.closed
	q.closed = true
	q.mu.Unlock()
	if again {
		return nil
	}
	close(q.batches)
	<-q.done
	return q.to.close(ctx)
}
