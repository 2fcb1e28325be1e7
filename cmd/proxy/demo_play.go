package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/internal/legible"
)

// demoTurns is how many prompts each agent's user has.
const demoTurns = 12

// When it happens.
const (
	raceTurn    = 1 // beside the first turn
	editTurn    = 4
	reloadTurn  = 5
	forkTurn    = 6
	restartTurn = 7
	resumeTurn  = 9
	countTurn   = 10
)

// A role is one agent of the demo.
type role struct {
	name    string
	kind    agent.Kind
	key     string // API key, which makes the tenant
	session string // "" is the agent's own choice
	path    string // before the API's, to choose a route of the demo's
	ttl     string
	resume  string // signal at resumeTurn
	helper  bool   // a subagent begins beside the first turn
	// What it does beside a turn, and after one.
	beside, after map[int]aside

	// What is to become of it.
	epochs []epochWanted
}

// bare reports whether the session is to have no opener.
func (r *role) bare() bool { return r.epochs[0].bare != "" }

// An aside is what an agent does beside its turns.
type aside func(ctx context.Context, p *player, prompt string) error

// An epochWanted is an epoch that a session is to have.
type epochWanted struct {
	bare string // the reason of a bare one
	why  string // of one that kept its bytes
	same bool   // its prefix is that of the epoch before
}

// Two tenants name their sessions alike, which is no reason to meet.
const sharedSession = "5e551011-0000-7000-8000-00000000c0de"

// demoRoles are the agents: four sessions with an opener, and one on a route
// that composes nothing. No two can share a cache: those of one provider have
// different keys or cache keys. So costs are the same in every run.
func demoRoles() []role {
	once := []epochWanted{{}}
	return []role{
		{
			name: "claude-1", kind: agent.Claude, key: "sk-demo-anthropic-1", session: sharedSession, resume: "back-again",
			beside: map[int]aside{raceTurn: askTitle}, epochs: []epochWanted{{}, {why: "signed_history", same: true}},
		},
		{
			name: "claude-2", kind: agent.Claude, key: "sk-demo-anthropic-2", session: sharedSession, ttl: "1h", helper: true,
			beside: map[int]aside{raceTurn: helpOut, countTurn: countFragments}, after: map[int]aside{countTurn: countWhole}, epochs: once,
		},
		{
			name: "codex", kind: agent.Codex, key: "sk-demo-openai", resume: "1",
			after: map[int]aside{forkTurn: forkOff}, epochs: []epochWanted{{}, {}},
		},
		{
			name: "chat", kind: agent.Chat, key: "sk-demo-openai",
			beside: map[int]aside{raceTurn: askTitle}, epochs: once,
		},
		{
			name: "control", kind: agent.Claude, key: "sk-demo-anthropic-3", path: emptyRoutePath,
			epochs: []epochWanted{{bare: "empty"}},
		},
	}
}

func askTitle(ctx context.Context, p *player, prompt string) error {
	return p.agents[0].Title(ctx, prompt)
}

func helpOut(ctx context.Context, p *player, _ string) error {
	return p.agents[1].Turn(ctx, "Look around before I ask.", 1)
}

func forkOff(ctx context.Context, p *player, _ string) error {
	fork := p.agents[0].Subagent()
	p.agents = append(p.agents, fork)
	return fork.Turn(ctx, "Try the other way.", 1)
}

func countFragments(ctx context.Context, p *player, _ string) error {
	return p.agents[0].Fragments(ctx)
}

func countWhole(ctx context.Context, p *player, _ string) error { return p.agents[0].Count(ctx) }

// A player is a role in one performance. Between rounds it belongs to the
// performance, within one to the goroutine that takes its turn.
type player struct {
	role
	script []agent.Step
	agents []*agent.Agent // the main one first
	failed error          // ends its play
	turns  int            // that it has had
}

// A performance is the script played once.
type performance struct {
	name     string
	provider *provider.Provider
	players  []*player
	tell     *narrator
	told     int // the latest exchange that was told of
	// What is done before a round, and while one runs; both may be nil.
	before, during func(ctx context.Context, turn int) error
}

// cast gives the roles their agents. change adds to an agent's configuration
// where it sends, and what else is of this performance.
func (perf *performance) cast(change func(r *role, cfg *agent.Config)) error {
	for i, r := range demoRoles() {
		cfg := agent.Config{Kind: r.kind, Key: r.key, Name: r.name, Seed: uint64(i + 1), Session: r.session, TTL: r.ttl}
		change(&r, &cfg)
		a, err := agent.New(cfg)
		if err != nil {
			return err
		}
		p := &player{role: r, agents: []*agent.Agent{a}, script: agent.Script(cfg.Seed, demoTurns)}
		if r.helper {
			p.agents = append(p.agents, a.Subagent())
		}
		perf.players = append(perf.players, p)
	}
	return nil
}

// play takes all players through the script, turn by turn, so that what happens
// between two turns happens to all of them. A player that fails plays no more.
func (perf *performance) play(ctx context.Context) error {
	defer perf.leave()
	for turn := 1; turn <= demoTurns; turn++ {
		perf.tell.turn(perf.name, turn)
		if perf.before != nil {
			if err := perf.before(ctx, turn); err != nil {
				return err
			}
		}
		if err := perf.round(ctx, turn); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (perf *performance) round(ctx context.Context, turn int) (err error) {
	var all sync.WaitGroup
	for _, p := range perf.players {
		if p.failed == nil {
			all.Go(func() { p.take(ctx, turn) })
		}
	}
	if perf.during != nil {
		err = perf.during(ctx, turn)
	}
	all.Wait()
	perf.tellRound(turn)
	return err
}

// take is a player's turn.
func (p *player) take(ctx context.Context, turn int) {
	p.turns = turn
	step := p.script[turn-1]
	if turn == resumeTurn && p.resume != "" {
		p.agents[0].Resume(p.resume)
	}
	var beside sync.WaitGroup
	var failed error
	if do := p.beside[turn]; do != nil {
		beside.Go(func() { failed = do(ctx, p, step.Prompt) })
	}
	err := p.agents[0].Turn(ctx, step.Prompt, step.Calls)
	beside.Wait()
	if do := p.after[turn]; do != nil && err == nil {
		err = do(ctx, p, step.Prompt)
	}
	p.failed = errors.Join(err, failed)
}

// playing is how many players still play.
func (perf *performance) playing() int {
	n := 0
	for _, p := range perf.players {
		if p.failed == nil {
			n++
		}
	}
	return n
}

// tellRound tells what each player's turn used, and what it was given.
func (perf *performance) tellRound(turn int) {
	used := map[string]bill{}
	for _, x := range perf.provider.ReceivedAfter(perf.told) {
		b := used[playerOf(&x)]
		b.Requests++
		b.Tokens = b.Tokens.Plus(x.Tokens)
		used[playerOf(&x)] = b
		perf.told = x.ID
	}
	for _, p := range perf.players {
		switch {
		case p.turns == turn && p.failed == nil:
			perf.tell.tell("%s, turn %2d: %-8s %s%s", perf.name, turn, p.name, used[p.name], p.given())
		case p.turns == turn:
			perf.tell.tell("%s, turn %2d: %-8s %v", perf.name, turn, p.name, p.failed)
		}
	}
}

// given tells the epoch and prefix of the latest answer, if a proxy told them.
func (p *player) given() string {
	calls := p.agents[0].Calls()
	h := calls[len(calls)-1].Header
	if h.Get("X-Preface-Prefix") == "" {
		return ""
	}
	return fmt.Sprintf("; epoch %s, %s", h.Get("X-Preface-Epoch"), legible.Short(h.Get("X-Preface-Prefix")))
}

// move has all agents send elsewhere from now on.
func (perf *performance) move(url string) {
	for _, p := range perf.players {
		for _, a := range p.agents {
			a.Move(url + p.path)
		}
	}
}

// leave closes the agents' connections.
func (perf *performance) leave() {
	for _, p := range perf.players {
		p.agents[0].Close()
	}
}

// playAlone plays against a fresh provider without a proxy. opener, if not nil,
// is what a player's agent puts in front of its history, made anew for each
// request.
func playAlone(ctx context.Context, name string, opener func(player string, request int) string, tell *narrator) (*performance, error) {
	perf := &performance{name: name, provider: provider.New(provider.Options{}), tell: tell}
	if err := perf.provider.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	err := perf.cast(func(r *role, cfg *agent.Config) {
		cfg.URL = perf.provider.URL()
		if opener != nil && !r.bare() {
			name := r.name
			cfg.Opener = func(request int) string { return opener(name, request) }
		}
	})
	if err == nil {
		err = perf.play(ctx)
	}
	return perf, errors.Join(err, perf.provider.Close())
}
