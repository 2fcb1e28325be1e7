//go:build unix

package logsink_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// The Redis log beside the embedded one, each operation timed by itself. The
// server shares the machine; bench/redis measures whole proxies.

func BenchmarkRedisFreeze(b *testing.B)  { benchFreeze(b, benchRedis(b)) }
func BenchmarkSQLiteFreeze(b *testing.B) { benchFreeze(b, benchSQLite(b)) }

func BenchmarkRedisAppend(b *testing.B)  { benchAppend(b, benchRedis(b)) }
func BenchmarkSQLiteAppend(b *testing.B) { benchAppend(b, benchSQLite(b)) }

func BenchmarkRedisCurrent(b *testing.B)  { benchCurrent(b, benchRedis(b)) }
func BenchmarkSQLiteCurrent(b *testing.B) { benchCurrent(b, benchSQLite(b)) }

// An opener opens one log each time it is called, as another process would.
type opener func(b *testing.B) logsink.Log

func benchRedis(b *testing.B) opener {
	url := redistest.Start(b).URL()
	return func(b *testing.B) logsink.Log {
		l, err := logsink.OpenRedis(b.Context(), url, logsink.Config{Durability: logsink.DurableMemory})
		return openedLog(b, l, err)
	}
}

func benchSQLite(b *testing.B) opener {
	path := filepath.Join(b.TempDir(), "log.db")
	return func(b *testing.B) logsink.Log {
		l, err := logsink.OpenSQLite(b.Context(), path, logsink.Config{})
		return openedLog(b, l, err)
	}
}

func openedLog(b *testing.B, l logsink.Log, err error) logsink.Log {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// benchFreeze freezes new sessions that share one opener.
func benchFreeze(b *testing.B, open opener) {
	var n atomic.Int64
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			l, a := open(b), openingAnchor(b)
			timed(b, callers, func() error {
				mine := *a
				mine.Session = fmt.Sprintf("0198c5a4-7f2e-7c1b-9d3e-%012d", n.Add(1))
				_, err := l.Freeze(b.Context(), &mine)
				return err
			})
		})
	}
}

// benchAppend appends what one request leaves, and what the queue gathers under
// load.
func benchAppend(b *testing.B, open opener) {
	var n atomic.Int64
	for _, size := range []struct{ sessions, records int }{{1, 2}, {64, 4096}} {
		b.Run(fmt.Sprintf("sessions=%d/records=%d", size.sessions, size.records), func(b *testing.B) {
			l := open(b)
			var took latencies
			for b.Loop() {
				b.StopTimer()
				batch := int(n.Add(1))
				recs := benchBatch(batch, size.sessions, size.records/2)
				b.StartTimer()
				took.time(b, func() error { return l.Append(b.Context(), recs, nil) })
			}
			took.report(b)
		})
	}
}

// benchCurrent reads the anchor of a session that this process does not know:
// with the opener that it knows from others, and in a process that was just
// started.
func benchCurrent(b *testing.B, open opener) {
	const sessions = 1000
	first, a := open(b), openingAnchor(b)
	for i := range sessions {
		mine := *a
		mine.Key = benchKey(i)
		if _, err := first.Freeze(b.Context(), &mine); err != nil {
			b.Fatal(err)
		}
	}
	read := func(l logsink.Log, i int) error {
		_, err := l.Current(b.Context(), benchKey(i%sessions))
		return err
	}
	b.Run("opener=known", func(b *testing.B) {
		l, i := open(b), 0
		timed(b, 1, func() error { i++; return read(l, i) })
	})
	b.Run("opener=new", func(b *testing.B) {
		var took latencies
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			l := open(b)
			b.StartTimer()
			took.time(b, func() error { return read(l, i) })
			b.StopTimer()
			l.Close()
			b.StartTimer()
		}
		took.report(b)
	})
}

// openingAnchor is the anchor of a session whose opener has 8 KB, in the bytes
// of every dialect.
func openingAnchor(b *testing.B) *logsink.Anchor {
	b.Helper()
	text := strings.Repeat("- Never touch the billing tables; ask \"who owns this?\" first.\n", 133)[:8192]
	msgs := []logsink.Message{{Role: "user", Text: text}}
	a := &logsink.Anchor{
		V: logsink.Version, Key: benchKey(0), Epoch: 1, Reason: logsink.ReasonInitial, Decision: logsink.Inject,
		Prefix: logsink.PrefixHash(msgs), Messages: msgs,
		Contributors: []logsink.Contribution{{Name: "AGENTS.md", Kind: "file", SHA256: strings.Repeat("5f", 32), Bytes: len(text), Messages: 1, Took: 123456, Outcome: "ok"}},
		Route:        "anthropic", Source: "header x-claude-code-session-id",
		Config: strings.Repeat("c0", 32), Preface: "v0.0.0-20260101000000-0123456789ab", Time: time.Now(),
	}
	for _, name := range dialect.Names() {
		d, err := dialect.Get(name)
		if err != nil {
			b.Fatal(err)
		}
		rs, err := d.Renderings([]dialect.Message{dialect.Message(msgs[0])})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range rs {
			a.Renderings = append(a.Renderings, logsink.NewRendering(r.Name, r.Bytes))
		}
	}
	return a
}

// latencies are how long each of many operations took.
type latencies []time.Duration

func (l *latencies) time(b *testing.B, f func() error) {
	start := time.Now()
	err := f()
	*l = append(*l, time.Since(start))
	if err != nil {
		b.Fatal(err)
	}
}

func (l latencies) report(b *testing.B) {
	if len(l) == 0 {
		return
	}
	slices.Sort(l)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	b.ReportMetric(us(l[len(l)/2]), "p50-us")
	b.ReportMetric(us(l[len(l)*99/100]), "p99-us")
}

// timed runs f from so many goroutines and reports how long each call took, and
// the CPU time of this process for one.
func timed(b *testing.B, callers int, f func() error) {
	var next atomic.Int64
	took := make([]latencies, callers)
	done := make(chan error, callers)
	before := cpuTime()
	b.ResetTimer()
	for i := range callers {
		go func() {
			for next.Add(1) <= int64(b.N) {
				start := time.Now()
				if err := f(); err != nil {
					done <- err
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
			done <- nil
		}()
	}
	for range callers {
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
	slices.Concat(took...).report(b)
}
