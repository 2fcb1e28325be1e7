package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// patience bounds what the proxy waits for beside answers.
const patience = 20 * time.Second

// A stage is the proxy with its log, and for each worker a provider with a clock
// of its own, which a route leads to.
type stage struct {
	opt    Options
	format *format

	dir       string
	service   *service
	providers []*timedProvider
	log       logsink.Log
	server    *proxy.Server
	url       string

	running sync.WaitGroup
	opened  []func(context.Context) error // in the order of opening
	quieted int                           // how many of them stay open once no request is made
}

// A timedProvider is a provider whose caches go by a clock that is set.
type timedProvider struct {
	*provider.Provider
	now atomic.Pointer[time.Time]
}

func (p *timedProvider) set(t time.Time) { p.now.Store(&t) }

func openStage(ctx context.Context, opt Options, f *format, t *texts) (*stage, error) {
	s := &stage{opt: opt, format: f}
	for _, open := range []func(context.Context) error{
		s.openFolder,
		func(context.Context) error { return s.openService(t) },
		s.openProviders, s.openProxy,
	} {
		if err := open(ctx); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *stage) opens(close func(context.Context) error) { s.opened = append(s.opened, close) }

// close closes what was opened, last first.
func (s *stage) close() error { return s.closeTo(0) }

// quiet ends the proxy, so that all is in its log.
func (s *stage) quiet() error { return s.closeTo(s.quieted) }

func (s *stage) closeTo(n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	for _, close := range slices.Backward(s.opened[n:]) {
		err = errors.Join(err, close(ctx))
	}
	s.opened = s.opened[:n]
	return err
}

func (s *stage) openFolder(context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "preface-wire-"); err != nil {
		return fmt.Errorf("cannot keep a log for the wire check: %w", err)
	}
	s.opens(func(context.Context) error { return os.RemoveAll(s.dir) })
	return nil
}

func (s *stage) openService(t *texts) (err error) {
	if s.service, err = openService(t, s.opt.Opener/s.opt.Shrink); err == nil {
		s.opens(func(context.Context) error { return s.service.close() })
	}
	return err
}

func (s *stage) openProviders(context.Context) error {
	for range s.opt.Workers {
		p := &timedProvider{}
		p.set(time.Time{})
		p.Provider = provider.New(provider.Options{
			Now: func() time.Time { return *p.now.Load() }, KeepRequests: 8, KeepBytes: 1 << 16,
		})
		if err := p.Start("127.0.0.1:0"); err != nil {
			return err
		}
		s.providers = append(s.providers, p)
		s.opens(func(context.Context) error { return p.Close() })
	}
	return nil
}

// openProxy opens the proxy as the program does. Its log survives the program, not
// a loss of power: it is gone at the end anyway.
func (s *stage) openProxy(ctx context.Context) (err error) {
	c := s.logConfig()
	if s.log, err = logsink.Open(ctx, c); err != nil {
		return err
	}
	s.opens(func(context.Context) error { return s.log.Close() })
	store, err := prefixstore.New(s.log, prefixstore.Options{LogTimeout: patience, ComposeTimeout: patience, Version: "wire"})
	if err != nil {
		return err
	}
	s.opens(func(context.Context) error { store.Close(); return nil })
	s.quieted = len(s.opened)
	queue := logsink.NewQueue(s.log, logsink.QueueOptions{Records: c.Queue})
	s.opens(queue.Close)
	s.server, err = proxy.New(ctx, s.setup(), proxy.Deps{
		Log: s.log, Queue: queue, Store: store, Counters: telemetry.New(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	return s.serve()
}

func (s *stage) logConfig() logsink.Config {
	c := logsink.DefaultConfig()
	c.Path, c.Sync = filepath.Join(s.dir, "preface.db"), "normal"
	return c
}

func (s *stage) setup() proxy.Setup {
	var c proxy.Config
	for i, p := range s.providers {
		c.Routes = append(c.Routes, proxy.RouteConfig{
			Name: fmt.Sprintf("worker-%d", i), Path: route(i), Dialect: s.format.family, Upstream: p.URL(), Policy: "enforced",
		})
	}
	c.SetDefaults()
	return proxy.Setup{Config: c, Contributors: []contrib.Config{s.service.contributor()}, Hash: "wire", Prices: s.opt.Prices}
}

// route is the path of a worker's route.
func route(worker int) string { return fmt.Sprintf("/worker-%d", worker) }

func (s *stage) serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot serve agents: %w", err)
	}
	s.url = "http://" + l.Addr().String()
	s.running.Go(func() { _ = s.server.Serve(l) }) // requests tell what is wrong
	s.opens(func(ctx context.Context) error {
		err := s.server.Shutdown(ctx)
		s.running.Wait()
		return err
	})
	return nil
}
