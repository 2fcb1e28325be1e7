package account

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

var (
	benchRequests = flag.Int("requests", 20_000, "requests in the benchmark's log")
	benchLog      = flag.String("benchlog", "", "make the benchmark's log at this path and leave it there")
)

// BenchmarkRead reads a log of 20 requests in each session, and tells how much
// memory was in use at most.
func BenchmarkRead(b *testing.B) {
	c := logsink.DefaultConfig()
	c.Path, c.Sync = b.TempDir()+"/preface.db", logsink.SyncNormal
	if *benchLog != "" {
		c.Path = *benchLog
	}
	s := openSample(b, c)
	const each = 20
	for i := 0; i < *benchRequests; i += each {
		s.random(rand.New(rand.NewPCG(1, uint64(i))), fmt.Sprintf("%08d-session", i/each), each)
	}
	s.write()
	var peak uint64
	for b.Loop() {
		r := s.read(func(o *Options) {
			o.Progress = func(far Progress) {
				if far.Records%65536 == 0 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapInuse)
				}
			}
		})
		if r.Total.Requests != int64(*benchRequests) {
			b.Fatalf("%d requests, want %d", r.Total.Requests, *benchRequests)
		}
	}
	b.ReportMetric(float64(peak)/(1<<20), "MiB-in-use")
	b.ReportMetric(float64(b.N**benchRequests)/b.Elapsed().Seconds(), "requests/s")
}

// random puts a session's requests somewhere in the week.
func (s *sample) random(rnd *rand.Rand, session string, requests int) {
	ago := time.Duration(1+rnd.Int64N(6*24*60)) * time.Minute
	s.freeze(key(session), 1, fmt.Sprintf("version %d", rnd.IntN(4)), sampleEnd.Add(-ago))
	model := []string{"claude-opus-5-5", "claude-haiku-5", "gpt-6.2-sol"}[rnd.IntN(3)]
	before := int64(8000)
	for range requests {
		grown := 200 + rnd.Int64N(2000)
		p := logsink.Response{Usage: plainUsage(rnd.Int64N(20), before, grown, 100+rnd.Int64N(800)), FirstByte: time.Second, Total: 2 * time.Second, Bytes: 2000}
		if rnd.IntN(20) == 0 {
			p.Usage.CacheRead, p.Usage.Write5m = n(0), n(before+grown)
			p.Cause = randomCause(rnd, before)
		}
		p.Cost = listPrice(p.Usage)
		if rnd.IntN(50) == 0 {
			p.Cost, p.Unpriced = nil, usage.UnknownTier
		}
		ago -= time.Duration(rnd.Int64N(int64(ago)/100 + 1))
		s.put(made{session: session, ago: ago, model: model, answer: p})
		before += grown
	}
	if len(s.recs) > 4000 {
		s.write()
	}
}

func randomCause(rnd *rand.Rand, missed int64) *logsink.Cause {
	c := []logsink.Cause{
		{Name: "tools_changed", Owner: "client", Section: "tools", Offset: at(1234), Index: at(3), Detail: "tools added fetch, removed read_file", Waste: true},
		{Name: "expired", Owner: "client", Detail: "12m10s from start to start, with a lifetime of 5m"},
		{Name: "system_changed", Owner: "client", Section: "system", Offset: at(128), Index: at(0), Waste: true, Detail: "volatile token in system[0]: a date, 2026-11-29 → 2026-11-30; keep it out of what is cached"},
		{Name: "history_rewritten", Owner: "client", Section: "history", Offset: at(90210), Index: at(17), Detail: "message 17 edited", Waste: true},
		{Name: "provider", Owner: "provider", Detail: "nothing on our side changed"},
	}[rnd.IntN(5)]
	c.Expected, c.Missed, c.Lost = missed, missed, missed*5_750_000
	return &c
}

func listPrice(u *logsink.Usage) *logsink.Cost {
	in := *u.Fresh + *u.CacheRead + *u.Write5m
	return &logsink.Cost{
		Paid:     *u.Fresh*5_000_000 + *u.CacheRead*500_000 + *u.Write5m*6_250_000 + *u.Output*25_000_000,
		Uncached: in*5_000_000 + *u.Output*25_000_000, Prefix: 6000 * 500_000, Estimated: true, Price: "list",
	}
}
