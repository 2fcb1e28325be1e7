package contrib

import (
	"fmt"
	"regexp"
	"strings"
)

// A Matcher selects sessions. Empty fields match everything; all that are set
// must match. In a glob * is any text, / included, and ? any one character;
// nothing else is special.
type Matcher struct {
	Route   string            `yaml:"route"`
	Dialect string            `yaml:"dialect"`
	Model   string            `yaml:"model"`   // glob, e.g. "claude-*"
	Tenant  string            `yaml:"tenant"`  // prefix of the tenant's hash
	Headers map[string]string `yaml:"headers"` // lower-case name: glob of the value; an absent header never matches
}

// A selector is a Matcher ready for use.
type selector struct {
	m       Matcher
	model   *regexp.Regexp
	headers map[string]*regexp.Regexp
}

func newSelector(m Matcher) selector {
	s := selector{m: m, headers: make(map[string]*regexp.Regexp, len(m.Headers))}
	if m.Model != "" {
		s.model = glob(m.Model)
	}
	for n, g := range m.Headers {
		s.headers[n] = glob(g)
	}
	return s
}

// selects reports whether s is one of the Matcher's sessions.
func (sel *selector) selects(s Session) bool {
	if sel.m.Route != "" && sel.m.Route != s.Route ||
		sel.m.Dialect != "" && sel.m.Dialect != s.Dialect ||
		!strings.HasPrefix(s.Tenant, sel.m.Tenant) ||
		sel.model != nil && !sel.model.MatchString(s.Model) {
		return false
	}
	for n, g := range sel.headers {
		v, ok := s.Headers[n]
		if !ok || !g.MatchString(v) {
			return false
		}
	}
	return true
}

// glob compiles a glob of names. path.Match will not do: its * stops at a
// slash, and "vendor/model" or "agent/1.2" are single names here.
func glob(g string) *regexp.Regexp {
	e := regexp.QuoteMeta(strings.ToValidUTF8(g, "\uFFFD"))
	e = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(e)
	return regexp.MustCompile(fmt.Sprintf(`(?s)^%s$`, e))
}
