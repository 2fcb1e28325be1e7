package proxy

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// TestMain finds goroutines that are left. Three of fasthttp's end by
// themselves some seconds after what they serve has gone.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// A bench is a proxy between a simulated provider and the test, all in this
// process and on loopback.
type bench struct {
	t    testing.TB
	up   *provider.Provider
	path string // of the log
	logs logsink.Log
	q    *logsink.Queue
	srv  *Server
	url  string
	c    *telemetry.Counters
	out  *lockedBuffer // what the proxy logged
	http *http.Client
	stop func()
}

// A setupFunc changes how a bench is set up.
type setupFunc func(b *bench, s *Setup, d *Deps, o *prefixstore.Options)

// openerText is what the benches' contributor says unless a test says otherwise.
const openerText = "Team rules: be kind & <exact>. \u2713"

// patience keeps a slow machine from deciding what a test sees.
const patience = 30 * time.Second

func newBench(t testing.TB, changes ...setupFunc) *bench {
	t.Helper()
	b := &bench{t: t, up: provider.New(provider.Options{}), out: &lockedBuffer{}, path: filepath.Join(t.TempDir(), "preface.db")}
	if err := b.up.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	own := b.up // a test may put another in its place
	t.Cleanup(func() { own.Close() })
	b.start(changes...)
	t.Cleanup(func() { b.stop() })
	return b
}

// start starts the proxy on the bench's log; after stop it is a restart.
func (b *bench) start(changes ...setupFunc) {
	b.t.Helper()
	ctx := context.Background()
	setup := Setup{
		Config:       b.config(b.up.URL()),
		Contributors: []contrib.Config{{Kind: "text", Name: "rules", Text: openerText, Deadline: patience}},
		Hash:         "test",
	}
	deps := Deps{LogTimeout: patience, Logger: slog.New(slog.NewTextHandler(b.out, nil)), Counters: telemetry.New()}
	opt := prefixstore.Options{Version: "test", LogTimeout: patience, ComposeTimeout: patience}
	log, err := logsink.Open(ctx, logsink.Config{Path: b.path})
	if err != nil {
		b.t.Fatal(err)
	}
	deps.Log = log
	for _, change := range changes {
		change(b, &setup, &deps, &opt)
	}
	b.logs, b.c = deps.Log, deps.Counters
	b.q = logsink.NewQueue(deps.Log, logsink.QueueOptions{})
	deps.Queue = b.q
	store, err := prefixstore.New(deps.Log, opt)
	if err != nil {
		b.t.Fatal(err)
	}
	deps.Store = store
	if b.srv, err = New(ctx, setup, deps); err != nil {
		b.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	b.url = "http://" + ln.Addr().String()
	transport := &http.Transport{DisableCompression: true}
	b.http = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	served := make(chan error, 1)
	go func() { served <- b.srv.Serve(ln) }()
	b.stop = sync.OnceFunc(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := b.srv.Shutdown(ctx); err != nil {
			b.t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			b.t.Errorf("Serve: %v", err)
		}
		if err := b.q.Close(ctx); err != nil {
			b.t.Errorf("closing the queue: %v", err)
		}
		store.Close()
		if err := log.Close(); err != nil {
			b.t.Errorf("closing the log: %v", err)
		}
	})
}

// config routes everything to one provider.
func (b *bench) config(upstream string) Config {
	cfg := Config{Routes: DefaultRoutes()}
	for i := range cfg.Routes {
		cfg.Routes[i].Upstream = upstream
	}
	return cfg
}

// policy sets every route's policy.
func policy(p string) setupFunc {
	return func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		for i := range s.Config.Routes {
			s.Config.Routes[i].Policy = p
		}
	}
}

// contributors replaces the bench's own.
func contributors(cs ...contrib.Config) setupFunc {
	return func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Contributors = cs }
}

// A reply is an answer read whole.
type reply struct {
	*http.Response
	body []byte
	err  error // of reading the body
}

// post sends a body. header is pairs of name and value.
func (b *bench) post(path, body string, header ...string) reply {
	b.t.Helper()
	return b.do("POST", path, body, header...)
}

func (b *bench) do(method, path, body string, header ...string) reply {
	b.t.Helper()
	req, err := http.NewRequest(method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("x-api-key", "sk-test-1")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	r := reply{Response: resp}
	r.body, r.err = io.ReadAll(resp.Body)
	return r
}

// received are the requests that the provider got, in order.
func (b *bench) received() []provider.Exchange { return b.up.Received() }

// last is the newest of them, once it is over.
func (b *bench) last() (x provider.Exchange) {
	b.t.Helper()
	eventually(b.t, "the provider's last exchange ends", func() bool {
		all := b.received()
		if len(all) == 0 {
			b.t.Fatal("the provider received nothing")
		}
		x = all[len(all)-1]
		return !x.Open()
	})
	return x
}

// records are what the log has, in order, after the queue has been written.
func (b *bench) records() []logsink.Record {
	b.t.Helper()
	b.flush()
	r, err := logsink.OpenReader(context.Background(), logsink.Config{Path: b.path})
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	var recs []logsink.Record
	err = r.Records(context.Background(), logsink.Key{}, 0, func(_ int64, rec logsink.Record) bool {
		recs = append(recs, rec)
		return true
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return recs
}

// flush waits until answers are accounted for and the queue has written what it
// holds.
func (b *bench) flush() {
	b.t.Helper()
	eventually(b.t, "answers are accounted for and the queue is written", func() bool { return b.srv.accountant.depth() == 0 && b.q.Stats().Depth == 0 })
}

func (b *bench) requests() (reqs []*logsink.Request) {
	for _, r := range b.records() {
		if r.Request != nil {
			reqs = append(reqs, r.Request)
		}
	}
	return reqs
}

func (b *bench) responses() (resps []*logsink.Response) {
	for _, r := range b.records() {
		if r.Response != nil {
			resps = append(resps, r.Response)
		}
	}
	return resps
}

// verify runs the independent checker and fails the test on any finding.
func (b *bench) verify() {
	b.t.Helper()
	b.flush()
	r, err := logsink.OpenReader(context.Background(), logsink.Config{Path: b.path})
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	_, err = logsink.Verify(context.Background(), r, nil, func(f logsink.Finding) { b.t.Errorf("log verify: %+v", f) })
	if err != nil {
		b.t.Fatal(err)
	}
}

// cut takes a request record's splices out of the body that was sent.
func cut(body []byte, splices []logsink.Splice) []byte {
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(out, body[at:s.Offset]...)
		at = s.Offset + s.Length
	}
	return append(out, body[at:]...)
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// accepting listens, has handle serve each connection in turn, closes it, and
// returns the address.
func accepting(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			handle(c)
			c.Close()
		}
	}()
	return ln.Addr().String()
}

// metrics are the server's metrics as they are scraped.
func (b *bench) metrics() string {
	w := httptest.NewRecorder()
	b.c.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}
