package proxy

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
)

// A failingLog fails its next writes, so many.
type failingLog struct {
	logsink.Log
	next atomic.Int64
}

func (l *failingLog) Append(ctx context.Context, recs []logsink.Record, blobs []logsink.Blob) error {
	if l.next.Add(-1) >= 0 {
		return fmt.Errorf("%w: for a test", logsink.ErrUnavailable)
	}
	return l.Log.Append(ctx, recs, blobs)
}

// TestI4_LostHeaderIsWrittenAgain: when a thread's header does not get into the
// log, its next request writes one, and none refers to what is not there.
func TestI4_LostHeaderIsWrittenAgain(t *testing.T) {
	for _, p := range []string{Enforced, BestEffort} {
		t.Run(p, func(t *testing.T) {
			b := newBench(t, policy(p), func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) {
				l := &failingLog{Log: d.Log}
				l.next.Store(1)
				d.Log, d.Sync = l, true
			})
			var statuses [3]int
			for i := range statuses {
				statuses[i] = b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "s").StatusCode
			}
			if first := map[string]int{Enforced: 503, BestEffort: 200}[p]; statuses != [3]int{first, 200, 200} {
				t.Errorf("statuses %v, want %d, then 200", statuses, first)
			}
			headers := map[string]bool{"": true}
			for _, r := range b.records() {
				switch {
				case r.Header != nil:
					headers[r.Header.ID] = true
				case r.Request != nil && !headers[r.Request.Header]:
					t.Errorf("request %d has header %q, which is not in the log before it", r.Request.Number, r.Request.Header)
				}
			}
			if len(headers) != 2 {
				t.Errorf("%d headers are in the log, want 1", len(headers)-1)
			}
			b.verify()
		})
	}
}

// A muteLog does not answer whoever writes to it, for as long as they wait.
type muteLog struct{ logsink.Log }

func (muteLog) Append(ctx context.Context, _ []logsink.Record, _ []logsink.Blob) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", logsink.ErrUnavailable, ctx.Err())
}

// TestI10_MuteLogIsGivenUp: whatever a request asks of a log that is mute, it has
// its answer when log.timeout is over.
func TestI10_MuteLogIsGivenUp(t *testing.T) {
	f := func(name, body string, change setupFunc) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, policy(Enforced), change, func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.LogTimeout = 10 * time.Millisecond })
			if r := b.post("/v1/messages", body); r.StatusCode != 503 || r.Header.Get("retry-after") == "" {
				t.Errorf("answer %d %s, want 503 that says to come again", r.StatusCode, r.body)
			}
		})
	}
	f("to find a session", talks()["anthropic"].body(3, false), func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.Log = silentLog{d.Log} })
	f("to write a record", anthropicTurn, func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.Log, d.Sync = muteLog{d.Log}, true })
}
