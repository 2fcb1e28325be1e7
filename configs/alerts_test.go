package configs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestAlerts: each says what is wrong, how that is known and what to do, in words
// of the program.
func TestAlerts(t *testing.T) {
	settings := settingNames(t)
	for _, a := range readAlerts(t) {
		for _, name := range []string{"summary", "description", "action"} {
			if a.Annotations[name] == "" {
				t.Errorf("%s has no %s", a.Alert, name)
			}
			checkWords(t, a.Alert+": "+name, a.Annotations[name], settings)
		}
		if len(a.Annotations) != 3 || !slices.Contains([]string{"critical", "warning"}, a.Labels["severity"]) {
			t.Errorf("%s has the annotations %v and the labels %v", a.Alert, a.Annotations, a.Labels)
		}
	}
}

var (
	settingWord = regexp.MustCompile(`\b(?:log|limits|timeouts|usage|burst|resume|cache)\.[a-z_]+\b`)
	commandWord = regexp.MustCompile(`\bpreface (log )?([a-z]+)(?: (-[a-z]+))?`)
)

// checkWords checks the settings and commands that a text names.
func checkWords(t *testing.T, where, text string, settings map[string]bool) {
	t.Helper()
	for _, s := range settingWord.FindAllString(text, -1) {
		if !settings[s] {
			t.Errorf("%s: there is no setting %s", where, s)
		}
	}
	for _, m := range commandWord.FindAllStringSubmatch(text, -1) {
		checkCommand(t, where, strings.Fields(m[1]+m[2]+" "+m[3]))
	}
}

// settingNames are those of preface.yaml, as messages name them.
func settingNames(t *testing.T) map[string]bool {
	t.Helper()
	var file map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "preface.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for key, value := range m {
			names[prefix+key] = true
			if inner, ok := value.(map[string]any); ok {
				walk(prefix+key+".", inner)
			}
		}
	}
	walk("", file)
	return names
}

// promtool runs Prometheus' own tool.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool, of the package prometheus, is not installed: the rules are not checked by it")
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestPromtoolChecks: Prometheus takes the rules, and each query of the dashboard.
func TestPromtoolChecks(t *testing.T) {
	var b strings.Builder
	b.WriteString("groups:\n- name: dashboard\n  rules:\n")
	variables := strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h", "$job", ".*", "$instance", ".*")
	i := 0
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			i++
			fmt.Fprintf(&b, "  - {record: query%d, expr: %q}\n", i, variables.Replace(target.Expr))
		}
	}
	promtool(t, "check", "rules", alertsFile, write(t, t.TempDir(), "dashboard.yaml", b.String()))
}

const alertCases = "testdata/alerts_test.yaml"

// TestPromtoolCases: each alert fires when it should, and none when all is well.
// The tool wants the rules beside it.
func TestPromtoolCases(t *testing.T) {
	cases := read(t, alertCases)
	for _, a := range readAlerts(t) {
		if !regexp.MustCompile(`alertname="` + a.Alert + `"`).MatchString(cases) {
			t.Errorf("%s has no case in which %s fires", alertCases, a.Alert)
		}
	}
	dir := t.TempDir()
	for _, path := range []string{alertsFile, alertCases} {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte(read(t, path)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	promtool(t, "test", "rules", filepath.Join(dir, filepath.Base(alertCases)))
}
