//go:build unix

package logsink_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// With -sessions 1000000 the benchmarks run on a log that has that many.
var presentSessions = flag.Int("sessions", 0, "benchmarks: sessions that are in the log before")

func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func BenchmarkFreeze(b *testing.B) {
	for _, racers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("callers=%d", racers), func(b *testing.B) {
			l := benchLog(b)
			text := ""
			for range 512 {
				text += "rule 17: "
			}
			a := logtest.Anchor(logsink.Key{Tenant: "b0b"}, 1, text)
			var n atomic.Int64
			b.SetParallelism(max(1, racers/2)) // times GOMAXPROCS
			before := cpuTime()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					mine := *a
					mine.Session = fmt.Sprintf("bench-%d", n.Add(1))
					if _, err := l.Freeze(context.Background(), &mine); err != nil {
						b.Error(err)
					}
				}
			})
			report(b, before, 1, "freeze")
		})
	}
}

// A batch of the queue at 2,000 requests a second, from few busy sessions and
// from many.
func BenchmarkAppend(b *testing.B) {
	bench := func(sessions, perBatch int) {
		b.Run(fmt.Sprintf("sessions=%d/records=%d", sessions, 2*perBatch), func(b *testing.B) {
			l := benchLog(b)
			before := cpuTime()
			b.ResetTimer()
			for i := range b.N {
				b.StopTimer()
				made := cpuTime()
				recs := benchBatch(i, sessions, perBatch)
				before += cpuTime() - made
				b.StartTimer()
				if err := l.Append(context.Background(), recs, nil); err != nil {
					b.Fatal(err)
				}
			}
			report(b, before, 2*perBatch, "record")
		})
	}
	bench(64, 1000)
	bench(64, 100)
	bench(1000, 1000)
	bench(100_000, 1000)
}

func benchBatch(batch, sessions, n int) []logsink.Record {
	recs := make([]logsink.Record, 0, 2*n)
	for i := range n {
		id := fmt.Sprintf("req-%d-%d", batch, i)
		k := benchKey((batch*n + i) % sessions)
		q := logtest.Request(k, "main", id, "hdr-1", i)
		q.Request.Splices = []logsink.Splice{{Offset: 1234, Length: 4097, Kind: "prefix", Rendering: "anthropic.messages"}}
		recs = append(recs, q, logtest.Response(k, "main", id))
	}
	return recs
}

func benchKey(i int) logsink.Key {
	return logsink.Key{Tenant: "5f0c2a9be41d77c35f0c2a9be41d77c3", Session: fmt.Sprintf("0198c5a4-7f2e-7c1b-9d3e-%012d", i)}
}

func report(b *testing.B, before time.Duration, per int, what string) {
	b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/1000/float64(b.N*per), "cpu-us/"+what)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*per), "us/"+what)
}

// benchLog opens an empty log, or the one of this run that has -sessions.
func benchLog(b *testing.B) *logsink.SQLite {
	b.Helper()
	path := filepath.Join(b.TempDir(), "log.db")
	fill := *presentSessions > 0
	if fill {
		path = filepath.Join(os.TempDir(), fmt.Sprintf("preface-bench-%d-%d.db", os.Getpid(), *presentSessions))
		_, err := os.Stat(path)
		fill = err != nil
	}
	l, err := logsink.OpenSQLite(context.Background(), path, logsink.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	if fill {
		addSessions(b, path, *presentSessions)
	}
	return l
}

// addSessions writes rows as Freeze and Append do, in large transactions.
func addSessions(b *testing.B, path string, n int) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(0)&_pragma=cache_size(-65536)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	session, err := tx.Prepare(`INSERT INTO session (key, tenant, since, anchored, last, epoch, anchor, tail, heads, sum, session) VALUES (?,?,?,?,?,1,?,0,?,0,?)`)
	if err != nil {
		b.Fatal(err)
	}
	anchor, err := tx.Prepare(`INSERT INTO anchor (prev, key, epoch, sum, doc) VALUES (0,?,1,0,?)`)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().UnixNano()
	for i := range n {
		key := make([]byte, 16)
		rand.Read(key)
		if _, err := session.Exec(key, "5f0c2a9be41d77c35f0c2a9be41d77c3", now+int64(i), now+int64(i), now, i+1, make([]byte, 25), "other-"+hex.EncodeToString(key)); err != nil {
			b.Fatal(err)
		}
		if _, err := anchor.Exec(key, string(logsink.Record{Anchor: logtest.BareAnchor(benchKey(i), 1, "empty")}.AppendJSON(nil))); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}
