package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
)

// burstThreads is how many subagents of one session begin at once.
const burstThreads = 8

// burstHold is long, so that a slow machine changes nothing; nobody waits for
// longer than the model takes to begin its answer, which is burstPause.
const (
	burstHold  = 20 * time.Second
	burstPause = 100 * time.Millisecond
)

// A demoBurst is what a burst of one agent's threads cost, without burst.hold
// and with it.
type demoBurst struct {
	Name    string  `json:"name"`
	Prompts string  `json:"prompts"`
	Threads int     `json:"threads"`
	Free    bill    `json:"without_hold"`
	Held    bill    `json:"with_hold"`
	Ratio   float64 `json:"ratio"` // of the second to the first, in USD
}

// playBursts has the threads of two agents begin at once, twice: without
// burst.hold, where none is answered before all have arrived, and with it. They
// are spread over so many replicas.
func playBursts(ctx context.Context, dir string, replicas int, tell *narrator) ([]demoBurst, error) {
	free, err := playBurst(ctx, filepath.Join(dir, "burst-free"), replicas, 0, tell)
	if err != nil {
		return nil, err
	}
	held, err := playBurst(ctx, filepath.Join(dir, "burst-held"), replicas, burstHold, tell)
	if err != nil {
		return nil, err
	}
	freeBills, err := free.bills()
	if err != nil {
		return nil, err
	}
	heldBills, err := held.bills()
	if err != nil {
		return nil, err
	}
	var all []demoBurst
	for _, r := range burstRoles {
		f, h := freeBills[r.name], heldBills[r.name]
		all = append(all, demoBurst{Name: r.name, Prompts: r.prompts, Threads: burstThreads, Free: f, Held: h, Ratio: ratio(h, f)})
	}
	return all, nil
}

// A burstRole is an agent whose threads begin at once.
type burstRole struct {
	role
	prompts string
	prompt  func(thread int) string
}

// burstRoles have in common what their caches can give them: Claude's marks stand
// on the system prompt and the last message, and what Codex asks for is cached up
// to the end of the last message alone, so that only threads with one prompt
// share (facts/providers.md 2.4).
var burstRoles = []burstRole{
	{
		role:    role{name: "claude", kind: agent.Claude, key: "sk-demo-burst-anthropic"},
		prompts: "of their own", prompt: func(thread int) string { return fmt.Sprintf("Look into package %d.", thread) },
	},
	{
		role:    role{name: "codex", kind: agent.Codex, key: "sk-demo-burst-openai"},
		prompts: "the same", prompt: func(int) string { return "Find the fault; the best of you wins." },
	},
}

// playBurst plays the bursts one after the other, through proxies and to a
// provider of their own.
func playBurst(ctx context.Context, dir string, replicas int, hold time.Duration, tell *narrator) (perf *performance, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &burstStage{provider: provider.New(provider.Options{OnArrive: meeting(ctx, hold == 0)})}
	defer func() { err = errors.Join(err, s.strike(context.WithoutCancel(ctx))) }()
	if err := s.set(ctx, dir, replicas, hold); err != nil {
		return nil, err
	}
	perf = &performance{name: fmt.Sprintf("burst with hold %v", hold), tell: tell, provider: s.provider}
	for i, r := range burstRoles {
		p, err := castBurst(r, uint64(i+1), s.spread)
		if err != nil {
			return nil, err
		}
		perf.players = append(perf.players, p)
		if err := p.burst(ctx, r.prompt, stop); err != nil {
			return nil, fmt.Errorf("%s: %w", perf.name, err)
		}
	}
	perf.tellRound(1)
	return perf, nil
}

// meeting is for a provider that answers no request of a burst before all have
// arrived, if they are to meet.
func meeting(ctx context.Context, meet bool) func(*provider.Exchange) {
	if !meet {
		return nil
	}
	var arrived atomic.Int64
	met := make([]chan struct{}, len(burstRoles))
	for i := range met {
		met[i] = make(chan struct{})
	}
	return func(*provider.Exchange) {
		n := int(arrived.Add(1))
		burst := (n - 1) / burstThreads
		if n%burstThreads == 0 {
			close(met[burst])
		}
		select {
		case <-met[burst]:
		case <-ctx.Done():
		}
	}
}

// castBurst gives a role its threads; what begins them takes no turn itself.
func castBurst(r burstRole, seed uint64, through func(http.RoundTripper) http.RoundTripper) (*player, error) {
	main, err := agent.New(agent.Config{Kind: r.kind, URL: "http://replica", Key: r.key, Name: r.name, Seed: seed, Through: through})
	if err != nil {
		return nil, err
	}
	p := &player{role: r.role, turns: 1}
	for range burstThreads {
		p.agents = append(p.agents, main.Subagent())
	}
	return p, nil
}

// burst has all threads begin at once. stop ends what cannot end well.
func (p *player) burst(ctx context.Context, prompt func(thread int) string, stop func()) error {
	defer p.agents[0].Close()
	failed := make([]error, len(p.agents))
	var all sync.WaitGroup
	for i, a := range p.agents {
		all.Go(func() {
			if failed[i] = a.Turn(ctx, prompt(i+1), 0); failed[i] != nil {
				stop()
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}
