package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A promSelector is what one place of a query selects: a metric, and what it asks of
// its labels.
type promSelector struct {
	metric   string
	matchers []promMatcher
}

type promMatcher struct{ label, op, value string }

// A promQuery is what can be told of a PromQL expression without knowing its
// grammar, which promtool does: the metrics and labels it names.
type promQuery struct {
	selectors []promSelector
	labels    []string // of by, without, on and the like
}

// promWord tells tokens apart; a range, an offset's time and a number are one each.
var promWord = regexp.MustCompile(`\s+|#[^\n]*|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[0-9.]+[a-z]*|[a-zA-Z_:][a-zA-Z0-9_:]*|[=!<>]=|[=!]~|[-+*/%^(){},=<>]`)

// promListed are the words that a list of labels follows.
var promListed = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}

// promWords are the other words of the language that are no metric.
var promWords = []string{"and", "or", "unless", "offset", "bool"}

func readQuery(s string) (promQuery, error) {
	tokens, err := promTokens(s)
	var q promQuery
	for i := 0; i < len(tokens) && err == nil; {
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch w := tokens[i]; {
		case slices.Contains(promListed, w):
			var list []string
			list, i = until(tokens, i+1, ")")
			q.labels = append(q.labels, list...)
		case !isName(w) || next == "(" || slices.Contains(promListed, next) || slices.Contains(promWords, w):
			i++
		case next == "{":
			sel := promSelector{metric: w}
			var list []string
			list, i = until(tokens, i+1, "}")
			sel.matchers, err = matchers(list)
			q.selectors = append(q.selectors, sel)
		default:
			q.selectors = append(q.selectors, promSelector{metric: w})
			i++
		}
	}
	return q, err
}

func promTokens(s string) ([]string, error) {
	var list []string
	for rest := s; rest != ""; {
		at := promWord.FindStringIndex(rest)
		if at == nil || at[0] != 0 {
			return nil, fmt.Errorf("cannot read the query from %q on", rest)
		}
		if w := rest[:at[1]]; strings.TrimSpace(w) != "" && w[0] != '#' {
			list = append(list, w)
		}
		rest = rest[at[1]:]
	}
	return list, nil
}

func isName(w string) bool {
	return w[0] >= 'a' && w[0] <= 'z' || w[0] >= 'A' && w[0] <= 'Z' || w[0] == '_'
}

// until returns what stands in brackets from i on, without commas, and where it
// goes on behind them.
func until(tokens []string, i int, end string) (list []string, next int) {
	for i++; i < len(tokens) && tokens[i] != end; i++ {
		if tokens[i] != "," {
			list = append(list, tokens[i])
		}
	}
	return list, i + 1
}

func matchers(tokens []string) ([]promMatcher, error) {
	if len(tokens)%3 != 0 {
		return nil, fmt.Errorf("cannot read the matchers %q", tokens)
	}
	var list []promMatcher
	for t := range slices.Chunk(tokens, 3) {
		list = append(list, promMatcher{t[0], t[1], strings.Trim(t[2], `"`)})
	}
	return list, nil
}

func TestReadQuery(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		q, err := readQuery(s)
		got := fmt.Sprint(q.selectors, q.labels)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("readQuery(%q) = %s, want %s", s, got, want)
		}
	}
	f(`a_total`, `[{a_total []}] []`)
	f(`a{x="1", y=~"b|c"}`, `[{a [{x = 1} {y =~ b|c}]}] []`)
	f(`sum by (x, y) (rate(a{x!="}"}[5m])) / 2`, `[{a [{x != }}]}] [x y]`)
	f(`sum(rate(a[$__rate_interval])) by (x)`, `[{a []}] [x]`)
	f("a # of b\n and on (x) group_left () b offset 1h > 1e3", `[{a []} {b []}] [x]`)
	f(`time() - a or vector(0)`, `[{a []}] []`)
	f(`a{x="1" y}`, `cannot read the matchers ["x" "=" "\"1\"" "y"]`)
	f(`a ; b`, `cannot read the query from "; b" on`)
}
