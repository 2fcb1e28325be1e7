package telemetry

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// A spanQueue is the library's batch processor with its losses counted. Spans that
// find it full are dropped, those that a collector does not take too; whoever ends
// a span never waits.
type spanQueue struct {
	sdktrace.SpanProcessor // the library's
	max                    int64
	waiting, full          atomic.Int64
}

// A spanSender is what the queue exports through. After halt it gives up at once.
type spanSender struct {
	sdktrace.SpanExporter
	queue        *spanQueue // set before the first span
	troubles     *troubles
	sent, failed atomic.Int64

	halted context.Context
	halt   context.CancelFunc
}

func newSpanQueue(to sdktrace.SpanExporter, t *troubles) (*spanQueue, *spanSender) {
	s := &spanSender{SpanExporter: to, troubles: t}
	s.halted, s.halt = context.WithCancel(context.Background())
	q := &spanQueue{max: queueSize()}
	s.queue = q
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(s, sdktrace.WithMaxQueueSize(int(q.max)))
	return q, s
}

// maxQueue bounds what a variable may ask for, in spans of some 4 KB.
const maxQueue = 1 << 16

func queueSize() int64 {
	n, err := strconv.ParseInt(os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE"), 10, 32)
	if err != nil || n <= 0 {
		return sdktrace.DefaultMaxQueueSize
	}
	return min(n, maxQueue)
}

// OnEnd queues a span that is to be exported, or drops it.
func (q *spanQueue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if q.waiting.Add(1) > q.max {
		q.waiting.Add(-1)
		q.full.Add(1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// ExportSpans sends a batch. Its failure is counted and told here, since the
// library would print it as it is.
func (s *spanSender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	n := int64(len(spans))
	defer s.queue.waiting.Add(-n)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.halted, cancel)()
	if err := s.send(ctx, spans); err != nil {
		s.failed.Add(n)
		s.troubles.tell("traces", err)
		return nil
	}
	s.sent.Add(n)
	return nil
}

func (s *spanSender) send(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.halted.Err(); err != nil {
		return err
	}
	return s.SpanExporter.ExportSpans(ctx, spans)
}
