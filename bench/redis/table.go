package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A table is what was measured, in the order it was.
type table struct{ rows []row }

// A row has the most that its value may be; 0 is no bar.
type row struct {
	what        string
	value, most float64
	unit        string
}

func (t *table) add(what string, value float64, unit string) { t.bar(what, value, unit, 0) }

func (t *table) bar(what string, value float64, unit string, most float64) {
	t.rows = append(t.rows, row{what, value, most, unit})
}

func (r *row) missed() bool { return r.most > 0 && r.value > r.most }

func (t *table) missed() (err error) {
	for i := range t.rows {
		if r := &t.rows[i]; r.missed() {
			err = errors.Join(err, fmt.Errorf("%s is %.3g %s, the bar is %g", r.what, r.value, r.unit, r.most))
		}
	}
	return err
}

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i := range t.rows {
		r := &t.rows[i]
		bar := ""
		if r.most > 0 {
			bar = fmt.Sprintf("<= %g", r.most)
		}
		if r.missed() {
			bar += " MISSED"
		}
		fmt.Fprintf(tw, "%s\t%.5g %s\t%s\t\n", r.what, r.value, r.unit, bar)
	}
	tw.Flush() // to a terminal or a file; a lost line shows
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// quantile sorts values.
func quantile[T int64 | float64 | time.Duration](values []T, q float64) T {
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}
