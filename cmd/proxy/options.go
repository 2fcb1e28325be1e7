package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy"
)

// options are the flags that stand beside a configuration file and win over it.
type options struct {
	config    string
	listen    string
	admin     string
	log       string
	policy    string
	upstreams list // NAME=URL
	files     list
}

// register adds those flags that say what sessions are given.
func (o *options) register(fs *flagSet) {
	fs.StringVar(&o.config, "config", "", "configuration `FILE`; without one, AGENTS.md in the working directory is the one contributor")
	fs.Var(&o.files, "file", "add the file `PATH` as a contributor (repeatable)")
}

// registerServe adds all flags of serve.
func (o *options) registerServe(fs *flagSet) {
	o.register(fs)
	fs.StringVar(&o.listen, "listen", "", "serve agents at `ADDR` (default 127.0.0.1:8787)")
	fs.StringVar(&o.admin, "admin", "", "serve operators at `ADDR`, or off (default 127.0.0.1:8788)")
	o.registerLog(fs)
	fs.Var(&o.upstreams, "upstream", "send a provider's requests elsewhere: `NAME=URL` with anthropic, openai or a route's name (repeatable)")
	fs.StringVar(&o.policy, "policy", "", "what becomes of a request that cannot carry its prefix: enforced or best_effort (default best_effort)")
}

// registerRead adds the flags that find a log to read.
func (o *options) registerRead(fs *flagSet) {
	fs.StringVar(&o.config, "config", "", "configuration `FILE` that says where the header log is")
	o.registerLog(fs)
}

// registerLog adds the flag that finds the header log.
func (o *options) registerLog(fs *flagSet) {
	fs.StringVar(&o.log, "log", "", "header log at `PATH` (default preface.db)")
}

// override lets the flags win over c.
func (o *options) override(c *config) error {
	for _, f := range []struct {
		to    *string
		value string
	}{{&c.Listen, o.listen}, {&c.Admin, o.admin}, {&c.Log.Path, o.log}} {
		if f.value != "" {
			*f.to = f.value
		}
	}
	for i := range c.Routes {
		if o.policy != "" {
			c.Routes[i].Policy = o.policy
		}
	}
	for _, u := range o.upstreams {
		if err := redirect(c.Routes, u); err != nil {
			return err
		}
	}
	for _, path := range o.files {
		// A typing error should show now, not in the first session.
		if _, err := os.Stat(path); err != nil && !strings.ContainsAny(path, "*?[{") {
			return fmt.Errorf("cannot use -file: %w", err)
		}
		addContributor(c, contrib.Config{Name: fileName(c.Contributors, path), Kind: "file", Paths: []string{path}})
	}
	return nil
}

// redirect sends the routes of a name elsewhere: the route itself and, of the
// built-in ones, its twin under a path prefix.
func redirect(routes []proxy.RouteConfig, flag string) error {
	name, to, err := pair("upstream", flag)
	if err != nil {
		return err
	}
	if u, err := url.Parse(to); err != nil || u.Host == "" {
		return usageError{fmt.Sprintf("cannot use -upstream %s: want http://HOST or https://HOST, with or without a path", name)}
	}
	found := false
	for i := range routes {
		if r := &routes[i]; r.Name == name || r.Name == name+"-prefix" {
			r.Upstream, found = to, true
		}
	}
	if !found {
		return usageError{fmt.Sprintf("cannot use -upstream %s: no route has that name, there are %s", name, strings.Join(routeNames(routes), ", "))}
	}
	return nil
}

func routeNames(routes []proxy.RouteConfig) []string {
	names := make([]string, len(routes))
	for i := range routes {
		names[i] = routes[i].Name
	}
	return names
}

// addContributor puts a contributor last, also in routes that name theirs.
func addContributor(c *config, added contrib.Config) {
	c.Contributors = append(c.Contributors, added)
	for i := range c.Routes {
		if r := &c.Routes[i]; len(r.Contributors) > 0 {
			r.Contributors = append(slices.Clip(r.Contributors), added.Name)
		}
	}
}

// nameContributors gives those without a name the one that they would get
// anyway, so that routes can refer to it.
func nameContributors(all []contrib.Config) {
	for i := range all {
		if all[i].Name == "" {
			all[i].Name = fmt.Sprintf("%s-%d", all[i].Kind, i+1)
		}
	}
}

// fileName names the contributor of a -file after the file, if that makes a
// name that is free; else it is left to its place.
func fileName(all []contrib.Config, path string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return r
		}
		return '-'
	}, filepath.Base(path))
	name = strings.TrimLeft(name[:min(len(name), 64)], "._-")
	taken := slices.ContainsFunc(all, func(c contrib.Config) bool { return c.Name == name })
	if name == "" || taken {
		return fmt.Sprintf("file-%d", len(all)+1)
	}
	return name
}
