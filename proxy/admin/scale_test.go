package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// A counted reader counts what is asked of a log.
type counted struct {
	logsink.Reader
	sessions, anchors, records, rows, blobs int
}

func (c *counted) Sessions(ctx context.Context, tenant, prefix string, f func(logsink.SessionInfo) bool) error {
	return c.Reader.Sessions(ctx, tenant, prefix, func(i logsink.SessionInfo) bool { c.sessions++; return f(i) })
}

func (c *counted) Anchors(ctx context.Context, k logsink.Key) ([]*logsink.Anchor, error) {
	c.anchors++
	return c.Reader.Anchors(ctx, k)
}

func (c *counted) Records(ctx context.Context, k logsink.Key, after int64, f func(int64, logsink.Record) bool) error {
	c.records++
	return c.Reader.Records(ctx, k, after, func(at int64, r logsink.Record) bool { c.rows++; return f(at, r) })
}

func (c *counted) ReadBlob(ctx context.Context, d logsink.Digest) ([]byte, error) {
	c.blobs++
	return c.Reader.ReadBlob(ctx, d)
}

// TestPagesAskTheLogForLittle: what a page costs does not grow with the number of
// sessions. Lists come from memory; a page of a session reads that session alone.
func TestPagesAskTheLogForLittle(t *testing.T) {
	o, r := fillSample(t)
	hero := "tenant=" + sampleTenant + "&session=" + heroSession
	f := func(target string, anchors, records, blobs int) {
		t.Helper()
		c := &counted{Reader: r}
		d := deps()
		d.Log, d.Overview = c, o
		if resp := ask(d, asked{method: "GET", target: target, header: http.Header{"Accept": {"text/html"}}}); resp.StatusCode != 200 {
			t.Fatalf("GET %s = %d", target, resp.StatusCode)
		}
		if c.sessions > 0 || c.anchors > anchors || c.records > records || c.blobs > blobs || c.rows > 200*records {
			t.Errorf("GET %s read %d sessions, %d anchors, %d times records (%d), %d blobs; want at most 0, %d, %d (%d), %d",
				target, c.sessions, c.anchors, c.records, c.rows, c.blobs, anchors, records, 200*records, blobs)
		}
	}
	f("/", 0, 0, 0)
	f("/?span=days&by=money", 0, 0, 0)
	f("/sessions?q=a&sort=paid&from=10", 0, 0, 0)
	f("/alarms", 0, 0, 0)
	f("/api/overview", 0, 0, 0)
	f("/api/sessions?n=1000", 0, 0, 0)
	f("/api/prefixes", 0, 0, 0)
	f("/prefixes", prefixesShown, 0, 0)
	f("/prefix?hash="+o.prefixes().Prefixes[0].Hash, 2, 0, 0)
	f("/session?"+hero, 1, 1, diffsShown*2*len(headerParts))
	f("/request?"+hero+"&id=req-hero-0014", 1, 1, 2)
	f("/header?"+hero+"&id=h2", 1, 1, 3*len(headerParts))
}

// bigSessions is how many sessions the benchmark's log has.
const bigSessions = 100_000

// bigLog writes the log: sessions with an anchor each, of one of twenty
// versions, and four requests with their answers.
func bigLog(b *testing.B) logsink.Reader {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		b.Setenv("TMPDIR", "/dev/shm") // to write it is not what is measured
	}
	l, r := openLog(b)
	s := &sample{t: b, log: l}
	start := time.Now().UTC().Add(-20 * time.Hour)
	var all sync.WaitGroup
	for w := range 64 { // anchors of one moment are written together
		all.Go(func() {
			for i := w; i < bigSessions; i += 64 {
				k := logsink.Key{Tenant: sampleTenant, Session: fmt.Sprintf("0193a8d2-5b1c-7aa0-9d7e-%012d", i)}
				s.versioned(k, i%20, start.Add(time.Duration(i)*500*time.Millisecond))
			}
		})
	}
	all.Wait()
	for chunk := range slices.Chunk(seq(bigSessions), 1000) {
		var recs []logsink.Record
		for _, i := range chunk {
			name := fmt.Sprintf("0193a8d2-5b1c-7aa0-9d7e-%012d", i)
			for n := range 4 {
				var cause *logsink.Cause
				if n == 0 {
					cause = &logsink.Cause{Name: "cold", Owner: "provider", Missed: 100, Lost: int64(i)}
				}
				req, resp := exchangeAt(start.Add(time.Duration(i)*500*time.Millisecond+time.Duration(n)*time.Minute), name, fmt.Sprintf("r-%d-%d", i, n), &logsink.Usage{Fresh: ptr(10), CacheRead: ptr(int64(i)), Output: ptr(5)}, cost(int64(i)), cause)
				req.Tenant, resp.Tenant = sampleTenant, sampleTenant
				recs = append(recs, logsink.Record{Request: req}, logsink.Record{Response: resp})
			}
		}
		if err := l.Append(context.Background(), recs, nil); err != nil {
			b.Fatal(err)
		}
	}
	return r
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// versioned freezes an epoch with one of many versions of a prefix.
func (s *sample) versioned(k logsink.Key, version int, at time.Time) {
	ms := []logsink.Message{{Role: "user", Text: fmt.Sprintf("%s\nversion %d", sampleTexts[0], version)}}
	a := &logsink.Anchor{V: logsink.Version, Key: k, Epoch: 1, Reason: logsink.ReasonInitial, Decision: logsink.Inject, Prefix: logsink.PrefixHash(ms), Messages: ms,
		Renderings: []logsink.Rendering{logsink.NewRendering("anthropic.messages", fmt.Appendf(nil, "%q", ms[0].Text))}, Route: "anthropic", Time: at}
	if _, err := s.log.Freeze(context.Background(), a); err != nil {
		s.t.Error(err)
	}
}

// BenchmarkPages tells how long pages take over a log of a hundred thousand
// sessions, and how long it takes to read that at start: the issue wants pages
// within 100 ms.
func BenchmarkPages(b *testing.B) {
	r := bigLog(b)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	o := newOverview(r, time.Now)
	began := time.Now()
	recent, err := o.list(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("listed %d sessions in %v", o.find(query{Sort: "last"}).Known, time.Since(began))
	began = time.Now()
	ctx, cancel := context.WithTimeout(b.Context(), fillTime)
	err = o.readPast(ctx, recent)
	cancel()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, logsink.ErrUnavailable) {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Logf("read the answers of %d of %d sessions in %v; the overview takes %d MB", o.past.Sessions, o.past.Of, time.Since(began), (after.HeapAlloc-before.HeapAlloc)>>20)
	at := served(b, Deps{Ready: func() bool { return true }, Reload: func() error { return nil }, Metrics: telemetry.New().Handler(), Log: r, Overview: o, Version: "v", Loopback: true})
	one := fmt.Sprintf("tenant=%s&session=0193a8d2-5b1c-7aa0-9d7e-%012d", sampleTenant, bigSessions/2)
	for _, p := range [][2]string{
		{"overview", "/"}, {"sessions", "/sessions"}, {"sessions by cost", "/sessions?sort=paid"}, {"sessions found", "/sessions?q=9999"}, {"sessions page 1000", "/sessions?sort=paid&from=50000"},
		{"session", "/session?" + one}, {"request", "/request?" + one + fmt.Sprintf("&id=r-%d-2", bigSessions/2)}, {"prefixes", "/prefixes"}, {"prefix", "/prefix?hash=" + o.prefixes().Prefixes[0].Hash}, {"alarms", "/alarms"}, {"overview as JSON", "/api/overview"},
	} {
		b.Run(p[0], func(b *testing.B) {
			slowest := time.Duration(0)
			for b.Loop() {
				start := time.Now()
				if status, _, _ := browse(b, at+p[1]); status != 200 {
					b.Fatalf("GET %s = %d", p[1], status)
				}
				slowest = max(slowest, time.Since(start))
			}
			b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
		})
	}
}
