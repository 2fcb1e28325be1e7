package contrib

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// secretHeaders hold credentials; no contributor is told them, and none is
// chosen by them.
var secretHeaders = []string{
	"api-key", "authorization", "cookie", "ocp-apim-subscription-key", "proxy-authorization",
	"set-cookie", "x-amz-security-token", "x-api-key", "x-goog-api-key",
}

// framingHeaders are what the HTTP client itself sets.
var framingHeaders = []string{"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"}

// headerNames returns the request headers that c's matcher looks at and that
// its contributor is told.
func (c Config) headerNames() []string {
	return append(sortedKeys(c.When.Headers), c.ForwardHeaders...)
}

// told returns the headers of s that c's contributor may see: no map is shared,
// and what another contributor asked for stays with that one.
func (c Config) told(all map[string]string) map[string]string {
	var some map[string]string
	for _, n := range c.ForwardHeaders {
		if v, ok := all[n]; ok {
			if some == nil {
				some = make(map[string]string, len(c.ForwardHeaders))
			}
			some[n] = v
		}
	}
	return some
}

// checkToldHeader refuses a name in when.headers or forward_headers that is no
// header or is a secret one.
func checkToldHeader(name string) error {
	if !isToken(name) {
		return fmt.Errorf("cannot use header name %q in when.headers or forward_headers: it is no header name", name)
	}
	if slices.Contains(secretHeaders, name) {
		return fmt.Errorf("cannot use header %q in when.headers or forward_headers: it holds a credential", name)
	}
	return nil
}

// checkSentHeader refuses a header that cannot be sent. It never quotes the
// value, which may be a secret.
func checkSentHeader(name, value string) error {
	switch {
	case !isToken(name):
		return fmt.Errorf("cannot use header name %q in headers: it is no header name", name)
	case slices.Contains(framingHeaders, name):
		return fmt.Errorf("cannot use header %q in headers: the HTTP client sets it", name)
	case strings.ContainsFunc(value, isControl):
		return fmt.Errorf("cannot use the value of header %q in headers: it has a control character", name)
	}
	return nil
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func isControl(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f }

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
