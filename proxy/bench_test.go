package proxy

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
)

// agentBody is about n bytes of an agent's request: a system prompt, tools, and
// a conversation of tool calls with escapes and non-ASCII text in it.
func agentBody(n int) string {
	word := `func (s *Server) handle(r \"quoted\") returns \u00e9rror\n\tif err != nil { – ok } `
	text := func(n int) string { return strings.Repeat(word, n/len(word)+1) }
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"claude-opus-4-8","messages":[{"role":"user","content":[{"type":"text","text":"%s"}]}`, text(n/20))
	for i := 0; b.Len() < n*3/4; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"read","input":{"path":"/a/%d"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, text(min(n/10, 4000)))
	}
	fmt.Fprintf(&b, `],"system":[{"type":"text","text":"%s"}],"tools":[`, text(n/20))
	for i := range 8 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"%s","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`, i, text(n/200))
	}
	b.WriteString(`],"max_tokens":1000,"stream":true}`)
	return b.String()
}

// BenchmarkPath is everything between a request read and its bytes handed to the
// kernel: head, routing, scan, identity, the known epoch, splice, digest,
// records. The network is not in it.
func BenchmarkPath(b *testing.B) {
	opener := contrib.Config{Kind: "text", Text: strings.Repeat("frozen prefix ", 293)}
	bn := newBench(b, contributors(opener))
	for _, size := range []struct {
		name string
		n    int
	}{{"2KB", 2000}, {"100KB", 100_000}, {"1MB", 1_000_000}} {
		b.Run(size.name, func(b *testing.B) {
			body := agentBody(size.n)
			ctx := fakeRequest(b, bn, body, "s-"+size.name)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
				x := bn.srv.begin(ctx)
				if err := x.prepare(); err != nil {
					b.Fatal(err)
				}
				head := x.appendHead(nil)
				parts := x.outgoing(append(make(net.Buffers, 0, 8), head))
				if !x.unchanged(parts[1:]) {
					b.Fatal("changed")
				}
				x.finish()
			}
		})
	}
}

// BenchmarkPathTurns is the path for a conversation that goes on: each request
// has one turn more than the one before, in front of a system text and tools
// that are always the same, as Claude Code sends them. With no body kept, all of
// it is scanned and hashed again.
func BenchmarkPathTurns(b *testing.B) {
	for _, size := range []int{100_000, 1_000_000} {
		for name, kept := range map[string]int{"kept": 0, "none": -1} {
			b.Run(fmt.Sprintf("%dKB/%s", size/1000, name), func(b *testing.B) {
				bn := newBench(b, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config.Limits.KeptBodies = kept })
				bodies := conversation(agentBody(size), 20)
				ctx := fakeRequest(b, bn, bodies[0], "s")
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					prepareOnce(b, bn, ctx, bodies[i%len(bodies)])
				}
			})
		}
	}
}

// conversation is the requests of one that goes on for n turns.
func conversation(body string, n int) []string {
	const end = `],"system":`
	bodies := []string{body}
	for i := range n {
		turn := fmt.Sprintf(`,{"role":"assistant","content":[{"type":"text","text":"%d done"}]},{"role":"user","content":"go on"}`, i)
		bodies = append(bodies, strings.Replace(bodies[i], end, turn+end, 1))
	}
	return bodies
}

// BenchmarkPathSessions shows that a request costs the same however many
// sessions the log and this process know. A million of them are frozen first,
// which takes some minutes; -short leaves that out.
func BenchmarkPathSessions(b *testing.B) {
	for _, n := range []int{10, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("freezing a million sessions takes minutes")
			}
			bn := newBench(b, func(_ *bench, _ *Setup, _ *Deps, o *prefixstore.Options) { o.CacheBytes = 1 << 30 })
			body := agentBody(2000)
			freezeSessions(b, bn, body, n)
			requests := make([]*fasthttp.RequestCtx, 64)
			for i := range requests {
				requests[i] = fakeRequest(b, bn, body, fmt.Sprint("s-", i*n/64))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				prepareOnce(b, bn, requests[i%64], body)
			}
		})
	}
}

// freezeSessions sends the first request of n sessions, many at a time, so that
// the log commits them in groups.
func freezeSessions(b *testing.B, bn *bench, body string, n int) {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 256 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				prepareOnce(b, bn, fakeRequest(b, bn, body, fmt.Sprint("s-", i)), body)
			}
		})
	}
	wg.Wait()
	bn.flush()
}

func prepareOnce(b *testing.B, bn *bench, ctx *fasthttp.RequestCtx, body string) {
	ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
	x := bn.srv.begin(ctx)
	if err := x.prepare(); err != nil {
		b.Error(err)
	}
	x.finish()
}

// fakeRequest is a parsed request on the bench's one connection, which nobody
// reads.
func fakeRequest(b testing.TB, bn *bench, body, session string, header ...string) *fasthttp.RequestCtx {
	b.Helper()
	left, right := net.Pipe()
	defer right.Close()
	conn, err := wire.NewConn(left, bn.srv.watch, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	ctx := &fasthttp.RequestCtx{}
	header = append(header, "x-claude-code-session-id", session, "user-agent", "bench", "accept", "*/*")
	text := rawPost("/v1/messages?beta=true", body, header...)
	ctx.Init2(conn, nil, false)
	if err := ctx.Request.Header.Read(bufio.NewReaderSize(strings.NewReader(text), 1<<10)); err != nil {
		b.Fatal(err)
	}
	return ctx
}
