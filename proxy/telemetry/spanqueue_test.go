package telemetry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A sink is an exporter that keeps the sizes of what it gets.
type sink struct {
	waits chan struct{} // exports wait until it is closed, if there is one
	err   error

	mu     sync.Mutex // guards the following
	sizes  []int
	closed int
}

func (s *sink) export(ctx context.Context, spans []byte) error {
	if s.waits != nil {
		select {
		case <-s.waits:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var list tracepb.ScopeSpans
	if err := proto.Unmarshal(spans, &list); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, len(list.Spans))
	return s.err
}

func (s *sink) close(context.Context) error {
	s.closed++
	return nil
}

func (s *sink) spans() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, size := range s.sizes {
		n += size
	}
	return n
}

func startQueue(to spanExporter, l queueLimits) *spanQueue {
	return newSpanQueue(to, l, &troubles{log: slog.New(slog.DiscardHandler), every: time.Hour})
}

var smallQueue = queueLimits{size: 10, batch: 4, delay: time.Second, timeout: time.Minute}

// TestQueueBatches: full batches go at once, the rest after the delay, none is
// larger than it may be, and the end leaves nothing behind.
func TestQueueBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to sink
		q := startQueue(&to, smallQueue)
		for range 9 {
			q.put([]byte{})
		}
		synctest.Wait()
		if to.spans() != 8 || q.waiting.Load() != 1 {
			t.Errorf("before the delay batches of %v went, and %d spans wait, want 4, 4 and 1", to.sizes, q.waiting.Load())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if to.spans() != 9 || q.waiting.Load() != 0 {
			t.Errorf("after the delay batches of %v went, and %d spans wait", to.sizes, q.waiting.Load())
		}
		q.put([]byte{})
		for range 2 {
			if err := q.close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		q.put([]byte{})
		if to.spans() != 10 || to.closed != 1 || q.sent.Load() != 10 || q.full.Load() != 1 {
			t.Errorf("at the end %d spans had gone (%d counted), %d were dropped, closed %d times; want 10, 1, 1", to.spans(), q.sent.Load(), q.full.Load(), to.closed)
		}
	})
}

// TestI10_QueueIsBounded: a collector that takes nothing has spans dropped and
// counted, and nobody wait; what waited goes out when it does take them.
func TestI10_QueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := sink{waits: make(chan struct{})}
		q := startQueue(&to, smallQueue)
		for range 100 {
			q.put([]byte{})
		}
		synctest.Wait()
		if q.waiting.Load() != 10 || q.full.Load() != 90 {
			t.Errorf("of 100 spans %d wait and %d are dropped, want 10 and 90", q.waiting.Load(), q.full.Load())
		}
		close(to.waits)
		_ = q.close(t.Context())
		if to.spans() != 10 || q.waiting.Load() != 0 {
			t.Errorf("then %v went and %d wait, want 10 and 0", to.sizes, q.waiting.Load())
		}
	})
}

// TestQueueGivesUp: an export may take so long and no longer, and after halt none
// is tried.
func TestQueueGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := sink{waits: make(chan struct{})}
		q := startQueue(&to, smallQueue)
		for range 4 {
			q.put([]byte{})
		}
		time.Sleep(smallQueue.timeout)
		synctest.Wait()
		if q.failed.Load() != 4 || q.waiting.Load() != 0 {
			t.Errorf("%d spans failed, %d wait, want 4 and 0", q.failed.Load(), q.waiting.Load())
		}
		q.put([]byte{})
		q.halt()
		_ = q.close(t.Context())
		if q.failed.Load() != 5 || len(to.sizes) != 0 {
			t.Errorf("after halt %d spans failed and %v went, want 5 and none", q.failed.Load(), to.sizes)
		}
	})
}

// TestQueueCountsRefusals: what a collector refuses is no success.
func TestQueueCountsRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := sink{err: errors.New("x")}
		q := startQueue(&to, smallQueue)
		q.put([]byte{})
		_ = q.close(t.Context())
		if q.failed.Load() != 1 || q.sent.Load() != 0 || q.troubles.count.Load() != 1 {
			t.Errorf("%d failed, %d sent, %d told, want 1, 0, 1", q.failed.Load(), q.sent.Load(), q.troubles.count.Load())
		}
	})
}

func TestQueueLimits(t *testing.T) {
	for _, c := range []struct {
		env  string
		want queueLimits
		warn bool
	}{
		{"", queueLimits{2048, 512, 5 * time.Second, 30 * time.Second}, false},
		{"MAX_QUEUE_SIZE=100", queueLimits{100, 100, 5 * time.Second, 30 * time.Second}, false},
		{"MAX_QUEUE_SIZE=99999999", queueLimits{maxQueue, 512, 5 * time.Second, 30 * time.Second}, false},
		{"MAX_EXPORT_BATCH_SIZE=7", queueLimits{2048, 7, 5 * time.Second, 30 * time.Second}, false},
		{"SCHEDULE_DELAY=10", queueLimits{2048, 512, 10 * time.Millisecond, 30 * time.Second}, false},
		{"EXPORT_TIMEOUT=10", queueLimits{2048, 512, 5 * time.Second, 10 * time.Millisecond}, false},
		{"MAX_QUEUE_SIZE=-1", queueLimits{2048, 512, 5 * time.Second, 30 * time.Second}, true},
		{"SCHEDULE_DELAY=s3cret", queueLimits{2048, 512, 5 * time.Second, 30 * time.Second}, true},
	} {
		t.Run(c.env, func(t *testing.T) {
			name, value, _ := strings.Cut(c.env, "=")
			t.Setenv("OTEL_BSP_"+name, value)
			var out bytes.Buffer
			if got := queueLimitsFrom(slog.New(slog.NewTextHandler(&out, nil))); got != c.want {
				t.Errorf("queueLimitsFrom() = %v, want %v", got, c.want)
			}
			if said := strings.Contains(out.String(), "OTEL_BSP_"+name); said != c.warn || strings.Contains(out.String(), "s3cret") {
				t.Errorf("logged %q", out.String())
			}
		})
	}
}
