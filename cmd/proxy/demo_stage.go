package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	replicas []*replica
	redis    *demoRedis // that the replicas share; nil for one, which has a file
	rotation *rotation  // of the agents over the replicas; nil for one
	page     string     // address of the first replica's page, empty for none
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

func (s *demoStage) logPath() string {
	if s.redis != nil {
		return s.redis.url()
	}
	return filepath.Join(s.dir, "preface.db")
}

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

// setStage starts everything, and as many replicas of the proxy; the first one
// with a page if it is to stay.
func setStage(ctx context.Context, dir string, replicas int, stay bool) (*demoStage, error) {
	s := &demoStage{dir: dir, witness: newWitness(), replicas: newReplicas(replicas)}
	if stay {
		s.page = "127.0.0.1:0"
	}
	arrive := s.witness.arrive
	if replicas > 1 {
		s.rotation = newRotation(s.replicas)
		arrive = func(x *provider.Exchange) { s.witness.arrive(x); s.rotation.arrive(ctx, x) }
	}
	s.provider = provider.New(provider.Options{OnArrive: arrive})
	var err error
	if s.space, err = openWorkspace(); err != nil {
		return nil, err
	}
	if s.messages, err = os.Create(filepath.Join(dir, "messages.log")); err != nil {
		return nil, errors.Join(err, s.strike(ctx))
	}
	for _, step := range []func() error{
		func() error { return s.provider.Start("127.0.0.1:0") },
		func() error { return s.startRedis(ctx) },
		func() error { return s.writeRules(1) },
		func() error { return s.writeConfig(1) },
		func() error { return s.startProxies(ctx) },
		func() error { return s.witness.open(ctx, s.logPath()) },
	} {
		if err := step(); err != nil {
			return nil, errors.Join(err, s.strike(ctx))
		}
	}
	return s, nil
}

func (s *demoStage) startRedis(ctx context.Context) (err error) {
	if len(s.replicas) > 1 {
		s.redis, err = startRedis(ctx, filepath.Join(s.dir, "redis"))
	}
	return err
}

func (s *demoStage) startProxies(ctx context.Context) error {
	for _, r := range s.replicas {
		if err := s.startProxy(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (s *demoStage) startProxy(ctx context.Context, r *replica) error {
	o := options{config: s.configPath()}
	if r.number == 1 {
		o.admin = s.page
	}
	set, err := load(o)
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	logger := slog.New(slog.NewTextHandler(s.messages, &slog.HandlerOptions{Level: level}))
	if len(s.replicas) > 1 {
		logger = logger.With("replica", r.number)
	}
	if r.proxy, err = start(ctx, o, set, logger, level); err == nil && r.proxy.operators != nil {
		s.page = r.proxy.operators.Addr().String() // also after a restart
	}
	return err
}

// url is where the first replica serves agents.
func (s *demoStage) url() string { return "http://" + s.replicas[0].proxy.agents.Addr().String() }

// stopProxies ends the proxies as a signal would: running answers end, and what
// is queued is written.
func (s *demoStage) stopProxies(ctx context.Context) error {
	var failed error
	for _, r := range s.replicas {
		failed = errors.Join(failed, r.stop(ctx))
	}
	return failed
}

// strike stops whatever was started.
func (s *demoStage) strike(ctx context.Context) error {
	err := errors.Join(s.stopProxies(context.WithoutCancel(ctx)), s.provider.Close(), s.space.close(), s.witness.close(), s.redis.stop())
	if s.messages != nil {
		err = errors.Join(err, s.messages.Close())
	}
	return err
}

// playThrough plays through the proxy and returns what was seen. If it is to stay,
// the proxies run again afterwards.
func playThrough(ctx context.Context, dir string, replicas int, stay bool, tell *narrator) (e *evidence, err error) {
	s, err := setStage(ctx, dir, replicas, stay)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil || !stay {
			err = errors.Join(err, s.strike(ctx))
		}
	}()
	tell.open(s.page)
	perf := &performance{name: "through " + theProxy(replicas), provider: s.provider, tell: tell, during: s.duringTurn}
	perf.before = func(ctx context.Context, turn int) error { return s.beforeTurn(ctx, turn, perf) }
	err = perf.cast(func(r *role, cfg *agent.Config) {
		cfg.URL, cfg.OnSend = s.url()+r.path, s.witness.sends
		if s.rotation != nil {
			cfg.Through = s.rotation.seat(r.name)
		}
	})
	if err == nil {
		err = perf.play(ctx)
	}
	if err == nil {
		err = s.stopProxies(ctx)
	}
	if err != nil {
		return nil, err
	}
	if e, err = s.gather(ctx, perf); err != nil || !stay {
		return e, err
	}
	e.left = s
	return e, s.startProxies(ctx)
}

// theProxy says through what agents send.
func theProxy(replicas int) string {
	if replicas > 1 {
		return fmt.Sprintf("%d replicas of the proxy", replicas)
	}
	return "the proxy"
}

func (s *demoStage) beforeTurn(ctx context.Context, turn int, perf *performance) error {
	switch {
	case turn == editTurn:
		return s.writeRules(2)
	case turn == reloadTurn:
		return s.writeConfig(2)
	case s.rolls(turn):
		s.rotation.hold(perf.playing())
	case turn == restartTurn && s.rotation == nil:
		if err := errors.Join(s.stopProxies(ctx), s.startProxies(ctx)); err != nil {
			return err
		}
		perf.move(s.url())
	}
	return nil
}

// duringTurn reloads, or rolls a replica, while requests are under way.
func (s *demoStage) duringTurn(ctx context.Context, turn int) error {
	if s.rolls(turn) {
		return s.roll(ctx, turn)
	}
	if turn != reloadTurn {
		return nil
	}
	var failed error
	for _, r := range s.replicas {
		failed = errors.Join(failed, r.proxy.reload())
	}
	return failed
}

// stay keeps everything open until ctx ends.
func (s *demoStage) stay(ctx context.Context, w io.Writer) {
	fmt.Fprintf(w, "\nthe page stays at http://%s/ and takes what goes through %s, until Ctrl-C\n", s.page, s.url())
	<-ctx.Done()
}
