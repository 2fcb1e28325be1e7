package preface

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A block is a fenced block of a document.
type block struct {
	info string
	line int // where it begins
	text []string
}

func readBlocks(t *testing.T, name string) []block {
	t.Helper()
	var all []block
	open := false
	for i, line := range strings.Split(read(t, name), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			all = append(all, block{info: info, line: i + 1})
		case open && !fence:
			b := &all[len(all)-1]
			b.text = append(b.text, line)
		}
		open = open != fence
	}
	if open || len(all) == 0 {
		t.Fatalf("%s: a fence is not closed, or there is none", name)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// help returns what the program says of each of its commands, by name, and of
// itself, under "". The commands of bench are among them, as "bench NAME".
func help(t *testing.T) map[string]string {
	t.Helper()
	listed := regexp.MustCompile(`(?m)^  (\w+) {2,}`)
	texts := map[string]string{"": output(t, "help")}
	for _, m := range listed.FindAllStringSubmatch(texts[""], -1) {
		texts[m[1]] = output(t, m[1], "-h")
	}
	for _, m := range listed.FindAllStringSubmatch(texts["bench"], -1) {
		texts["bench "+m[1]] = output(t, "bench", m[1], "-h")
	}
	return texts
}

func output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(program(t), args...).CombinedOutput()
	if err != nil {
		t.Errorf("preface %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestReadmeNamesWhatThereIs: every command and flag in code is in the program's
// help.
func TestReadmeNamesWhatThereIs(t *testing.T) {
	texts := help(t)
	for _, c := range codeOf(t, "README.md") {
		if m := regexp.MustCompile(`(?:^|\bgo run \./cmd/|&& )(?:preface|proxy)((?: [^\s|&#;]+)*)`).FindStringSubmatch(c); m != nil {
			checkCommand(t, texts, c, strings.Fields(m[1]))
		} else if flag := strings.Fields(c)[0]; strings.HasPrefix(c, "-") && !hasFlag(strings.Join(slices.Collect(maps.Values(texts)), ""), flag) {
			t.Errorf("README.md: no command has the flag %s", flag)
		}
	}
}

// checkCommand checks a command line without the program's name.
func checkCommand(t *testing.T, texts map[string]string, line string, words []string) {
	t.Helper()
	name := "serve"
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		name, words = words[0], words[1:]
	}
	if name == "bench" && len(words) > 0 {
		name, words = name+" "+words[0], words[1:]
	}
	text, ok := texts[name]
	if !ok {
		t.Errorf("README.md: %q: there is no command %s", line, name)
		return
	}
	for i, w := range words {
		verb := i == 0 && name == "log"
		if strings.HasPrefix(w, "-") && !hasFlag(text, w) || verb && !strings.Contains(text, "\n  "+w+" ") {
			t.Errorf("README.md: %q: %s has no %s", line, name, w)
		}
	}
}

func hasFlag(help, flag string) bool {
	return regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(flag) + `\b`).MatchString(help)
}

// codeOf returns what a document shows as code: the lines of its shell blocks
// and the spans in its text.
func codeOf(t *testing.T, name string) []string {
	t.Helper()
	var code []string
	text := read(t, name)
	for _, b := range readBlocks(t, name) {
		if strings.HasPrefix(b.info, "sh") {
			code = append(code, b.text...)
		}
		text = strings.Replace(text, strings.Join(b.text, "\n"), "", 1)
	}
	text = strings.ReplaceAll(text, "```", "")
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		code = append(code, m[1])
	}
	return slices.DeleteFunc(code, func(c string) bool { return strings.TrimSpace(c) == "" })
}

// TestReadmeNamesSettings: every setting that is written with dots is one.
func TestReadmeNamesSettings(t *testing.T) {
	top := map[string]any{}
	for _, c := range codeOf(t, "README.md") {
		c, _, _ = strings.Cut(c, ": ")
		if !regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`).MatchString(c) || isFile(c) || isAttribute(c) {
			continue
		}
		at := top
		keys := strings.Split(c, ".")
		for _, k := range keys[:len(keys)-1] {
			below, ok := at[k].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[k] = below
			}
			at = below
		}
		if _, ok := at[keys[len(keys)-1]]; !ok {
			at[keys[len(keys)-1]] = nil
		}
	}
	if len(top) < 3 {
		t.Fatalf("found %v: the search is broken", top)
	}
	config := filepath.Join(t.TempDir(), "named.yaml")
	b, err := json.Marshal(top)
	if err == nil {
		err = os.WriteFile(config, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	output(t, "check", "-config", config)
}

func isFile(name string) bool {
	return slices.Contains([]string{".db", ".go", ".yaml"}, filepath.Ext(name))
}

func isAttribute(name string) bool {
	return strings.HasPrefix(name, "gen_ai.") || strings.HasPrefix(name, "preface.") && !isFile(name) && !strings.HasPrefix(name, "preface.db-")
}

// TestReadmeNamesAttributes: every attribute of spans that is named is one.
func TestReadmeNamesAttributes(t *testing.T) {
	names := read(t, "proxy/telemetry/names.go")
	for _, c := range codeOf(t, "README.md") {
		if isAttribute(c) && !strings.ContainsAny(c, "*…{") && !strings.Contains(names, `"`+c+`"`) {
			t.Errorf("README.md names the attribute %s, and proxy/telemetry/names.go does not", c)
		}
	}
}

// TestReadmeNamesMetrics: every metric that is named is one in the source.
func TestReadmeNamesMetrics(t *testing.T) {
	var source strings.Builder
	for _, pattern := range []string{"proxy/telemetry/*.go", "proxy/*.go", "cmd/proxy/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			source.WriteString(read(t, f))
		}
	}
	names := regexp.MustCompile(`\bpreface_[a-z_]+`).FindAllString(read(t, "README.md"), -1)
	for _, n := range names {
		if !strings.Contains(source.String(), `"`+n+`"`) {
			t.Errorf("README.md: there is no metric %s", n)
		}
	}
}

// TestReadmePromises: the table of promises has the words of proxy/doc.go.
func TestReadmePromises(t *testing.T) {
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(I\d+) +([^:]+): ((?:.*\n//\t {4})*.*)$`).FindAllStringSubmatch(read(t, "proxy/doc.go"), -1) {
		want = append(want, fmt.Sprintf("| %s | %s | %s |", m[1], m[2], strings.ReplaceAll(m[3], "\n//\t   ", "")))
	}
	got := regexp.MustCompile(`(?m)^\| I\d+ .*$`).FindAllString(read(t, "README.md"), -1)
	if len(want) != 13 {
		t.Fatalf("found %d promises in proxy/doc.go: the search is broken", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("README.md's table is not what proxy/doc.go promises (-doc +README):\n%s", diff)
	}
}

// TestDocumentLinks: what our documents link to is there.
func TestDocumentLinks(t *testing.T) {
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(read(t, name), -1) {
			file, heading, _ := strings.Cut(m[1], "#")
			if file == "" {
				file = name
			}
			_, err := os.Stat(file)
			if !strings.Contains(file, "://") && (err != nil || heading != "" && !hasHeading(read(t, file), heading)) {
				t.Errorf("%s: %s leads nowhere", name, m[1])
			}
		}
	}
}

// hasHeading reports whether a document has the heading that an anchor means.
func hasHeading(text, anchor string) bool {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		if strings.NewReplacer(",", "", " ", "-").Replace(strings.ToLower(m[1])) == anchor {
			return true
		}
	}
	return false
}
