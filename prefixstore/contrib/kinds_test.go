package contrib_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib/contribtest"
)

var update = flag.Bool("update", false, "rewrite testdata/kinds.golden")

// TestMain sends HTTP through a proxy that is not there: the http contributor
// must not use it for loopback.
func TestMain(m *testing.M) {
	os.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	os.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	goleak.VerifyTestMain(m)
}

// suites has one entry per kind. The golden file sees that no kind is missing.
var suites = map[string]func(t *testing.T) contrib.Config{
	"text": func(t *testing.T) contrib.Config {
		return contrib.Config{Kind: "text", Text: "Be careful."}
	},
	"file": func(t *testing.T) contrib.Config {
		root := t.TempDir()
		write(t, root, "AGENTS.md", "Use make.")
		write(t, root, "sub/AGENTS.md", "Use ninja.")
		return contrib.Config{Kind: "file", Root: root, Paths: []string{"**/AGENTS.md"}}
	},
	"skills": func(t *testing.T) contrib.Config {
		root := t.TempDir()
		write(t, root, "skills/deploy/SKILL.md", "---\nname: deploy\ndescription: Ship it.\n---\nbody\n")
		return contrib.Config{Kind: "skills", Root: root, Folder: "skills"}
	},
	"http": func(t *testing.T) contrib.Config {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"messages":[{"role":"user","text":"hello"},{"text":"there"}]}`)
		}))
		t.Cleanup(s.Close)
		return contrib.Config{Kind: "http", URL: s.URL}
	},
}

func TestConformance(t *testing.T) {
	for _, kind := range contrib.Kinds() {
		t.Run(kind, func(t *testing.T) { contribtest.Run(t, suites[kind]) })
	}
}

func TestKindsAreThoseOfTheGoldenFile(t *testing.T) {
	golden := filepath.Join("testdata", "kinds.golden")
	got := strings.Join(contrib.Kinds(), "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("Kinds() differs from %s (-want +got):\n%s", golden, diff)
	}
}

// write makes root/name with its folders.
func write(t testing.TB, root, name, text string) {
	t.Helper()
	p := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
