package preface

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/seed-9236c7ca/preface"

// arrows are the imports among our own packages: what each may import, and why
// it must not import more. A package that is not listed may import nothing of
// ours; "*" is everything.
var arrows = map[string]struct {
	may []string
	why string
}{
	"cmd/proxy":                       {[]string{"*"}, "it composes the others"},
	"proxy":                           {[]string{"proxy/...", "prefixstore", "prefixstore/contrib", "logsink", "internal/failpoint", "internal/panics"}, "it knows no provider's JSON and no backend's client library"},
	"proxy/dialect":                   {[]string{"proxy/usage", "proxy/internal/..."}, "it knows no sessions, logs or HTTP servers"},
	"proxy/dialect/dialecttest":       {[]string{"proxy/dialect", "proxy/usage", "proxy/internal/..."}, "it is the suite of the dialect seam"},
	"proxy/identity":                  {[]string{"proxy/internal/..."}, "it knows no logs and no dialect details"},
	"proxy/explain":                   {[]string{"proxy/usage"}, "it compares requests, and knows no HTTP"},
	"proxy/telemetry":                 {[]string{"proxy/usage"}, "it counts, and knows no HTTP"},
	"proxy/admin":                     {[]string{"internal/legible", "proxy/telemetry", "proxy/usage", "proxy/explain", "logsink"}, "it shows what others have"},
	"prefixstore":                     {[]string{"logsink", "prefixstore/contrib", "internal/failpoint", "internal/panics"}, "it is handed a render function and knows no dialects"},
	"prefixstore/contrib":             {[]string{"internal/panics"}, "it composes, and knows no store"},
	"prefixstore/contrib/contribtest": {[]string{"prefixstore/contrib"}, "it is the suite of the contributor seam"},
	"logsink":                         {[]string{"internal/failpoint", "internal/panics"}, "it does not know how a record came about"},
	"internal/account":                {[]string{"internal/legible", "logsink", "proxy/usage"}, "it sums what a log has, whoever wrote it"},
	"logsink/logtest":                 {[]string{"logsink"}, "it is the suite of the log seam"},
	"bench/cache":                     {nil, "it is rules, for whoever asks"},
	"bench/trace":                     {[]string{"bench/cache", "logsink"}, "it reads, and prices nothing"},
	"bench/economics":                 {[]string{"bench/cache", "bench/trace", "proxy/usage", "configs", "internal/legible"}, "it sums, and draws nothing"},
	"bench/report":                    {[]string{"bench/economics", "bench/trace", "bench/report/plot", "internal/legible"}, "it shows what was summed"},
	"bench/report/plot":               {nil, "it draws numbers, whatever they stand for"},
	"bench/wire":                      {[]string{"*"}, "it runs the others"},
	"bench/load":                      {nil, "it knows any proxy only over HTTP"},
	"bench/provider":                  {[]string{"bench/cache"}, "it stands for somebody else's server"},
	"bench/agent":                     {nil, "it stands for somebody else's program"},
	"bench/redis":                     {[]string{"logsink", "proxy"}, "it measures the log in Redis by itself, and proxies over HTTP"},
	"bench":                           {[]string{"*"}, "it measures the others"},
}

func TestImportArrows(t *testing.T) {
	eachPackage(t, func(dir string, files []*ast.File) {
		rule := arrows[dir]
		for _, f := range files {
			for _, spec := range f.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				to, ours := strings.CutPrefix(path, module+"/")
				if ours && !allowed(rule.may, to) {
					t.Errorf("%s imports %s; it may import %v: %s", dir, to, rule.may, rule.why)
				}
			}
		}
	})
}

// TestBackendsStayInTheirFile: the client libraries of logs are known to one
// package each.
func TestBackendsStayInTheirFile(t *testing.T) {
	only := map[string]string{
		"modernc.org/sqlite":                "logsink",
		"github.com/redis/go-redis/v9":      "logsink",
		"github.com/dgraph-io/ristretto/v2": "prefixstore",
		"github.com/goccy/go-yaml":          "cmd/proxy prefixstore/contrib bench/economics", // files that people write, and the price table
	}
	eachPackage(t, func(dir string, files []*ast.File) {
		for _, f := range files {
			for _, spec := range f.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				if where, ok := only[path]; ok && !slices.Contains(strings.Fields(where), dir) {
					t.Errorf("%s imports %s, which belongs to %s", dir, path, where)
				}
			}
		}
	})
}

func allowed(may []string, to string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		under, tree := strings.CutSuffix(m, "/...")
		return m == "*" || m == to || tree && strings.HasPrefix(to, under+"/")
	})
}

// TestPackageDocs: every package says what it is and what it keeps.
func TestPackageDocs(t *testing.T) {
	eachPackage(t, func(dir string, files []*ast.File) {
		var doc string
		for _, f := range files {
			doc += f.Doc.Text()
		}
		if doc == "" {
			t.Errorf("%s has no package documentation", dir)
		}
		if dir != "." && files[0].Name.Name != "main" && !strings.HasSuffix(dir, "test") && !strings.Contains(doc, "# Invariants") {
			t.Errorf("%s: the package documentation states no invariants", dir)
		}
	})
}

// TestNoEmptyNames: a package is named for what it gives.
func TestNoEmptyNames(t *testing.T) {
	bad := []string{"util", "utils", "common", "helpers", "types", "models", "manager", "misc"}
	eachPackage(t, func(dir string, files []*ast.File) {
		if slices.Contains(bad, files[0].Name.Name) || slices.Contains(bad, filepath.Base(dir)) {
			t.Errorf("%s: the name says nothing", dir)
		}
	})
}

func TestGoMod(t *testing.T) {
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "replace") {
			t.Errorf("go.mod has a replace line, so `go install` of the program fails: %s", line)
		}
	}
}

// eachPackage calls f with every package of the module, without its tests.
func eachPackage(t *testing.T, f func(dir string, files []*ast.File)) {
	t.Helper()
	byDir := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ImportsOnly|parser.ParseComments)
		if err == nil {
			dir := filepath.ToSlash(filepath.Dir(path))
			byDir[dir] = append(byDir[dir], file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(byDir) < 10 {
		t.Fatalf("found %d packages: the walk is broken", len(byDir))
	}
	for dir, files := range byDir {
		f(dir, files)
	}
}
