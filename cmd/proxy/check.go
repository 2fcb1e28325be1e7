package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy"
)

// check validates a configuration and lints what it composes.
func check(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy check [flags]",
		"Loads and validates a configuration, runs every contributor twice for a made-up\nsession of each route, and prints how large the prefixes are. Warns of text that\ndiffers between the two runs or looks as if it would: each new session would pay\nfor it. Exits 1 on an error, with -strict also on a warning.",
		"proxy check -config preface.yaml\nproxy check -config preface.yaml -strict -model claude-x -header x-team=blue")
	var o options
	var m imagined
	o.registerServe(fs)
	m.register(fs)
	strict := fs.Bool("strict", false, "treat warnings as errors")
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	s, err := load(o)
	if err != nil {
		return err
	}
	c := &checker{w: stdout, settings: s, session: m, warned: map[string]bool{}}
	c.run(ctx)
	fmt.Fprintf(stdout, "check: %s, %s\n", legible.Plural(c.errors, "error"), legible.Plural(len(c.warned), "warning"))
	if c.errors > 0 || *strict && len(c.warned) > 0 {
		return quietError{}
	}
	return nil
}

// A checker prints what it finds.
type checker struct {
	*settings
	w       io.Writer
	session imagined
	shown   []string // who gave what, as it was printed
	warned  map[string]bool
	errors  int
}

func (c *checker) run(ctx context.Context) {
	fmt.Fprintf(c.w, "configuration %s, log %s\n", legible.Short(c.hash), c.written(c.Log.Path))
	if len(c.Contributors) == 0 {
		c.warn("there are no contributors: requests pass without a prefix")
	}
	c.unused()
	for _, r := range c.Routes {
		c.route(ctx, r)
	}
}

// unused warns of contributors that no route takes.
func (c *checker) unused() {
	for _, con := range c.Contributors {
		takes := func(r proxy.RouteConfig) bool {
			return len(r.Contributors) == 0 || slices.Contains(r.Contributors, con.Name)
		}
		if !slices.ContainsFunc(c.Routes, takes) {
			c.warn("contributor %s: no route takes it", con.Name)
		}
	}
}

// route composes twice for each dialect of a route.
func (c *checker) route(ctx context.Context, r proxy.RouteConfig) {
	fmt.Fprintf(c.w, "route %s: %s, path %s, to %s, policy %s\n", r.Name, r.Dialect, r.Path, c.written(r.Upstream), r.Policy)
	dialects := dialectsOf(r)
	if c.session.dialect != "" {
		dialects = slices.DeleteFunc(dialects, func(d string) bool { return d != c.session.dialect })
	}
	for _, d := range dialects {
		m := c.session
		m.dialect = d
		first, err := c.composed(ctx, r, m)
		if err != nil {
			c.fail(err)
			return
		}
		second, err := c.composed(ctx, r, m)
		if err != nil {
			c.fail(fmt.Errorf("the second run failed: %w", err))
			return
		}
		c.describe(first)
		c.lint(first, second)
	}
}

func (c *checker) fail(err error) {
	c.errors++
	fmt.Fprintf(c.w, "error: %v\n", c.hide(err))
}

// warn prints a warning once, however many routes it is true of.
func (c *checker) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.warned[text] {
		c.warned[text] = true
		fmt.Fprintf(c.w, "warning: %s\n", text)
	}
}

// describe prints sizes, and who gave what where that is first seen.
func (c *checker) describe(p *composition) {
	if p.Prefix == "" {
		fmt.Fprintf(c.w, "  %s: bare; empty\n", p.Dialect)
	} else {
		fmt.Fprintf(c.w, "  %s: prefix %s, %s, %s\n", p.Dialect, legible.Short(p.Prefix), legible.Plural(len(p.Messages), "message"), size(p.textBytes()))
	}
	var who strings.Builder
	for _, con := range p.Contributors {
		fmt.Fprintf(&who, "    contributor %s (%s): %s, %s\n", con.Name, con.Kind, con.Outcome, size(con.Bytes))
	}
	if text := who.String(); !slices.Contains(c.shown, text) {
		c.shown = append(c.shown, text)
		fmt.Fprint(c.w, text)
	}
	for _, r := range p.Renderings {
		fmt.Fprintf(c.w, "    rendering %s: %s\n", r.Name, size(r.Size))
	}
}

// lint warns of what a prompt cache could not use, and of what was skipped.
func (c *checker) lint(first, second *composition) {
	for i, con := range first.result.Contributions {
		if strings.HasPrefix(con.Outcome, contrib.Skipped) {
			c.warn("contributor %s: %s", con.Name, con.Outcome)
		}
		one, two := first.result.From(i), second.result.From(i)
		if at, message, differ := contrib.Diff(one, two); differ {
			c.warn("contributor %s: message %d differs between two runs, from byte %d on", con.Name, message+1, at)
		}
		if !c.allowsVolatile(con.Name) {
			c.volatile(con.Name, one)
		}
	}
}

func (c *checker) allowsVolatile(name string) bool {
	return slices.ContainsFunc(c.Contributors, func(con contrib.Config) bool { return con.Name == name && con.AllowVolatile })
}

func (c *checker) volatile(name string, ms []contrib.Message) {
	for i, m := range ms {
		for _, f := range contrib.Volatile(m.Text) {
			c.warn("contributor %s: message %d looks volatile: %s %q at byte %d (allow_volatile: true if it stands still)", name, i+1, f.Kind, f.Text, f.Offset)
		}
	}
}
