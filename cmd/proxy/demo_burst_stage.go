package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

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

// A burstStage is what a burst is played on: replicas on one log in front of a
// provider.
type burstStage struct {
	provider *provider.Provider
	redis    *demoRedis // the log of several replicas, nil for one
	proxies  []*service
	addrs    []string // of proxies
	next     atomic.Int64
}

func (s *burstStage) set(ctx context.Context, dir string, replicas int, hold time.Duration) (err error) {
	s.provider.SetFault(provider.Fault{Delay: burstPause})
	if err := errors.Join(s.provider.Start("127.0.0.1:0"), os.Mkdir(dir, 0o700)); err != nil {
		return err
	}
	d := &demoStage{dir: dir}
	log := d.logPath()
	if replicas > 1 {
		if s.redis, err = startRedis(ctx, filepath.Join(dir, "redis")); err != nil {
			return err
		}
		log = s.redis.url()
	}
	text := strings.NewReplacer(
		"<folder>", strconv.Quote(dir), "<log>", strconv.Quote(log), "<hold>", hold.String(), "<provider>", strconv.Quote(s.provider.URL()),
	).Replace(burstConfig)
	if err := errors.Join(d.writeRules(1), os.WriteFile(d.configPath(), []byte(text), 0o600)); err != nil {
		return err
	}
	return s.start(ctx, options{config: d.configPath()}, max(1, replicas))
}

func (s *burstStage) start(ctx context.Context, o options, replicas int) error {
	for range replicas {
		set, err := load(o)
		if err != nil {
			return err
		}
		v, err := start(ctx, o, set, slog.New(slog.DiscardHandler), new(slog.LevelVar))
		if err != nil {
			return err
		}
		s.proxies, s.addrs = append(s.proxies, v), append(s.addrs, v.agents.Addr().String())
	}
	return nil
}

// strike stops whatever was started.
func (s *burstStage) strike(ctx context.Context) error {
	var failed error
	for _, v := range s.proxies {
		failed = errors.Join(failed, v.close(ctx))
	}
	return errors.Join(failed, s.provider.Close(), s.redis.stop())
}

// spread sends each request to the next replica.
func (s *burstStage) spread(inner http.RoundTripper) http.RoundTripper { return &spreading{s, inner} }

type spreading struct {
	*burstStage
	inner http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s *spreading) RoundTrip(req *http.Request) (*http.Response, error) {
	addr := s.addrs[int(s.next.Add(1)-1)%len(s.addrs)]
	out := req.Clone(req.Context())
	out.URL.Host, out.Host = addr, addr
	return s.inner.RoundTrip(out)
}

// CloseIdleConnections is for the agent's Close.
func (s *spreading) CloseIdleConnections() { closeIdle(s.inner) }
