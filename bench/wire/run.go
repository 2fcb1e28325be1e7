package wire

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// Run plays a trace, which it reads and does not close. Where measured and model
// differ, the result says so; an error is what kept it from being measured.
func Run(ctx context.Context, r *trace.Reader, o Options) (*Result, error) {
	f, rules, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &check{opt: o, format: f, rules: rules, texts: newTexts(o.Seed)}
	if c.price, err = newPricer(o, rules); err != nil {
		return nil, err
	}
	if c.sessions, err = readSessions(ctx, r, o); err != nil {
		return nil, err
	}
	return c.run(ctx)
}

// A check is one run.
type check struct {
	opt      Options
	format   *format
	rules    cache.Rules
	texts    *texts
	sessions []session
	price    pricer
}

func (c *check) run(ctx context.Context) (result *Result, err error) {
	s, err := openStage(ctx, c.opt, c.format, c.texts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	o := c.opt
	result = &Result{
		Trace: o.Trace, Dialect: o.Dialect, Model: o.Model, Lifetime: o.Lifetime, Sessions: len(c.sessions),
		Shrink: o.Shrink, OpenerTokens: o.Opener / o.Shrink,
	}
	charged, err := c.play(ctx, s, result)
	if err != nil {
		return nil, err
	}
	result.Openers = s.service.asked.Load()
	result.finish()
	if err := s.quiet(); err != nil {
		return nil, err
	}
	if result.LogDiffers, err = s.logged(ctx, charged); err != nil {
		return nil, err
	}
	result.Simulated, err = c.simulate(ctx)
	return result, err
}

// play has the workers play all sessions, and returns what was charged for each
// request.
func (c *check) play(ctx context.Context, s *stage, result *Result) (map[string]cache.Tokens, error) {
	work, sums := make(chan int), make(chan measured, 64)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(work)
		for i := range c.sessions {
			select {
			case work <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i := range s.providers {
		g.Go(func() error { return c.worker(s, i, sums).playAll(ctx, c.sessions, work) })
	}
	var summing sync.WaitGroup
	charged := map[string]cache.Tokens{}
	summing.Go(func() { c.sum(sums, result, charged) })
	err := g.Wait()
	close(sums)
	summing.Wait()
	return charged, err
}

// sum counts requests in whatever order they come.
func (c *check) sum(sums <-chan measured, result *Result, charged map[string]cache.Tokens) {
	all, done := 0, 0
	for _, s := range c.sessions {
		all += ways * len(s.requests)
	}
	for m := range sums {
		result.add(m, c.sessions[m.session].name, c.price)
		charged[m.id] = m.got
		if done++; c.opt.Tell != nil {
			c.opt.Tell(done, all)
		}
	}
}

func (c *check) worker(s *stage, i int, sums chan<- measured) *worker {
	var lifetime time.Duration
	for _, l := range c.rules.Lifetimes {
		if cache.LifetimeName(l) == c.opt.Lifetime {
			lifetime = l
		}
	}
	return &worker{
		stage: s, provider: s.providers[i], url: s.url + route(i) + c.format.path, rules: c.rules, lifetime: lifetime,
		texts: c.texts, sums: sums, client: &http.Client{Transport: &http.Transport{}},
	}
}

func (w *worker) playAll(ctx context.Context, sessions []session, work <-chan int) error {
	defer w.client.CloseIdleConnections()
	at := epoch
	for i := range work {
		var err error
		if at, err = w.play(ctx, i, sessions[i], at); err != nil {
			return err
		}
	}
	return nil
}
