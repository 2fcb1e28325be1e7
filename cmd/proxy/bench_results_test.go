package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/bench/economics"
)

// The results that are committed, and the traces that they are of.
const (
	resultsPage   = "../../bench/RESULTS.md"
	resultsFolder = "../../bench/results"
	traceData     = "../../../shared/data"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestResultsPage wants the page to name the command that makes it, to show the
// plots that are there, and to name no place of a machine.
func TestResultsPage(t *testing.T) {
	page := readFile(t, resultsPage)
	if !strings.Contains(page, "```sh\nmake bench-results\n```") {
		t.Errorf("%s does not name the command that makes it", resultsPage)
	}
	if make := readFile(t, "../../Makefile"); !regexp.MustCompile(`(?m)^bench-results:.*\n\t\$\(RESULTS\) -o bench/results -page bench/RESULTS.md`).MatchString(make) {
		t.Error("make bench-results does not make bench/RESULTS.md")
	}
	var shown []string
	for _, m := range regexp.MustCompile(`\]\(results/([^)]+)\)`).FindAllStringSubmatch(page, -1) {
		shown = append(shown, m[1])
	}
	plots, err := filepath.Glob(resultsFolder + "/*.svg")
	if err != nil {
		t.Fatal(err)
	}
	for i := range plots {
		plots[i] = filepath.Base(plots[i])
	}
	slices.Sort(shown)
	if !slices.Equal(plots, shown) {
		t.Errorf("the page shows %q, the folder has %q", shown, plots)
	}
	files := append(plots, "rows.csv", "manifest.json")
	for _, f := range files {
		checkNoPlace(t, f, readFile(t, filepath.Join(resultsFolder, f)))
	}
	checkNoPlace(t, "RESULTS.md", page)
}

func checkNoPlace(t *testing.T, name, text string) {
	t.Helper()
	if m := regexp.MustCompile(`(/home|/root|/tmp|/work|/usr|\.\./)\S*`).FindString(text); m != "" {
		t.Errorf("%s names %s, a place of some machine", name, m)
	}
}

// TestResultsCurrent compares some of the rows with a fresh run. make bench-check
// compares everything, which takes too long for each test run.
func TestResultsCurrent(t *testing.T) {
	const name = "cc_traces_rle"
	path := filepath.Join(traceData, name+".jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("it needs the trace %s, which is not here: %v", path, err)
	}
	var stdout bytes.Buffer
	args := []string{"-provider", "anthropic", "-strategy", "none,bare,frozen,per_request_before", "-json", path}
	if err := benchEconomics(context.Background(), args, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	committed := resultRows(t)
	d := json.NewDecoder(&stdout)
	n := 0
	for ; d.More(); n++ {
		var r economics.Row
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		key := [4]string{r.Trace, r.Provider, r.Lifetime, r.Strategy}
		want := [3]float64{r.HitRateTokens, r.CostVsNone, r.CostUSD}
		if got := committed[key]; got != want {
			t.Errorf("bench/results/rows.csv has %v of %v, a run gives %v: make bench-results", got, key, want)
		}
	}
	if n != 8 {
		t.Errorf("%d rows, want 8", n)
	}
}

// resultRows are hit rate, cost of none and dollars of each committed row.
func resultRows(t *testing.T) map[[4]string][3]float64 {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(readFile(t, resultsFolder+"/rows.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(line []string, column string) string { return line[slices.Index(lines[0], column)] }
	number := func(line []string, column string) float64 {
		v, err := strconv.ParseFloat(at(line, column), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rows := map[[4]string][3]float64{}
	for _, l := range lines[1:] {
		rows[[4]string{at(l, "trace"), at(l, "provider"), at(l, "lifetime"), at(l, "strategy")}] = [3]float64{number(l, "hit_rate_tokens"), number(l, "cost_vs_none"), number(l, "cost_usd")}
	}
	return rows
}
