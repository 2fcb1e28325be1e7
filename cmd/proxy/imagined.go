package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// imagined is a session that is only thought of, to compose for.
type imagined struct {
	tenant, session, dialect, model string
	headers                         list // NAME=VALUE
}

func (m *imagined) register(fs *flagSet) {
	fs.StringVar(&m.session, "session", "example-session", "the session's `ID`")
	fs.StringVar(&m.tenant, "tenant", strings.Repeat("0", 32), "the session's `TENANT`, a hash")
	fs.StringVar(&m.dialect, "dialect", "", "the `DIALECT` of its requests (default the route's first)")
	fs.StringVar(&m.model, "model", "", "the `MODEL` of its requests")
	fs.Var(&m.headers, "header", "a header of its requests: `NAME=VALUE` (repeatable)")
}

// of returns the session as one of a route's.
func (m *imagined) of(r proxy.RouteConfig) (contrib.Session, error) {
	s := contrib.Session{
		Tenant: m.tenant, Session: m.session, Epoch: 1, Reason: "initial",
		Route: r.Name, Dialect: m.dialect, Model: m.model, Headers: map[string]string{},
	}
	known := dialectsOf(r)
	if s.Dialect == "" {
		s.Dialect = known[0]
	}
	if !slices.Contains(known, s.Dialect) {
		return s, usageError{fmt.Sprintf("cannot use -dialect %s: route %q has %s", s.Dialect, r.Name, strings.Join(known, ", "))}
	}
	for _, h := range m.headers {
		name, value, err := pair("header", h)
		if err != nil {
			return s, err
		}
		s.Headers[strings.ToLower(name)] = value
	}
	return s, nil
}

// dialectsOf names the dialects of a route that was validated: one at least.
func dialectsOf(r proxy.RouteConfig) []string {
	var names []string
	for _, n := range dialect.Names() {
		if n == r.Dialect || dialect.Family(n) == r.Dialect {
			names = append(names, n)
		}
	}
	return names
}

// routeNamed finds a route by name; no name is the first that has the dialect,
// or the first of all if none has.
func routeNamed(routes []proxy.RouteConfig, name, dialect string) (proxy.RouteConfig, error) {
	for _, r := range routes {
		if r.Name == name || name == "" && (dialect == "" || slices.Contains(dialectsOf(r), dialect)) {
			return r, nil
		}
	}
	if name == "" {
		return routes[0], nil
	}
	return proxy.RouteConfig{}, usageError{fmt.Sprintf("cannot use -route %s: there are %s", name, strings.Join(routeNames(routes), ", "))}
}
