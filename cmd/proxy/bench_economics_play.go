package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-9236c7ca/preface/bench/economics"
	reports "github.com/seed-9236c7ca/preface/bench/report"
	"github.com/seed-9236c7ca/preface/bench/trace"
	"github.com/seed-9236c7ca/preface/internal/legible"
)

// play runs the simulation over each trace.
func (f *economicsFlags) play(ctx context.Context, r *reports.Report, stderr io.Writer) error {
	paths := []string(f.traces)
	if len(paths) == 0 {
		paths = []string{""}
		r.Notes = append(r.Notes, "No trace was given: this is the embedded sample, which was generated and says nothing about anybody's traffic.")
	}
	p := newProgress(stderr)
	defer p.clear()
	for i, path := range paths {
		o := f.Options
		o.Trace = traceName(path, r.Traces)
		tell := func(done, total int64) {
			p.tell("bench: trace %d of %d, %s: %s", i+1, len(paths), shown(o.Trace), farInTrace(done, total))
		}
		res, err := economics.Run(ctx, func() (*trace.Reader, error) { return trace.Open(path) }, o, tell)
		if err != nil {
			return err
		}
		r.Traces = append(r.Traces, reports.Trace{Name: o.Trace, Result: res})
	}
	return nil
}

// traceName is what a trace is called: its file's name without endings, unlike
// that of any before it.
func traceName(path string, before []reports.Trace) string {
	name := cmp.Or(filepath.Base(path), trace.Sample)
	if path == "" {
		name = trace.Sample
	}
	for _, ending := range []string{".gz", ".jsonl", ".json", ".db"} {
		name = cmp.Or(strings.TrimSuffix(name, ending), name)
	}
	unique := name
	for i := 2; slices.ContainsFunc(before, func(t reports.Trace) bool { return t.Name == unique }); i++ {
		unique = fmt.Sprintf("%s (%d)", name, i)
	}
	return unique
}

// farInTrace is how far a simulation is: bytes of so many, or requests where nobody
// knows how many come.
func farInTrace(done, total int64) string {
	if total > 0 {
		return fmt.Sprintf("%d %%", min(100*done/total, 100))
	}
	return legible.Grouped(done) + " requests"
}

// again is the command that makes the same report: without what says only where
// it goes, and without folders of this machine.
func (f *economicsFlags) again(fs *flagSet) string {
	parts := []string{"proxy bench economics"}
	fs.Visit(func(x *flag.Flag) {
		switch value := x.Value.String(); {
		case slices.Contains([]string{"o", "page", "made-by", "json", "check", "trace"}, x.Name):
		case value == "true":
			parts = append(parts, "-"+x.Name)
		default:
			parts = append(parts, "-"+x.Name+" "+shellWord(value))
		}
	})
	for _, t := range f.traces {
		parts = append(parts, "-trace "+shellWord(t))
	}
	return strings.Join(append(parts, "-o report"), " ")
}

// shellWord is a word for a shell; of a path on this machine it is the last part.
func shellWord(s string) string {
	if filepath.IsAbs(s) {
		s = filepath.Base(s)
	}
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./,=:%+-", r))
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// print tells what came out where no report does.
func (f *economicsFlags) print(r *reports.Report, stdout, stderr io.Writer) error {
	switch {
	case f.check:
		return checkFigures(r, stdout)
	case f.json:
		for _, t := range r.Traces {
			for _, row := range t.Result.Rows {
				if err := printJSON(stdout, row); err != nil {
					return err
				}
			}
		}
		return notes(r, stderr)
	case f.out != "":
		page := cmp.Or(f.page, filepath.Join(f.out, reports.Index))
		fmt.Fprintln(stdout, "wrote", shown(page))
		return notes(r, stdout)
	}
	if err := notes(r, stdout); err != nil {
		return err
	}
	for _, t := range r.Traces {
		if err := printRows(stdout, t); err != nil {
			return err
		}
	}
	return nil
}

func notes(r *reports.Report, w io.Writer) (err error) {
	for _, n := range r.Notes {
		_, err = fmt.Fprintln(w, n)
	}
	return err
}

func printRows(w io.Writer, t reports.Trace) error {
	rows := t.Result.Rows
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintf(w, "trace %s: %s requests, an opener of %s tokens, its text changes: %s\n\n", shown(t.Name), legible.Grouped(rows[0].Requests), legible.Grouped(rows[0].OpenerTokens), rows[0].Change)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "provider\tlifetime\tstrategy\thits\tof none\tfirst token\toutdated\tnameless\tUSD")
	for _, r := range rows {
		n := float64(max(r.Requests, 1))
		money := "-"
		if r.Price != "" {
			money = fmt.Sprintf("%.2f", r.CostUSD)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.1f %%\t%.3f\t%.2f s\t%.1f %%\t%.1f %%\t%s\n", r.Provider, r.Lifetime, r.Strategy, 100*r.HitRateTokens, r.CostVsNone, r.FirstTokenSeconds.Mean, 100*float64(r.Stale)/n, 100*float64(r.Unnamed)/n, money)
	}
	return tw.Flush()
}
