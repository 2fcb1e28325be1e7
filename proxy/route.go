package proxy

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// A route is a RouteConfig made ready.
type route struct {
	RouteConfig
	dialects []dialect.Dialect
	upstream *upstream
	recipe   *prefixstore.Recipe
	headers  []string // that its contributors ask for, lower case

	firstByte telemetry.Observer // of times to the head of an answer
}

// A target is where a request goes and what it is.
type target struct {
	route    *route
	dialect  dialect.Dialect // nil: no model call, passes untouched
	endpoint dialect.Endpoint
	path     string // to send, before the upstream's own path
	session  string // named by the path, empty if not
}

// routes is a routing table: longer paths first.
type routes []*route

func newRoutes(list []*route) routes {
	slices.SortStableFunc(list, func(a, b *route) int { return len(b.Path) - len(a.Path) })
	return list
}

// match finds where a path goes. post says that the method is POST; only those
// are model calls. family is where the request's headers point, if they do.
func (rs routes) match(path string, post bool, family string) (found target, ok bool) {
	path, session := cutSession(path)
	for _, r := range rs {
		rest, under := cutPath(path, r.Path)
		if !under {
			continue
		}
		t := target{route: r, path: rest, session: session}
		if t.session == "" {
			t.path, t.session = cutSession(rest)
		}
		if post && t.claim() {
			return t, true
		}
		if !ok && (r.Path != "/" || rs.points(r, t.path, family)) {
			found, ok = t, true
		}
	}
	return found, ok
}

// claim lets the route's dialects look at the path.
func (t *target) claim() bool {
	for _, d := range t.route.dialects {
		if ep, ok := d.Match(t.path); ok {
			t.dialect, t.endpoint = d, ep
			return true
		}
	}
	return false
}

// points reports whether a path that is no model call belongs to a route
// without a prefix: by the path's owner, else by the headers, else because
// there is no other choice.
func (rs routes) points(r *route, path, family string) bool {
	if owner := dialect.Owner(path); owner != "" {
		family = owner
	}
	if family != "" {
		return slices.ContainsFunc(r.dialects, func(d dialect.Dialect) bool { return dialect.Family(d.Name()) == family })
	}
	first := rs[0].upstream
	return !slices.ContainsFunc(rs, func(o *route) bool { return o.upstream != first })
}

// modelPath reports whether a path is a model call's, whatever the method.
func (rs routes) modelPath(path string) (dialect.Dialect, bool) {
	t, ok := rs.match(path, true, "")
	return t.dialect, ok && t.dialect != nil
}

// disguises reports whether a path that is no model call's as it stands is one
// for a provider that unescapes and cleans paths, as many do.
func (rs routes) disguises(p string) bool {
	plain, err := url.PathUnescape(p)
	if err != nil {
		return false
	}
	_, ok := rs.modelPath(path.Clean(plain))
	return ok
}

// cutSession takes a leading /s/NAME off a path. A name that cannot be
// unescaped is no session.
func cutSession(path string) (rest, session string) {
	after, ok := strings.CutPrefix(path, "/s/")
	if !ok {
		return path, ""
	}
	name, rest, ok := strings.Cut(after, "/")
	if !ok || name == "" {
		return path, ""
	}
	session, err := url.PathUnescape(name)
	if err != nil {
		return path, ""
	}
	return "/" + rest, session
}

// cutPath takes a prefix off a path, at a slash.
func cutPath(path, prefix string) (rest string, ok bool) {
	prefix = strings.TrimSuffix(prefix, "/")
	rest, ok = strings.CutPrefix(path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	if rest == "" {
		rest = "/"
	}
	return rest, true
}
