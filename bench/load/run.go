package load

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// warmUp is how long each target is under load before anything is measured.
const warmUp = 200 * time.Millisecond

// A run is a measurement of both targets under way.
type run struct {
	opt     Options
	targets [2]*target // directly, and through the proxy
	process *process   // of the proxy, or nil
}

// Run measures. It returns an error, and no result, if a target cannot be
// measured at all or ctx ends; single failed requests are in the result.
func Run(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{opt: o}
	if r.process, err = processOf(o.PID); err != nil {
		return nil, err
	}
	if r.targets[direct], err = o.target("upstream", o.Upstream); err != nil {
		return nil, err
	}
	if r.targets[proxied], err = o.target("proxy", o.Proxy); err != nil {
		return nil, err
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	return r.rounds(ctx)
}

const (
	direct = iota
	proxied
)

// prepare tries each target once, and warms it up.
func (r *run) prepare(ctx context.Context) error {
	for _, t := range r.targets {
		got := r.probe(ctx, t)
		if ctx.Err() != nil {
			return interrupted(ctx)
		}
		if got.err != nil {
			return fmt.Errorf("cannot measure the %s at %s: %w", t.name, t.url, got.err)
		}
	}
	for _, t := range r.targets {
		r.measure(ctx, t, "closed", warmUp)
	}
	return nil
}

func (r *run) probe(ctx context.Context, t *target) reply {
	defer context.AfterFunc(ctx, t.cut)()
	s := r.opt.sender(t, "bench-probe", false)
	defer s.close()
	for start := time.Now(); ctx.Err() == nil && time.Since(start) < startPatience; time.Sleep(50 * time.Millisecond) {
		if err := s.connect(ctx); !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
	}
	return s.send(ctx)
}

// startPatience is how long a target may take to listen: it was perhaps started
// in the line before.
const startPatience = 2 * time.Second

func interrupted(ctx context.Context) error {
	return fmt.Errorf("stopped before the end, so there is no result: %w", context.Cause(ctx))
}

// rounds measures every scenario in every round on both targets, which take
// turns at being first.
func (r *run) rounds(ctx context.Context) (*Result, error) {
	result := r.opt.result(r.targets)
	pairs := make([][]pair, len(r.opt.Scenarios))
	done, all := 0, r.opt.Rounds*len(r.opt.Scenarios)*len(r.targets)
	for round := range r.opt.Rounds {
		for i, scenario := range r.opt.Scenarios {
			var p pair
			for k := range r.targets {
				which := (round + k) % len(r.targets)
				if r.opt.Tell != nil {
					r.opt.Tell(done, all)
				}
				done++
				if err := r.watch(ctx, &p, which, scenario); err != nil {
					return nil, err
				}
			}
			pairs[i] = append(pairs[i], p)
		}
	}
	for i, scenario := range r.opt.Scenarios {
		result.Scenarios = append(result.Scenarios, summarize(scenario, pairs[i]))
	}
	return result, r.remember(result)
}

// watch measures one scenario on one target, and the proxy's CPU meanwhile.
func (r *run) watch(ctx context.Context, p *pair, which int, scenario string) error {
	var before time.Duration
	var err error
	watched := which == proxied && r.process != nil
	if watched {
		if before, err = r.process.cpu(); err != nil {
			return fmt.Errorf("cannot watch process %d: %w", r.opt.PID, err)
		}
	}
	p.of[which] = r.measure(ctx, r.targets[which], scenario, r.opt.Duration)
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if len(p.of[which].total) == 0 {
		return fmt.Errorf("no request of load %s to the %s succeeded: %w", scenario, r.targets[which].name, p.of[which].err)
	}
	if watched {
		after, err := r.process.cpu()
		if err != nil {
			return fmt.Errorf("cannot watch process %d: %w", r.opt.PID, err)
		}
		p.cpu, p.watched = after-before, true
	}
	return nil
}

// measure puts one load on a target. What has not ended within the timeout after
// the load's end is cut, and failed.
func (r *run) measure(ctx context.Context, t *target, scenario string, length time.Duration) measurement {
	ctx, cancel := context.WithTimeout(ctx, length+r.opt.Timeout)
	defer cancel()
	defer context.AfterFunc(ctx, t.cut)()
	senders := make([]*sender, r.opt.Connections)
	for i := range senders {
		senders[i] = r.opt.sender(t, fmt.Sprintf("bench-%s-%d", scenario, i), scenario == "stream")
		defer senders[i].close()
		_ = senders[i].connect(ctx) // before time is taken; if it fails, sending tells
	}
	do := func(i int) reply { return senders[i].send(ctx) }
	if scenario == "open" {
		return openLoop(ctx, len(senders), length, r.opt.Rate, do)
	}
	return closedLoop(ctx, len(senders), length, do)
}

// remember adds the proxy's memory to the result.
func (r *run) remember(result *Result) error {
	if r.process == nil {
		return nil
	}
	m, err := r.process.memory()
	if err != nil {
		return fmt.Errorf("cannot watch process %d: %w", r.opt.PID, err)
	}
	result.Memory = &m
	return nil
}
