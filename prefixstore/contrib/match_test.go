package contrib

import "testing"

func TestMatcher(t *testing.T) {
	s := Session{Tenant: "abcd", Route: "main", Dialect: "openai.chat", Model: "vendor/gpt-5.6",
		Headers: map[string]string{"x-team": "core/infra", "x-empty": ""}}
	f := func(m Matcher, want bool) {
		t.Helper()
		sel := newSelector(m)
		if got := sel.selects(s); got != want {
			t.Errorf("%+v selects %+v = %v, want %v", m, s, got, want)
		}
	}
	header := func(n, v string) Matcher { return Matcher{Headers: map[string]string{n: v}} }
	f(Matcher{}, true)
	f(Matcher{Route: "main", Dialect: "openai.chat", Model: "*gpt*", Tenant: "ab", Headers: map[string]string{"x-team": "core/*"}}, true)
	f(Matcher{Route: "Main"}, false)
	f(Matcher{Route: "mai"}, false)
	f(Matcher{Dialect: "openai.responses"}, false)
	f(Matcher{Tenant: "abcd"}, true)
	f(Matcher{Tenant: "b"}, false)
	f(Matcher{Model: "gpt-*"}, false)
	f(Matcher{Model: "vendor/gpt-5.6"}, true)
	f(Matcher{Model: "vendor/gpt-5?6"}, true)
	f(Matcher{Model: "vendor/gpt-5x6"}, false)
	f(Matcher{Model: "vendor/gpt-[5].6"}, false)
	f(header("x-team", "core"), false)
	f(header("x-team", "*infra"), true)
	f(header("x-empty", ""), true)
	f(header("x-empty", "?*"), false)
	f(header("x-absent", "*"), false)
	f(Matcher{Headers: map[string]string{"x-team": "*", "x-absent": "*"}}, false)
}

func TestGlob(t *testing.T) {
	f := func(g, s string, want bool) {
		t.Helper()
		if got := glob(g).MatchString(s); got != want {
			t.Errorf("glob(%q) matches %q = %v, want %v", g, s, got, want)
		}
	}
	f("", "", true)
	f("", "a", false)
	f("*", "a/b\nc", true)
	f("a*c*", "abcbd", true)
	f("a*c*", "bac", false)
	f(`a\*`, `a\bc`, true)
	f("a.c", "abc", false)
	f("(a", "(a", true)
	f("a\xff*", "a\uFFFDb", true)
}
