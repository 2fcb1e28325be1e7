package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

const burstConfig = `listen: 127.0.0.1:0
admin: "off"
log: {path: <log>, timeout: 20s}
prefix: {compose_timeout: 20s}
burst: {hold: <hold>}
contributors:
  - {name: agents-md, kind: file, root: <folder>, paths: [AGENTS.md], deadline: 20s}
routes:
  - {name: anthropic, dialect: anthropic, upstream: <provider>, policy: enforced}
  - {name: openai, dialect: openai, upstream: <provider>, policy: enforced}
`

// playBursts has the threads of two agents begin at once, twice: without
// burst.hold, where none is answered before all have arrived, and with it.
func playBursts(ctx context.Context, dir string, tell *narrator) ([]demoBurst, error) {
	free, err := playBurst(ctx, filepath.Join(dir, "burst-free"), 0, tell)
	if err != nil {
		return nil, err
	}
	held, err := playBurst(ctx, filepath.Join(dir, "burst-held"), burstHold, tell)
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

// playBurst plays the bursts one after the other, through a proxy and to a
// provider of their own.
func playBurst(ctx context.Context, dir string, hold time.Duration, tell *narrator) (perf *performance, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	perf = &performance{name: fmt.Sprintf("burst with hold %v", hold), tell: tell}
	perf.provider = provider.New(provider.Options{OnArrive: meeting(ctx, hold == 0)})
	perf.provider.SetFault(provider.Fault{Delay: burstPause})
	defer func() { err = errors.Join(err, perf.provider.Close()) }()
	proxy, err := startBurst(ctx, dir, hold, perf.provider)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, proxy.close(context.WithoutCancel(ctx))) }()
	for i, r := range burstRoles {
		p, err := castBurst(r, uint64(i+1), "http://"+proxy.agents.Addr().String())
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

func startBurst(ctx context.Context, dir string, hold time.Duration, p *provider.Provider) (*service, error) {
	if err := errors.Join(p.Start("127.0.0.1:0"), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	s := &demoStage{dir: dir}
	text := strings.NewReplacer(
		"<folder>", strconv.Quote(dir), "<log>", strconv.Quote(s.logPath()), "<hold>", hold.String(), "<provider>", strconv.Quote(p.URL()),
	).Replace(burstConfig)
	if err := errors.Join(s.writeRules(1), os.WriteFile(s.configPath(), []byte(text), 0o600)); err != nil {
		return nil, err
	}
	o := options{config: s.configPath()}
	set, err := load(o)
	if err != nil {
		return nil, err
	}
	return start(ctx, o, set, slog.New(slog.DiscardHandler), new(slog.LevelVar))
}

// castBurst gives a role its threads; what begins them takes no turn itself.
func castBurst(r burstRole, seed uint64, url string) (*player, error) {
	main, err := agent.New(agent.Config{Kind: r.kind, URL: url, Key: r.key, Name: r.name, Seed: seed})
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
