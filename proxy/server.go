package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/identity"
	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// Deps are what a Server works with and does not own.
type Deps struct {
	Log   logsink.Log
	Queue *logsink.Queue // for request and response records
	// Sync has request records written durably before the request leaves
	// (log.requests: sync).
	Sync bool
	// LogTimeout bounds what a request waits for the log, but for freezing, which is
	// the store's. Default 1s.
	LogTimeout time.Duration
	Store      *prefixstore.Store
	Bursts     *logsink.Bursts // what replicas on one log share for burst.hold; nil if they share nothing
	Counters   *telemetry.Counters
	Pipeline   *telemetry.Pipeline // of spans and GenAI metrics; may be nil
	Logger     *slog.Logger
	// Observe is told of each answer that was accounted for, off the requests' way
	// and by one goroutine. Alarm is told of what a person should look at, by any.
	// Neither may block, and either may be nil.
	Observe func(*logsink.Request, *logsink.Response)
	Alarm   func(name, detail string, k logsink.Key, request string)
}

// A Server serves agents.
type Server struct {
	logs       hurried
	queue      *logsink.Queue
	sync       bool
	store      *prefixstore.Store
	counters   *telemetry.Counters
	pipeline   *telemetry.Pipeline
	log        *slog.Logger
	key        []byte // of tenants; immutable
	http       *fasthttp.Server
	watch      *wire.Watcher
	threads    *threads
	repeats    *repeats
	bursts     *bursts
	accountant *accountant
	variety    *variety
	guard      atomic.Pointer[listener] // set by Serve

	current      atomic.Pointer[generation]
	inFlight     atomic.Int64
	subscription atomic.Bool // told once
	bytesChanged atomic.Int64
	draining     atomic.Bool
}

// New returns a server. The tenant key is read from the log, or made there.
func New(ctx context.Context, setup Setup, d Deps) (*Server, error) {
	s := &Server{
		logs: newHurried(d.Log, d.LogTimeout), queue: d.Queue, sync: d.Sync, store: d.Store,
		counters: d.Counters, pipeline: d.Pipeline, log: d.Logger, threads: newThreads(), bursts: newBursts(d.Bursts), variety: newVariety(),
	}
	s.repeats = newRepeats(&s.inFlight)
	var err error
	if s.key, err = d.Log.Secret(ctx, "tenant"); err != nil {
		return nil, fmt.Errorf("cannot get the tenant key from the log: %w", err)
	}
	if s.watch, err = wire.NewWatcher(); err != nil {
		return nil, err
	}
	g, err := s.generate(setup, nil)
	if err != nil {
		return nil, errors.Join(err, s.watch.Close())
	}
	s.current.Store(g)
	s.http = s.newHTTP(g.cfg)
	s.accountant = newAccountant(d)
	s.gauges()
	return s, nil
}

// newHTTP sets up fasthttp. Each setting is there because its default was
// measured to bite (facts/reliability.md 12, facts/performance.md 6).
func (s *Server) newHTTP(cfg Config) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:                       s.serve,
		ErrorHandler:                  s.serveError,
		Logger:                        quiet{s.log},
		Concurrency:                   cfg.Limits.Conns,
		ReadBufferSize:                cfg.Limits.Header,
		WriteBufferSize:               largeRelay + 512, // one read and its framing
		ReadTimeout:                   cfg.Timeouts.Receive,
		IdleTimeout:                   cfg.Timeouts.KeepAlive,
		StreamRequestBody:             true, // readBody reads, and bounds, the body;
		MaxRequestBodySize:            1,    // so fasthttp need not read ahead
		SecureErrorLogMessage:         true,
		DisablePreParseMultipartForm:  true,
		DisableHeaderNamesNormalizing: true,
		NoDefaultServerHeader:         true,
		NoDefaultDate:                 true,
		NoDefaultContentType:          true,
		CloseOnShutdown:               true,
	}
}

// quiet keeps fasthttp's own lines, which can quote a request, at debug level.
type quiet struct{ log *slog.Logger }

func (q quiet) Printf(string, ...any) { q.log.Debug("http server reported a broken connection") }

func (s *Server) gauges() {
	s.counters.Gauge("preface_requests_in_flight", "Requests under way.", func() float64 { return float64(s.inFlight.Load()) })
	s.counters.Gauge("preface_kept_body_bytes", "Bodies kept for what their threads' next requests repeat.", func() float64 { return float64(s.repeats.bytes()) })
	s.counters.Gauge("preface_held_requests", "Requests that wait for the first byte of another's answer (burst.hold).", func() float64 { return float64(s.bursts.held.Load()) })
	s.counters.Gauge("preface_account_queue_depth", "Answers that wait to be priced and explained.", func() float64 { return float64(s.accountant.depth()) })
	s.counters.CounterFunc("preface_account_passed_total", "Answers that came too fast to be priced and explained; they are recorded without.", func() float64 { return float64(s.accountant.passedOver()) })
	s.counters.CounterFunc("preface_burst_errors_total", "Calls by which replicas agree on bursts (burst.hold) that failed; for some seconds each then holds its own.", s.bursts.others.failures)
	s.counters.Gauge("preface_draining", "1 once shutdown has begun.", func() float64 {
		if s.draining.Load() {
			return 1
		}
		return 0
	})
}

// Serve serves a listener until Shutdown, also if that came first. It owns ln.
func (s *Server) Serve(ln net.Listener) error {
	guard := newListener(ln, s.watch, s.current.Load().cfg.Timeouts)
	s.guard.Store(guard) // before the look at draining, which Shutdown sets before it looks here
	if s.draining.Load() {
		return guard.Close()
	}
	return s.http.Serve(guard)
}

// Reload replaces the configuration, all or nothing. Requests under way keep
// theirs; epochs that exist keep their bytes. Limits and timeouts stay as they were
// at start.
func (s *Server) Reload(setup Setup) error {
	g, err := s.generate(setup, s.current.Load())
	if err != nil {
		return err
	}
	s.current.Store(g)
	s.repeats.purge() // they are of use to no other generation
	return nil
}

// Ready reports whether new requests are welcome. A log that is down does not
// make the server unready: known sessions go on.
func (s *Server) Ready() bool { return !s.draining.Load() }

// Drain says that new requests are no longer welcome, so that a balancer looks
// elsewhere before Shutdown.
func (s *Server) Drain() { s.draining.Store(true) }

// Shutdown stops taking connections, takes what is on its way on those there
// are, and waits for running answers until ctx ends; those that still run then are
// cut, and their clients see that they are.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	failpoint.Hit(failpoint.Draining)
	guard := s.guard.Load()
	if guard != nil {
		_ = guard.Close() // fasthttp does not know it yet if Serve has only begun
		guard.linger(ctx)
		guard.closeUnused()
	}
	err := s.http.ShutdownWithContext(ctx)
	if err != nil && guard != nil {
		guard.cutAll()
		s.settle()
	}
	s.bursts.others.settle()
	s.accountant.close()
	for _, up := range s.current.Load().ups {
		up.close()
	}
	return errors.Join(err, s.watch.Close())
}

// settleTime bounds how long answers that were cut may take to be over.
const settleTime = 5 * time.Second

// settle waits until what was cut is recorded. http.Shutdown would not: called
// a second time it returns at once.
func (s *Server) settle() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(settleTime); s.inFlight.Load() > 0 && time.Now().Before(end); {
		<-tick.C
	}
}

// resolver makes the resolver of a generation. One whose configuration is
// unchanged keeps what it remembers of derived sessions.
func (s *Server) resolver(cfg identity.Config, before *generation) (*identity.Resolver, error) {
	if before != nil && before.sameIdentity(cfg) {
		return before.resolver, nil
	}
	return identity.New(cfg, s.key, s.findDerived)
}

// findDerived asks the log for the session that a history extends.
func (s *Server) findDerived(ctx context.Context, tenant string, lineages []string) (session, thread string, ok bool, err error) {
	k, thread, err := s.logs.Find(ctx, tenant, lineages)
	if errors.Is(err, logsink.ErrNoSession) {
		return "", "", false, nil
	}
	return k.Session, thread, err == nil, err
}

// noteSubscription says once why such traffic goes without a prefix.
func (s *Server) noteSubscription(route string) {
	if s.subscription.CompareAndSwap(false, true) {
		s.log.Warn("callers with a subscription sign-in pass bare; providers are reported to check the shape of such traffic. Set the route's subscription: inject to include them", "route", route)
	}
}

// serveError answers what fasthttp could not read. Its errors can quote a
// request, so they are told in our words.
func (s *Server) serveError(ctx *fasthttp.RequestCtx, err error) {
	x := s.begin(ctx)
	path, _, _ := strings.Cut(string(ctx.Request.Header.RequestURI()), "?")
	if t, ok := x.gen.routes.match(path, true, ""); ok {
		x.target = t
	}
	x.refuse(s.unread(err))
}

// unread maps what fasthttp met to an answer.
func (s *Server) unread(err error) *refusal {
	var small *fasthttp.ErrSmallBuffer
	cfg := &s.current.Load().cfg
	switch {
	case errors.As(err, &small):
		return &refusal{kind: dialect.ErrTooLarge, status: fasthttp.StatusRequestHeaderFieldsTooLarge, reason: "header_limit", hangUp: true,
			msg: fmt.Sprintf("the request's head is over %d bytes (limits.header)", cfg.Limits.Header)}
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return &refusal{kind: dialect.ErrTooLarge, reason: "body_limit", hangUp: true,
			msg: fmt.Sprintf("the request body is over %d bytes (limits.body)", cfg.Limits.Body)}
	case isTimeout(err):
		return &refusal{kind: dialect.ErrTimeout, status: fasthttp.StatusRequestTimeout, reason: "receive_timeout", retry: true, hangUp: true,
			msg: fmt.Sprintf("the request did not arrive within %v (timeouts.receive)", cfg.Timeouts.Receive)}
	}
	return &refusal{kind: dialect.ErrInvalid, reason: "framing", hangUp: true, msg: "the request's head or body is malformed"}
}
