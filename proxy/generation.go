package proxy

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/identity"
	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A Setup is a configuration with its contributors: all that a reload replaces.
type Setup struct {
	Config       Config
	Contributors []contrib.Config
	Hash         string // of the configuration, for anchors
	Prices       *usage.Prices
}

// Composer returns what composes the prefixes of a route.
func (s *Setup) Composer(rc RouteConfig) (*contrib.Composer, error) {
	c, _, err := s.composer(rc)
	return c, err
}

// composer returns the contributors that it composes with, too.
func (s *Setup) composer(rc RouteConfig) (*contrib.Composer, []contrib.Config, error) {
	chosen, err := choose(s.Contributors, rc.Contributors)
	if err != nil {
		return nil, nil, err
	}
	c, err := contrib.NewComposer(chosen)
	return c, chosen, err
}

// A generation is a Setup made ready. It is immutable; a request loads it once
// and keeps it to its end.
type generation struct {
	cfg      Config
	prices   *usage.Prices
	routes   routes
	resolver *identity.Resolver
	ups      map[string]*upstream // by base URL
	// depths says, by dialect, how deep a body is indexed: as deep as the
	// dialect or the sources of identity look.
	depths map[string]func(name []byte) int
}

// generate makes a generation, all or nothing. Connections to providers that
// the one before has too go on being used, under the limits and timeouts that the
// server began with.
func (s *Server) generate(setup Setup, before *generation) (*generation, error) {
	cfg := setup.Config
	cfg.SetDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g := &generation{cfg: cfg, prices: setup.Prices, ups: map[string]*upstream{}}
	if before != nil {
		maps.Copy(g.ups, before.ups)
		g.cfg.Limits, g.cfg.Timeouts = before.cfg.Limits, before.cfg.Timeouts
	}
	var err error
	if g.resolver, err = s.resolver(cfg.Identity, before); err != nil {
		return nil, err
	}
	list := make([]*route, len(cfg.Routes))
	for i, rc := range cfg.Routes {
		if list[i], err = s.route(g, rc, setup); err != nil {
			return nil, fmt.Errorf("route %q: %w", rc.Name, err)
		}
		list[i].firstByte = s.counters.FirstByte(rc.Name)
	}
	g.routes, g.depths = newRoutes(list), depths(g.resolver)
	return g, nil
}

func (s *Server) route(g *generation, rc RouteConfig, setup Setup) (*route, error) {
	up, err := g.upstream(rc.Upstream, s.watch)
	if err != nil {
		return nil, err
	}
	c, chosen, err := setup.composer(rc)
	if err != nil {
		return nil, err
	}
	return &route{
		RouteConfig: rc, dialects: rc.dialects(), upstream: up, headers: c.HeaderNames(),
		recipe: &prefixstore.Recipe{Route: rc.Name, Config: setup.Hash, Compose: s.watched(c.Compose, chosen), Render: Render},
	}, nil
}

func (g *generation) upstream(base string, watch *wire.Watcher) (*upstream, error) {
	if up, ok := g.ups[base]; ok {
		return up, nil
	}
	up, err := newUpstream(base, g.cfg.Limits, g.cfg.Timeouts, watch)
	if err == nil {
		g.ups[base] = up
	}
	return up, err
}

func depths(r *identity.Resolver) map[string]func([]byte) int {
	m := map[string]func([]byte) int{}
	for _, name := range dialect.Names() {
		d, _ := dialect.Get(name) // a listed name is there
		m[name] = func(top []byte) int { return max(d.Depth(top), r.Depth(top)) }
	}
	return m
}

// sameIdentity reports whether a configuration finds sessions as this
// generation does.
func (g *generation) sameIdentity(cfg identity.Config) bool {
	return reflect.DeepEqual(g.cfg.Identity, cfg)
}

// choose picks contributors by name, in the order that names says; no names
// mean all.
func choose(all []contrib.Config, names []string) ([]contrib.Config, error) {
	if len(names) == 0 {
		return all, nil
	}
	var out []contrib.Config
	for _, name := range names {
		i := indexOf(all, name)
		if i < 0 {
			return nil, fmt.Errorf("contributors: no contributor is named %q", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

func indexOf(all []contrib.Config, name string) int {
	for i := range all {
		if all[i].Name == name {
			return i
		}
	}
	return -1
}

// Render writes messages in the bytes of every dialect.
func Render(msgs []logsink.Message) ([]logsink.Rendering, error) {
	in := make([]dialect.Message, len(msgs))
	for i, m := range msgs {
		in[i] = dialect.Message(m)
	}
	var out []logsink.Rendering
	for _, name := range dialect.Names() {
		d, err := dialect.Get(name)
		if err != nil {
			return nil, err
		}
		rs, err := d.Renderings(in)
		if err != nil {
			return nil, fmt.Errorf("dialect %s: %w", name, err)
		}
		for _, r := range rs {
			out = append(out, logsink.NewRendering(r.Name, r.Bytes))
		}
	}
	return out, nil
}
