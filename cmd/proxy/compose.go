package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy"
)

// compose prints the prefix that a session would get now. Nothing is frozen.
func compose(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy compose [flags]",
		"Runs the contributors as for a new session, and prints what they compose. Nothing\nis frozen and no log is opened: what running sessions were given, proxy sessions\ntells.",
		"proxy compose -config preface.yaml -route anthropic -model claude-x\nproxy compose -file AGENTS.md -format rendering -dialect openai-chat")
	var o options
	var m imagined
	o.register(fs)
	m.register(fs)
	route := fs.String("route", "", "the `ROUTE` that composes (default the first with the dialect)")
	format := fs.String("format", "text", "text, json, or rendering: the exact bytes for the dialect")
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	show, ok := formats[*format]
	if !ok {
		return fs.misused("cannot use -format %q: want text, json or rendering", *format)
	}
	s, err := load(o)
	if err != nil {
		return err
	}
	r, err := routeNamed(s.Routes, *route, m.dialect)
	if err != nil {
		return err
	}
	p, err := s.composed(ctx, r, m)
	if err != nil {
		return s.hide(err)
	}
	return show(stdout, p)
}

// A composition is what one imagined session would get.
type composition struct {
	Route        string                 `json:"route"`
	Dialect      string                 `json:"dialect"`
	Prefix       string                 `json:"prefix,omitempty"` // empty: the session would be bare
	Messages     []logsink.Message      `json:"messages,omitempty"`
	Contributors []logsink.Contribution `json:"contributors,omitempty"`
	Renderings   []logsink.Rendering    `json:"renderings,omitempty"` // of the dialect

	result contrib.Result
}

func (s *settings) composed(ctx context.Context, r proxy.RouteConfig, m imagined) (*composition, error) {
	about, err := m.of(r)
	if err != nil {
		return nil, err
	}
	c, err := s.composer(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Prefix.ComposeTimeout)
	defer cancel()
	p := &composition{Route: r.Name, Dialect: about.Dialect}
	if p.result, err = c.Compose(ctx, about); err != nil {
		return nil, fmt.Errorf("cannot compose for route %q: %w", r.Name, err)
	}
	return p, p.render()
}

// render adds what the log would hold of it.
func (p *composition) render() error {
	for _, c := range p.result.Contributions {
		p.Contributors = append(p.Contributors, logsink.Contribution(c))
	}
	for _, m := range p.result.Messages {
		p.Messages = append(p.Messages, logsink.Message(m))
	}
	if len(p.Messages) == 0 {
		return nil
	}
	p.Prefix = logsink.PrefixHash(p.Messages)
	all, err := proxy.Render(p.Messages)
	if err != nil {
		return fmt.Errorf("cannot render for route %q: %w", p.Route, err)
	}
	for _, r := range all {
		if d, _, _ := strings.Cut(r.Name, "."); d == p.Dialect {
			p.Renderings = append(p.Renderings, r)
		}
	}
	return nil
}

// textBytes is the size of all messages.
func (p *composition) textBytes() int {
	n := 0
	for _, m := range p.Messages {
		n += len(m.Text)
	}
	return n
}

var formats = map[string]func(io.Writer, *composition) error{
	"text":      printText,
	"json":      func(w io.Writer, p *composition) error { return printJSON(w, p) },
	"rendering": printRenderings,
}

func printText(w io.Writer, p *composition) error {
	if p.Prefix == "" {
		_, err := fmt.Fprintf(w, "route %s: bare; empty\n", p.Route)
		return err
	}
	fmt.Fprintf(w, "route %s: %s, %s, %s\n", p.Route, p.Prefix, legible.Plural(len(p.Messages), "message"), size(p.textBytes()))
	for i, c := range p.result.Contributions {
		for _, m := range p.result.From(i) {
			fmt.Fprintf(w, "\n--- %s, from %s\n%s\n", m.Role, c.Name, strings.TrimSuffix(m.Text, "\n"))
		}
	}
	return nil
}

// printRenderings writes the frozen bytes under a line with their name, one
// placement after the other.
func printRenderings(w io.Writer, p *composition) error {
	for _, r := range p.Renderings {
		if _, err := fmt.Fprintf(w, "--- %s, %d bytes, sha256:%s\n%s\n", r.Name, r.Size, r.SHA256, r.Bytes); err != nil {
			return err
		}
	}
	return nil
}
