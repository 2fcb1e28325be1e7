package proxy

import (
	"context"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A hurried log gives up after a wait, log.timeout: a request that asks a log
// which is mute must end before its client does (I10). Freezing has deadlines of
// its own, in the store.
type hurried struct {
	logsink.Log
	wait time.Duration
}

func newHurried(log logsink.Log, wait time.Duration) hurried {
	set(&wait, time.Second)
	return hurried{log, wait}
}

// Last implements logsink.Log.
func (h hurried) Last(ctx context.Context, k logsink.Key, thread string) (*logsink.Request, *logsink.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	return h.Log.Last(ctx, k, thread)
}

// Find implements logsink.Log.
func (h hurried) Find(ctx context.Context, tenant string, lineages []string) (logsink.Key, string, error) {
	ctx, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	return h.Log.Find(ctx, tenant, lineages)
}

// putSync has the queue write a record with its blobs at once.
func (h hurried) putSync(ctx context.Context, q *logsink.Queue, rec logsink.Record, blobs []logsink.Blob) error {
	ctx, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	return q.PutSync(ctx, rec, blobs...)
}
