package configs

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const (
	dashboardFile = "dashboard.json"
	alertsFile    = "alerts.yaml"
)

// A dashboard is what is tested of Grafana's.
type dashboard struct {
	UID        string
	Panels     []panel
	Templating struct {
		List []struct {
			Name       string
			Definition string
		}
	}
}

type panel struct {
	ID                 int
	Type               string
	Title, Description string
	GridPos            struct{ H, W, X, Y int }
	Datasource         struct{ Type, UID string }
	Targets            []struct {
		RefID      string
		Expr       string
		Datasource struct{ Type, UID string }
	}
}

func readDashboard(t *testing.T) *dashboard {
	t.Helper()
	d := &dashboard{}
	text := read(t, dashboardFile)
	if err := json.Unmarshal([]byte(text), d); err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`[a-z]+://`).FindString(text); m != "" {
		t.Errorf("%s names an address: %s", dashboardFile, m)
	}
	return d
}

type alert struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func readAlerts(t *testing.T) []alert {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(read(t, alertsFile)), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	var list []alert
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	return list
}

// queries are those of the dashboard and of the alerts, by where they stand.
func queries(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			all[dashboardFile+": "+p.Title+" "+target.RefID] = target.Expr
		}
	}
	for _, v := range readDashboard(t).Templating.List {
		if m := regexp.MustCompile(`^label_values\((.*), \w+\)$`).FindStringSubmatch(v.Definition); m != nil {
			all[dashboardFile+": variable "+v.Name] = m[1]
		}
	}
	for _, a := range readAlerts(t) {
		all[alertsFile+": "+a.Alert] = a.Expr
	}
	return all
}

// unused are metrics that neither file has, and why.
var unused = map[string]string{}

// TestQueriesNameMetrics: what the dashboard and the alerts ask for is what a
// running proxy has, with these labels and values, and nothing of ours that it
// has is left out.
func TestQueriesNameMetrics(t *testing.T) {
	has := exposeAll(t)
	fixed := fixedValues(t, has)
	used := map[string]bool{}
	for where, text := range queries(t) {
		q, err := readQuery(text)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		for _, s := range q.selectors {
			if x := has[s.metric]; x == nil {
				t.Errorf("%s: there is no metric %s", where, s.metric)
			} else {
				used[x.family] = true
				s.check(t, where, x, fixed)
			}
		}
		q.checkLabels(t, where, has)
	}
	families := map[string]bool{}
	for _, x := range has {
		families[x.family] = true
		ours := !strings.HasPrefix(x.family, "go_") && !strings.HasPrefix(x.family, "process_")
		if _, not := unused[x.family]; ours && !used[x.family] && !not {
			t.Errorf("no query of %s or %s has %s, and no reason is given", dashboardFile, alertsFile, x.family)
		}
	}
	for name := range unused {
		if !families[name] || used[name] {
			t.Errorf("%s is listed as not used, and it is, or is not there", name)
		}
	}
}

// scraped are labels that Prometheus adds itself; le is that of buckets.
var scraped = []string{"job", "instance"}

func (s promSelector) check(t *testing.T, where string, x *exposed, fixed map[string][]string) {
	t.Helper()
	for _, m := range s.matchers {
		if slices.Contains(scraped, m.label) {
			continue
		}
		if x.labels[m.label] == nil {
			t.Errorf("%s: %s has no label %s", where, s.metric, m.label)
		}
		for _, part := range m.parts() {
			re := regexp.MustCompile("^(?:" + part + ")$")
			if !slices.ContainsFunc(fixed[m.label], re.MatchString) {
				t.Errorf("%s: %s=%q is none of %q", where, m.label, part, fixed[m.label])
			}
		}
	}
}

// parts are the values that a matcher names.
func (m promMatcher) parts() []string {
	if strings.Contains(m.op, "~") {
		return strings.Split(m.value, "|")
	}
	return []string{regexp.QuoteMeta(m.value)}
}

// checkLabels checks the labels that are summed by: all metrics of the query must
// have them.
func (q promQuery) checkLabels(t *testing.T, where string, has exposition) {
	t.Helper()
	for _, label := range q.labels {
		found := slices.Contains(scraped, label)
		for _, s := range q.selectors {
			found = found || has[s.metric] != nil && has[s.metric].labels[label] != nil
		}
		if !found {
			t.Errorf("%s: no metric of the query has the label %s", where, label)
		}
	}
}

// fixedValues are the values that labels can have, of those that queries ask for:
// some as /metrics shows them, since all are there once one is, the others as the
// program declares them.
func fixedValues(t *testing.T, has exposition) map[string][]string {
	t.Helper()
	all := map[string][]string{
		"end":   append(constants(t, "../logsink/record.go", "End"), "refused"),
		"alarm": constants(t, "../proxy/explain/alarms.go", "Alarm"),
	}
	for metric, label := range map[string]string{"preface_tokens_total": "class", "preface_cost_usd_total": "kind"} {
		if x := has[metric]; x != nil {
			all[label] = slices.Collect(maps.Keys(x.labels[label]))
		}
	}
	return all
}

// constants are the values of a file's constants whose names begin so.
func constants(t *testing.T, path, prefix string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			value, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, value)
		}
		return true
	})
	return list
}

// TestDashboard: panels are complete, lie beside each other, and ask the data
// source that is chosen.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	ids := map[int]bool{}
	var taken [512][24]string
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q: another has the id %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				if taken[y][x] != "" {
					t.Fatalf("panel %q lies over %q", p.Title, taken[y][x])
				}
				taken[y][x] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q lacks a title, a description or a query", p.ID, p.Title)
		}
		for _, target := range p.Targets {
			if target.Datasource.UID != "${datasource}" || p.Datasource.UID != "${datasource}" {
				t.Errorf("panel %q does not ask ${datasource}", p.Title)
			}
			q, err := readQuery(target.Expr)
			if err != nil {
				t.Error(err)
			}
			for _, s := range q.selectors {
				if len(s.matchers) < 2 || s.matchers[0].value != "$job" || s.matchers[1].value != "$instance" {
					t.Errorf("panel %q: %s is not of the chosen job and instance", p.Title, s.metric)
				}
			}
		}
	}
}
