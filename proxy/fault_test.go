package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// eventually waits, with a bound far above what it should take, for something
// that another goroutine will do.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// raw opens a connection to the proxy and sends text on it.
func (b *bench) raw(text string) *net.TCPConn {
	b.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		b.t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// rawPost is a request as text, with an API key of its own or this one.
func rawPost(path, body string, header ...string) string {
	var h strings.Builder
	if !slices.Contains(header, "x-api-key") {
		header = append(header, "x-api-key", "sk-test-1")
	}
	for i := 0; i+1 < len(header); i += 2 {
		fmt.Fprintf(&h, "%s: %s\r\n", header[i], header[i+1])
	}
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", path, h.String(), len(body), body)
}

// leavings are the ways in which a client goes away.
var leavings = map[string]func(c *net.TCPConn){
	"close":      func(c *net.TCPConn) { c.Close() },
	"reset":      func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
	"half-close": func(c *net.TCPConn) { _ = c.CloseWrite() },
}

// TestI7_Cancel: whatever way a client leaves, and in whichever phase, the
// provider's request ends; here it would otherwise last half a minute.
func TestI7_Cancel(t *testing.T) {
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	for how, leave := range leavings {
		for phase, fault := range map[string]string{"before the first byte": "delay=30s", "in mid-stream": "gap=30s"} {
			t.Run(how+" "+phase, func(t *testing.T) {
				b := newBench(t)
				c := b.raw(rawPost("/v1/messages", stream, "x-provider-fault", fault))
				eventually(t, "the provider has the request", func() bool {
					all := b.received()
					return len(all) > 0 && !all[0].ReceivedAt.IsZero() && (fault != "gap=30s" || !all[0].AnswerAt.IsZero())
				})
				leave(c)
				eventually(t, "the provider sees the request end", func() bool { return b.received()[0].Aborted() })
				eventually(t, "the end is recorded", func() bool {
					resps := b.responses()
					return len(resps) == 1 && resps[0].End == logsink.EndClientGone
				})
			})
		}
	}
}

// TestI7_CancelWhileComposing: nothing reaches the provider, and what was
// composed is frozen all the same, once.
func TestI7_CancelWhileComposing(t *testing.T) {
	release := make(chan struct{})
	svc := newService(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		io.WriteString(w, `{"messages":[{"role":"user","text":"late"}]}`)
	})
	b := newBench(t, contributors(contrib.Config{Kind: "http", Name: "slow", URL: svc, Deadline: 30 * time.Second}),
		func(_ *bench, _ *Setup, _ *Deps, o *prefixstore.Options) { o.ComposeTimeout = 30 * time.Second })
	c := b.raw(rawPost("/v1/messages", anthropicTurn, "x-claude-code-session-id", "s"))
	eventually(t, "the request is under way", func() bool { return b.srv.inFlight.Load() == 1 })
	c.Close()
	eventually(t, "the request is over", func() bool { return b.srv.inFlight.Load() == 0 })
	if n := len(b.received()); n != 0 {
		t.Errorf("the provider got %d requests of a client that left", n)
	}
	close(release)
	if r := b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "s"); r.StatusCode != 200 {
		t.Fatalf("next request: %d %s", r.StatusCode, r.body)
	}
	if !bytes.Contains(b.last().Body, []byte("late")) {
		t.Errorf("the next request has no prefix: %s", b.last().Body)
	}
}

// A silentLog finds nothing, for as long as anybody waits.
type silentLog struct{ logsink.Log }

func (silentLog) Find(ctx context.Context, _ string, _ []string) (logsink.Key, string, error) {
	<-ctx.Done()
	return logsink.Key{}, "", fmt.Errorf("%w: %w", logsink.ErrUnavailable, ctx.Err())
}

// TestI7_CancelWhileTheLogIsAsked: a client that leaves while the log looks for
// its session is no trouble of the log's.
func TestI7_CancelWhileTheLogIsAsked(t *testing.T) {
	b := newBench(t, func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.Log = silentLog{d.Log} })
	c := b.raw(rawPost("/v1/messages", talks()["anthropic"].body(3, false)))
	eventually(t, "the request is under way", func() bool { return b.srv.inFlight.Load() == 1 })
	c.Close()
	eventually(t, "the request is over", func() bool { return b.srv.inFlight.Load() == 0 })
	if m := b.metrics(); strings.Contains(m, "log_down") || strings.Contains(b.out.String(), "unavailable") {
		t.Errorf("a client that left counts as a log that is down: %s", b.out.String())
	}
	if m := b.metrics(); !strings.Contains(m, `preface_requests_total{end="client_gone",route="anthropic"} 1`) {
		t.Error("a client that left is not counted")
	}
}

// newService is an HTTP server for contributors.
func newService(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	return "http://" + ln.Addr().String()
}

// TestI8_CutAnywhere: wherever the provider's side breaks, the client's side
// breaks too, and the log says so.
func TestI8_CutAnywhere(t *testing.T) {
	b := newBench(t)
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	for _, body := range []string{stream, anthropicTurn} {
		whole := b.post("/v1/messages", body)
		for k := 0; k < len(whole.body); k += 1 + len(whole.body)/40 {
			for _, how := range []string{"fin", "rst"} {
				r := b.try("/v1/messages", body, "x-provider-fault", fmt.Sprintf("cut=%s@%d", how, k))
				if r.err == nil && r.Response != nil && r.StatusCode == 200 {
					t.Errorf("cut=%s@%d of %d: the client saw a whole answer of %d bytes", how, k, len(whole.body), len(r.body))
				}
			}
		}
	}
	for _, resp := range b.responses() {
		if resp.End == logsink.EndComplete && resp.Bytes < 100 {
			t.Errorf("recorded %+v as complete", resp)
		}
	}
}

// try is post for a request that may get no answer at all.
func (b *bench) try(path, body string, header ...string) reply {
	b.t.Helper()
	req, err := http.NewRequest("POST", b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("x-api-key", "sk-test-1")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.http.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	r := reply{Response: resp}
	r.body, r.err = io.ReadAll(resp.Body)
	return r
}

// TestI8_Ends: how streams end, as the client and the log see it.
func TestI8_Ends(t *testing.T) {
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	f := func(fault, wantEnd string, clientSeesError bool) {
		t.Run(fault, func(t *testing.T) {
			b := newBench(t)
			r := b.try("/v1/messages", stream, "x-provider-fault", fault)
			if (r.err != nil) != clientSeesError {
				t.Errorf("client's error %v, want one: %v", r.err, clientSeesError)
			}
			if resps := b.responses(); len(resps) != 1 || resps[0].End != wantEnd {
				t.Errorf("recorded %+v, want end %s", resps, wantEnd)
			}
		})
	}
	f("no-terminal", logsink.EndNoTerminal, false)
	f("error@2", logsink.EndError, false)
	f("bad-chunk@2", logsink.EndCut, true)
	f("cut=rst@300", logsink.EndCut, true)
}

// TestI10_Stalled: a provider that falls silent is given up, one that pings is
// not.
func TestI10_Stalled(t *testing.T) {
	short := func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config.Timeouts.StreamIdle = 300 * time.Millisecond
	}
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	b := newBench(t, short)
	if r := b.try("/v1/messages", stream, "x-provider-fault", "stall@2"); r.err == nil {
		t.Errorf("a stalled stream ended cleanly with %q", r.body)
	}
	if r := b.try("/v1/messages", stream, "x-provider-fault", "gap=700ms,ping=100ms"); r.err != nil {
		t.Errorf("a stream with pings was cut: %v", r.err)
	}
	resps := b.responses()
	if resps[0].End != logsink.EndStalled || resps[1].End != logsink.EndComplete {
		t.Errorf("recorded ends %s and %s, want %s and %s", resps[0].End, resps[1].End, logsink.EndStalled, logsink.EndComplete)
	}
}

// TestI10_FirstByte: a provider that never answers is given up as well.
func TestI10_FirstByte(t *testing.T) {
	b := newBench(t, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config.Timeouts.FirstByte = 200 * time.Millisecond
	})
	r := b.post("/v1/messages", anthropicTurn, "x-provider-fault", "delay=30s")
	if r.StatusCode != 504 || r.Header.Get("x-should-retry") != "false" || !strings.Contains(string(r.body), "timeouts.first_byte") {
		t.Errorf("got %d (x-should-retry %q): %s", r.StatusCode, r.Header.Get("x-should-retry"), r.body)
	}
}

// TestI9_ResetBeforeTheAnswer: sent once, and nobody is told to send it again.
func TestI9_ResetBeforeTheAnswer(t *testing.T) {
	b := newBench(t)
	r := b.post("/v1/messages", anthropicTurn, "x-provider-fault", "reset")
	if r.StatusCode != 502 || r.Header.Get("x-should-retry") != "false" {
		t.Errorf("got %d (x-should-retry %q): %s", r.StatusCode, r.Header.Get("x-should-retry"), r.body)
	}
	if n := len(b.received()); n != 1 {
		t.Errorf("the provider got %d requests, want 1", n)
	}
	if resps := b.responses(); len(resps) != 1 || resps[0].End != logsink.EndNoAnswer {
		t.Errorf("recorded %+v, want one %s", resps, logsink.EndNoAnswer)
	}
}

// TestI9_DeadPooledConnection: the provider closes idle connections; the next
// request is sent once, on a new one, and works.
func TestI9_DeadPooledConnection(t *testing.T) {
	var served atomic.Int64
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	closed := make(chan struct{}, 100)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			req, err := http.ReadRequest(bufio.NewReader(c))
			if err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
				served.Add(1)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") // keep-alive, as far as it says
			}
			c.Close()
			closed <- struct{}{}
		}
	}()
	b := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config = b.config("http://" + ln.Addr().String())
	})
	for i := range 20 {
		if r := b.post("/v1/messages", anthropicTurn); r.StatusCode != 200 {
			t.Fatalf("request %d: %d %s", i, r.StatusCode, r.body)
		}
		<-closed
		up := b.srv.current.Load().routes[0].upstream
		eventually(t, "the watcher knows", func() bool { return gone(up) })
	}
	if n := served.Load(); n != 20 {
		t.Errorf("20 requests were sent %d times", n)
	}
}

// gone reports whether all pooled connections have been closed by their peer.
func gone(u *upstream) bool {
	l, err := u.acquire(context.Background())
	if err != nil {
		return false
	}
	defer l.done(true)
	return !l.wire.Gone()
}

// TestI9_Unreached: nothing was sent, so the client may try again.
func TestI9_Unreached(t *testing.T) {
	f := func(name, upstream string) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config = b.config(upstream) })
			r := b.post("/v1/messages", anthropicTurn)
			if r.StatusCode != 502 || r.Header.Get("x-should-retry") != "true" || r.Header.Get("retry-after") == "" {
				t.Errorf("got %d (x-should-retry %q, retry-after %q): %s", r.StatusCode, r.Header.Get("x-should-retry"), r.Header.Get("retry-after"), r.body)
			}
			if resps := b.responses(); len(resps) != 1 || resps[0].End != logsink.EndRefused {
				t.Errorf("recorded %+v, want one %s", resps, logsink.EndRefused)
			}
		})
	}
	f("refused", "http://127.0.0.1:1")
	f("no such name", "http://no-such-host.invalid")
	f("TLS name wrong", wrongName(t))
}

// TestSmuggling: framing that two servers could read differently ends here.
func TestSmuggling(t *testing.T) {
	b := newBench(t)
	f := func(name, request string, wantSent int) {
		t.Helper()
		before := len(b.received())
		c := b.raw(request)
		_ = c.CloseWrite() // nothing more comes
		answer, _ := io.ReadAll(c)
		if n := len(b.received()) - before; n > wantSent {
			t.Errorf("%s: the provider got %d requests, want at most %d; answer %.60q", name, n, wantSent, answer)
		}
		if n := bytes.Count(answer, []byte("HTTP/1.1 200")); n > wantSent {
			t.Errorf("%s: %d requests answered, want at most %d", name, n, wantSent)
		}
	}
	body := anthropicTurn
	hidden := rawPost("/v1/messages", body)
	head := "POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: sk-test-1\r\n"
	f("CL and TE", head+fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 5+len(hidden))+hidden, 0)
	f("two CL", head+"Content-Length: 0\r\nContent-Length: 5\r\n\r\n"+hidden, 0)
	f("two TE", head+"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"+hidden, 0)
	f("folded TE", head+"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"+hidden, 0)
	f("space in a name", head+"X Y: v\r\nContent-Length: 0\r\n\r\n"+hidden, 0)
	f("space before the colon", head+"Content-Length : 5\r\n\r\nhello"+hidden, 0)
	f("HTTP/2.0", strings.Replace(head, "HTTP/1.1", "HTTP/2.0", 1)+"Content-Length: 0\r\n\r\n"+hidden, 0)
	f("GET with a body", "GET /v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nContent-Length: 5\r\n\r\nhello"+hidden, 0)
	f("absolute target", "POST http://other/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0)
}

// TestLimits: told in the dialect's shape, with the setting's name.
func TestLimits(t *testing.T) {
	b := newBench(t, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config.Limits.Body, s.Config.Limits.Header = 4096, 4096
	})
	expect := func(name string, r reply, status int, setting string) {
		t.Helper()
		if r.StatusCode != status || !bytes.Contains(r.body, []byte(setting)) || !bytes.Contains(r.body, []byte(`"error"`)) {
			t.Errorf("%s: %d %s, want %d that names %s", name, r.StatusCode, r.body, status, setting)
		}
	}
	expect("body", b.post("/v1/messages", strings.Repeat(" ", 5000)), 413, "limits.body")
	expect("bomb", b.post("/v1/messages", zipped(t, strings.Repeat(" ", 1<<20)), "content-encoding", "gzip"), 413, "limits.body")
	expect("header", b.post("/v1/messages", anthropicTurn, "x-long", strings.Repeat("a", 8000)), 431, "limits.header")
	if n := len(b.received()); n != 0 {
		t.Errorf("%d of them went upstream", n)
	}
}

// TestDrain: a running stream ends in its own time; new connections are
// refused; one that lasts past the deadline is cut, visibly.
func TestDrain(t *testing.T) {
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	t.Run("in time", func(t *testing.T) {
		b := newBench(t)
		got := make(chan reply, 1)
		go func() { got <- b.try("/v1/messages", stream, "x-provider-fault", "gap=50ms") }()
		eventually(t, "the stream runs", func() bool { return b.srv.inFlight.Load() == 1 })
		b.stop()
		if r := <-got; r.err != nil || !bytes.Contains(r.body, []byte("message_stop")) {
			t.Errorf("the stream was cut by a drain: %v", r.err)
		}
		if b.srv.Ready() {
			t.Error("ready after shutdown")
		}
	})
	t.Run("too long", func(t *testing.T) {
		b := newBench(t)
		got := make(chan reply, 1)
		go func() { got <- b.try("/v1/messages", stream, "x-provider-fault", "stall@2") }()
		eventually(t, "the stream runs", func() bool { return b.srv.inFlight.Load() == 1 && len(b.received()) == 1 })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := b.srv.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown = %v, want DeadlineExceeded", err)
		}
		if r := <-got; r.err == nil {
			t.Errorf("a stream that was cut at the deadline looked whole: %q", r.body)
		}
	})
}

// TestI2_ReloadUnderLoad: streams that run while the configuration is replaced
// a hundred times end well.
func TestI2_ReloadUnderLoad(t *testing.T) {
	b := newBench(t)
	stream := strings.Replace(anthropicTurn, `{"model"`, `{"stream":true,"model"`, 1)
	results := make(chan reply, 8)
	for i := range cap(results) {
		go func() {
			results <- b.try("/v1/messages", stream, "x-claude-code-session-id", fmt.Sprint(i), "x-provider-fault", "gap=10ms")
		}()
	}
	for i := range 100 {
		setup := Setup{Config: b.config(b.up.URL()), Contributors: []contrib.Config{{Kind: "text", Text: fmt.Sprint("version ", i)}}}
		if i%3 == 0 {
			setup.Config.Routes[0].Policy = "no such policy"
		}
		if err := b.srv.Reload(setup); (err != nil) != (i%3 == 0) {
			t.Fatalf("Reload %d = %v", i, err)
		}
	}
	for range cap(results) {
		if r := <-results; r.err != nil || r.StatusCode != 200 {
			t.Errorf("a stream broke during reloads: %v", r.err)
		}
	}
	b.verify()
}

// TestI7_CancelWhileConnecting: a client that leaves while the provider is silent
// in the handshake takes the connection with it, and its request has an end in the
// log. The connection's own deadline is far off.
func TestI7_CancelWhileConnecting(t *testing.T) {
	opened, closed := make(chan struct{}), make(chan struct{})
	addr := accepting(t, func(c net.Conn) {
		close(opened)
		_, _ = io.Copy(io.Discard, c)
		close(closed)
	})
	b := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config = b.config("https://" + addr)
		s.Config.Timeouts.Connect = time.Hour
	})
	c := b.raw(rawPost("/v1/messages", anthropicTurn))
	<-opened
	c.Close()
	<-closed
	eventually(t, "the request is over", func() bool { return b.srv.inFlight.Load() == 0 })
	if resps := b.responses(); len(resps) != 1 || resps[0].End != logsink.EndClientGone {
		t.Errorf("recorded %+v, want one %s", resps, logsink.EndClientGone)
	}
}

// TestI10_UpstreamLimit: when all connections to a provider are in use, the client
// is told so, by the setting's name, and may come again.
func TestI10_UpstreamLimit(t *testing.T) {
	b := newBench(t, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config.Limits.Upstream = 1 })
	c := b.raw(rawPost("/v1/messages", anthropicTurn, "x-provider-fault", "delay=1h"))
	eventually(t, "the only connection is in use", func() bool { return len(b.received()) == 1 })
	if r := b.post("/v1/messages", anthropicTurn); r.StatusCode != 503 || !strings.Contains(string(r.body), "all 1 connections to ") || !strings.Contains(string(r.body), "limits.upstream") || r.Header.Get("x-should-retry") != "true" {
		t.Errorf("answer %d %s, want 503 that names limits.upstream and may be tried again", r.StatusCode, r.body)
	}
	c.Close()
}

// TestI8_RequestNotRead: a provider that stops reading is blamed for that, by the
// time that was waited.
func TestI8_RequestNotRead(t *testing.T) {
	addr := accepting(t, func(net.Conn) { <-t.Context().Done() })
	b := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config = b.config("http://" + addr)
		s.Config.Timeouts.StreamIdle = 100 * time.Millisecond
	})
	r := b.post("/v1/messages", strings.Replace(anthropicTurn, `"messages"`, `"x":"`+strings.Repeat("y", 32<<20)+`","messages"`, 1))
	if r.StatusCode != 504 || !strings.Contains(string(r.body), "read nothing of the request for 100ms (timeouts.stream_idle)") {
		t.Errorf("answer %d %s, want 504 that names timeouts.stream_idle", r.StatusCode, r.body)
	}
	if resps := b.responses(); len(resps) != 1 || resps[0].End != logsink.EndStalled {
		t.Errorf("recorded %+v, want one %s", resps, logsink.EndStalled)
	}
}

// TestReloadKeepsLimits: limits and timeouts wait for a restart, as is documented,
// also in what errors say.
func TestReloadKeepsLimits(t *testing.T) {
	b := newBench(t)
	s := Setup{Config: b.config(b.up.URL()), Hash: "after"}
	s.Config.Limits.Body, s.Config.Limits.Header, s.Config.Timeouts.FirstByte = 10, 999, time.Nanosecond
	if err := b.srv.Reload(s); err != nil {
		t.Fatal(err)
	}
	if r := b.post("/v1/messages", anthropicTurn); r.StatusCode != 200 {
		t.Errorf("after a reload with other limits: %d %s", r.StatusCode, r.body)
	}
	if r := b.post("/v1/messages", anthropicTurn, "x-big", strings.Repeat("x", 20_000)); r.StatusCode != 431 || !strings.Contains(string(r.body), "over 16384 bytes") {
		t.Errorf("a head of 20,000 bytes: %d %s, want the limit that holds", r.StatusCode, r.body)
	}
}
