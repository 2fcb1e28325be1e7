package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/admin"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// A service is a running proxy with all that it works with.
type service struct {
	opts    options
	started *settings // what it was started with; immutable
	logger  *slog.Logger
	level   *slog.LevelVar

	logs      logsink.Log
	reader    logsink.Reader
	store     *prefixstore.Store
	queue     *logsink.Queue
	counters  *telemetry.Counters
	pipeline  *telemetry.Pipeline
	overview  *admin.Overview // nil if admin is off
	server    *proxy.Server
	agents    net.Listener
	operators net.Listener // nil if admin is off
	pages     *http.Server

	reloads reloads
	opened  []part
	running sync.WaitGroup // those that serve
	failed  chan error     // why one of them ended
}

// A part is something that was opened and is to be closed.
type part struct {
	name  string
	close func(ctx context.Context) error
}

// start opens everything in order and serves. On an error all that was opened
// is closed again.
func start(ctx context.Context, o options, s *settings, logger *slog.Logger, level *slog.LevelVar) (*service, error) {
	v := &service{opts: o, started: s, logger: logger, level: level, counters: telemetry.New(), failed: make(chan error, 2)}
	for _, open := range []func(context.Context) error{
		v.openTelemetry, v.openLog, v.openStore, v.openQueue, v.openOperators, v.openAgents, v.openServer, v.openRetention,
	} {
		if err := open(ctx); err != nil {
			return nil, errors.Join(err, v.close(ctx))
		}
	}
	v.serve()
	return v, nil
}

// partServer is the part whose end is that of running answers.
const partServer = "server"

func (v *service) opens(name string, close func(context.Context) error) {
	v.opened = append(v.opened, part{name, close})
}

// openTelemetry comes first, so that it is closed last: requests to the last one
// have their spans.
func (v *service) openTelemetry(ctx context.Context) (err error) {
	v.counters.Build(buildVersion(), runtime.Version())
	v.pipeline, err = telemetry.Open(ctx, telemetry.Options{
		Config: v.started.Telemetry, Counters: v.counters, Logger: v.logger, Version: buildVersion(),
	})
	if err != nil {
		return err
	}
	v.pipeline.Log()
	v.opens("telemetry", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, lastSpans)
		defer cancel()
		return v.pipeline.Shutdown(ctx)
	})
	return nil
}

// lastSpans bounds how long a collector may take at the end.
const lastSpans = 5 * time.Second

func (v *service) openLog(ctx context.Context) (err error) {
	if v.logs, err = logsink.Open(ctx, v.started.Log.Config); err != nil {
		return err
	}
	v.opens("log", func(context.Context) error { return v.logs.Close() })
	if r, ok := v.logs.(*logsink.Redis); ok {
		v.logger.LogAttrs(ctx, guaranteeLevel(r), "header log in Redis", slog.String("guarantee", r.Guarantee()))
	}
	if v.reader, err = logsink.OpenReader(ctx, v.started.Log.Config); err != nil {
		return err
	}
	v.opens("log reader", func(context.Context) error { return v.reader.Close() })
	return nil
}

// guaranteeLevel makes a log loud that guarantees less than it should.
func guaranteeLevel(r *logsink.Redis) slog.Level {
	if r.Sure() {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

func (v *service) openStore(context.Context) (err error) {
	s := v.started
	v.store, err = prefixstore.New(v.logs, prefixstore.Options{
		CacheBytes: s.Cache.Bytes, LogTimeout: s.Log.Timeout, ComposeTimeout: s.Prefix.ComposeTimeout,
		IdleLimit: s.Resume.Idle, Version: buildVersion(), Logger: v.logger,
	})
	if err != nil {
		return err
	}
	v.opens("store", func(context.Context) error { v.store.Close(); return nil })
	return nil
}

func (v *service) openQueue(context.Context) error {
	v.queue = logsink.NewQueue(v.logs, logsink.QueueOptions{Records: v.started.Log.Queue})
	v.opens("queue", v.queue.Close)
	return nil
}

// openOperators only takes the address: pages are served once there is a server.
// Being opened before the server it is closed after it, so that /readyz can be
// asked while answers end.
func (v *service) openOperators(ctx context.Context) (err error) {
	if v.started.Admin == adminOff {
		return nil
	}
	if v.operators, err = listen(ctx, "admin", v.started.Admin); err != nil {
		return err
	}
	v.overview = admin.NewOverview(v.reader)
	host, _, _ := net.SplitHostPort(v.started.Admin) // it was listened on
	v.pages = &http.Server{
		Handler: admin.New(admin.Deps{
			Ready: func() bool { return v.server.Ready() }, Reload: v.reload, Metrics: v.counters.Handler(),
			Log: v.reader, Overview: v.overview, Host: host, Version: buildVersion(),
			Loopback: onLoopback(v.operators), Token: v.started.AdminToken,
		}),
		ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(v.logger.Handler(), slog.LevelDebug),
	}
	v.opens("operators", func(ctx context.Context) error {
		v.overview.Close() // ends streams of events, which Shutdown would wait for
		return errors.Join(v.pages.Shutdown(ctx), ignoreClosed(v.operators.Close()))
	})
	return nil
}

// openAgents takes the address for agents. The server closes it too, unless it
// is stopped before it has begun to serve.
func (v *service) openAgents(ctx context.Context) (err error) {
	if v.agents, err = listen(ctx, "listen", v.started.Listen); err != nil {
		return err
	}
	v.opens("agents", func(context.Context) error { return ignoreClosed(v.agents.Close()) })
	return nil
}

func (v *service) openServer(ctx context.Context) (err error) {
	v.server, err = proxy.New(ctx, v.started.setup(), proxy.Deps{
		Log: v.logs, LogTimeout: v.started.Log.Timeout, Queue: v.queue, Sync: v.started.Log.Requests == logsink.RequestsSync, Store: v.store, Bursts: shared(v.logs),
		Counters: v.counters, Pipeline: v.pipeline, Logger: v.logger, Observe: v.overview.Observe, Alarm: v.overview.Alarm,
	})
	if err != nil {
		return err
	}
	v.opens(partServer, v.server.Shutdown)
	v.metrics()
	return nil
}

// shared is what replicas on a log tell each other of bursts, nil if the log is
// one process's.
func shared(l logsink.Log) *logsink.Bursts {
	if r, ok := l.(*logsink.Redis); ok {
		return r.Bursts()
	}
	return nil
}

// serve begins to answer.
func (v *service) serve() {
	v.running.Go(func() { v.failed <- v.server.Serve(v.agents) })
	if v.operators == nil {
		return
	}
	v.running.Go(func() {
		if err := v.pages.Serve(v.operators); !errors.Is(err, http.ErrServerClosed) {
			v.failed <- err
		}
	})
}

// flushTime bounds the closing of everything but running answers.
const flushTime = 10 * time.Second

// close ends what was opened, last first: new requests are refused and running
// answers end, or are cut when ctx ends; then records are flushed, and what they
// went to is closed.
func (v *service) close(ctx context.Context) error {
	if v.server != nil {
		v.server.Drain()
	}
	var failed error
	for _, p := range slices.Backward(v.opened) {
		began := time.Now()
		if err := p.closeIn(ctx); err != nil {
			failed = errors.Join(failed, err)
		}
		v.logger.Debug("closed", "part", p.name, "took", time.Since(began))
	}
	v.running.Wait()
	return failed
}

// closeIn closes a part: the server by the end of ctx, others by their own.
func (p part) closeIn(ctx context.Context) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if p.name != partServer {
		limited, cancel = context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	}
	defer cancel()
	err := p.close(limited)
	switch {
	case err == nil:
		return nil
	case p.name == partServer && ctx.Err() != nil:
		return fmt.Errorf("running answers were cut: timeouts.drain passed, or another signal came (%w)", ctx.Err())
	}
	return fmt.Errorf("cannot close the %s cleanly: %w", p.name, err)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// listen opens a TCP listener; its error says which setting chose the address.
func listen(ctx context.Context, setting, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, portError(setting, addr, err)
	}
	return l, nil
}

// onLoopback reports whether only this machine can reach a listener.
func onLoopback(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}

// portError says what to do about an address that cannot be listened on.
func portError(setting, addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot listen on %s: the address is in use; end the program that has it, or choose another with -%s", addr, setting)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("cannot listen on %s: this user may not; choose a port above 1023 with -%s", addr, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("cannot listen on %s: this machine has no such address; choose another with -%s", addr, setting)
	}
	return fmt.Errorf("cannot listen on %q; give HOST:PORT with -%s: %w", addr, setting, err)
}
