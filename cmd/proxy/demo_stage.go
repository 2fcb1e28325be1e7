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

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
)

// A demoStage is what the demo's proxy stands on: a provider before which a witness
// stands, a service that contributes, and a folder with the configuration, the
// opener, the log and the proxy's messages.
type demoStage struct {
	dir      string
	provider *provider.Provider
	witness  *witness
	space    *workspace
	messages *os.File // of the proxy
	proxy    *service // nil while there is none
}

// emptyRoutePath leads to the route whose contributor gives nothing.
const emptyRoutePath = "/nothing"

// demoConfig is the configuration. The times are long, so that a slow machine
// changes nothing.
const demoConfig = `listen: 127.0.0.1:0
admin: "off"
log: {path: <log>, timeout: 20s}
prefix: {compose_timeout: 20s}
contributors:
  - {name: policy, kind: text, text: "Team policy, version <version>: ask before you delete."}
  - {name: agents-md, kind: file, root: <folder>, paths: [AGENTS.md], deadline: 20s}
  - {name: workspace, kind: http, url: <workspace>, deadline: 20s}
  - {name: nothing, kind: file, root: <folder>, paths: ["nothing/*.md"], deadline: 20s}
routes:
  - {name: anthropic, dialect: anthropic, upstream: <provider>, policy: enforced, contributors: [<order>]}
  - {name: openai, dialect: openai, upstream: <provider>, policy: enforced, contributors: [<order>]}
  - {name: empty, path: <empty>, dialect: anthropic, upstream: <provider>, policy: enforced, contributors: [nothing]}
`

// writeConfig writes the first version, or the second, which is loaded while the
// proxy runs.
func (s *demoStage) writeConfig(version int) error {
	order := "policy, agents-md, workspace"
	if version > 1 {
		order = "workspace, policy, agents-md"
	}
	text := strings.NewReplacer(
		"<folder>", strconv.Quote(s.dir), "<log>", strconv.Quote(s.logPath()), "<version>", strconv.Itoa(version), "<order>", order,
		"<workspace>", strconv.Quote(s.space.url), "<provider>", strconv.Quote(s.provider.URL()), "<empty>", emptyRoutePath,
	).Replace(demoConfig)
	return os.WriteFile(s.configPath(), []byte(text), 0o600)
}

func (s *demoStage) logPath() string    { return filepath.Join(s.dir, "preface.db") }
func (s *demoStage) configPath() string { return filepath.Join(s.dir, "preface.yaml") }

// writeRules writes the file that is in every opener.
func (s *demoStage) writeRules(version int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Rules of this repository, version %d\n\n", version)
	for i := range 60 {
		fmt.Fprintf(&b, "%d. Read the file before you change it, run the tests of package %d, and say <what> & why in one line.\n", i+1, i+1)
	}
	return os.WriteFile(filepath.Join(s.dir, "AGENTS.md"), []byte(b.String()), 0o600)
}

// setStage starts everything.
func setStage(ctx context.Context, dir string) (*demoStage, error) {
	s := &demoStage{dir: dir, witness: newWitness()}
	s.provider = provider.New(provider.Options{OnArrive: s.witness.arrive})
	var err error
	if s.space, err = openWorkspace(); err != nil {
		return nil, err
	}
	if s.messages, err = os.Create(filepath.Join(dir, "messages.log")); err != nil {
		return nil, errors.Join(err, s.strike(ctx))
	}
	for _, step := range []func() error{
		func() error { return s.provider.Start("127.0.0.1:0") },
		func() error { return s.writeRules(1) },
		func() error { return s.writeConfig(1) },
		func() error { return s.startProxy(ctx) },
		func() error { return s.witness.open(ctx, s.logPath()) },
	} {
		if err := step(); err != nil {
			return nil, errors.Join(err, s.strike(ctx))
		}
	}
	return s, nil
}

func (s *demoStage) startProxy(ctx context.Context) (err error) {
	o := options{config: s.configPath()}
	set, err := load(o)
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	s.proxy, err = start(ctx, o, set, slog.New(slog.NewTextHandler(s.messages, &slog.HandlerOptions{Level: level})), level)
	return err
}

// url is where the proxy serves agents.
func (s *demoStage) url() string { return "http://" + s.proxy.agents.Addr().String() }

// stopProxy ends the proxy as a signal would: running answers end, and what is
// queued is written.
func (s *demoStage) stopProxy(ctx context.Context) error {
	if s.proxy == nil {
		return nil
	}
	err := s.proxy.close(ctx)
	s.proxy = nil
	return err
}

// strike stops whatever was started.
func (s *demoStage) strike(ctx context.Context) error {
	err := errors.Join(s.stopProxy(context.WithoutCancel(ctx)), s.provider.Close(), s.space.close(), s.witness.close())
	if s.messages != nil {
		err = errors.Join(err, s.messages.Close())
	}
	return err
}

// playThrough plays through the proxy and returns what was seen.
func playThrough(ctx context.Context, dir string, tell *narrator) (e *evidence, err error) {
	s, err := setStage(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.strike(ctx)) }()
	perf := &performance{name: "through the proxy", provider: s.provider, tell: tell, during: s.duringTurn}
	perf.before = func(ctx context.Context, turn int) error { return s.beforeTurn(ctx, turn, perf) }
	err = perf.cast(func(r *role, cfg *agent.Config) { cfg.URL, cfg.OnSend = s.url()+r.path, s.witness.sends })
	if err == nil {
		err = perf.play(ctx)
	}
	if err == nil {
		err = s.stopProxy(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.gather(ctx, perf)
}

func (s *demoStage) beforeTurn(ctx context.Context, turn int, perf *performance) error {
	switch turn {
	case editTurn:
		return s.writeRules(2)
	case reloadTurn:
		return s.writeConfig(2)
	case restartTurn:
		if err := errors.Join(s.stopProxy(ctx), s.startProxy(ctx)); err != nil {
			return err
		}
		perf.move(s.url())
	}
	return nil
}

// duringTurn reloads while requests are under way.
func (s *demoStage) duringTurn(_ context.Context, turn int) error {
	if turn == reloadTurn {
		return s.proxy.reload()
	}
	return nil
}
