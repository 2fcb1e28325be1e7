package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-9236c7ca/preface/bench/economics"
	reports "github.com/seed-9236c7ca/preface/bench/report"
)

// checkFigures prints what each trace gives beside the figure that was computed
// independently, and beside what others published. One that is off is an error, as
// is a trace of which no figure is known.
func checkFigures(r *reports.Report, w io.Writer) error {
	off, all := 0, 0
	for _, t := range r.Traces {
		list := t.Result.Goldens
		if len(list) == 0 {
			return fmt.Errorf("no figures are known of trace %s: those of cc_traces, mooncake_conversation and mooncake_synthetic are", shown(t.Name))
		}
		n, err := printFigures(w, t.Name, list)
		if err != nil {
			return err
		}
		off, all = off+n, all+len(list)
	}
	if off > 0 {
		return fmt.Errorf("%d of %d figures are off", off, all)
	}
	_, err := fmt.Fprintf(w, "all %d figures are within their tolerance\n", all)
	return err
}

func printFigures(w io.Writer, name string, list []economics.Golden) (off int, err error) {
	fmt.Fprintf(w, "trace %s\n", shown(name))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\tfigure\there\tindependently\tpublished\tdifference\tby")
	for _, g := range list {
		verdict := "ok"
		if !g.OK {
			verdict = "OFF"
			off++
		}
		published, difference := "-", "-"
		if g.Published > 0 {
			published, difference = fmt.Sprintf("%.4g", g.Published), fmt.Sprintf("%+.4f", g.Difference)
		}
		fmt.Fprintf(tw, "%s\t%s\t%.4f\t%.4g ±%.4g\t%s\t%s\t%s\n", verdict, g.Name, g.Got, g.Want, g.Tolerance, published, difference, g.Source)
	}
	if err := tw.Flush(); err != nil {
		return off, err
	}
	_, err = fmt.Fprintln(w, reasons(list))
	return off, err
}

// reasons say once why figures are not those published.
func reasons(list []economics.Golden) string {
	var b strings.Builder
	for _, g := range list {
		if g.Published > 0 && !strings.Contains(b.String(), g.Why+"\n") {
			fmt.Fprintf(&b, "why it differs, %s: %s\n", g.Source, g.Why)
		}
	}
	return b.String()
}
