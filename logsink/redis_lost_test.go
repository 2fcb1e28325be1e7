package logsink_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// TestRedisTellsWhatItLost: records of an epoch that the server does not have
// tell of it; once it is put back they do not.
func TestRedisTellsWhatItLost(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	b := redisBackend(t, url, logsink.DurableMemory)
	l := b.Open(t).(*logsink.Redis)
	var lost []logsink.EpochRef
	l.OnLost(func(ref logsink.EpochRef) { lost = append(lost, ref) })
	k := logsink.Key{Tenant: "t", Session: "s"}
	freeze := func() {
		t.Helper()
		a := logtest.Anchor(k, 1, "opener")
		if won, err := l.Freeze(t.Context(), a); err != nil || won != a {
			t.Fatalf("Freeze = %v, %v; want the anchor that was given", won, err)
		}
	}
	add := func(id string, want ...logsink.EpochRef) {
		t.Helper()
		lost = nil
		if err := l.Append(t.Context(), []logsink.Record{logtest.Request(k, "main", id, "", 1)}, nil); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, lost); d != "" {
			t.Errorf("after %s the log tells of other losses (-want +got):\n%s", id, d)
		}
	}
	freeze()
	add("r1")
	flush(t, url)
	add("r2", logsink.EpochRef{Key: k, Epoch: 1})
	add("r2", logsink.EpochRef{Key: k, Epoch: 1}) // offered again
	freeze()
	add("r3")
	if a, err := l.Current(t.Context(), k); err != nil || string(a.Rendering("openai.chat")) == "" {
		t.Errorf("Current after the anchor was put back = %v, %v; want it with its bytes", a, err)
	}
}
