package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed-9236c7ca/preface/configs"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A priceFile is a price table as it is written.
type priceFile struct {
	Prices []usage.Entry `yaml:"prices"`
}

// builtinPrices names the table in the binary in messages.
const builtinPrices = "configs/prices.yaml (built in)"

// loadPrices reads a price file, or the built-in table if name is empty.
func loadPrices(name string) (*usage.Prices, error) {
	src, err := priceSource(name)
	if err != nil {
		return nil, err
	}
	e := &expander{lookup: os.LookupEnv}
	p, err := src.prices(e)
	return p, e.hide(err)
}

func (s *source) prices(e *expander) (*usage.Prices, error) {
	var file priceFile
	if err := s.into(&file, e); err != nil {
		return nil, err
	}
	p, err := usage.NewPrices(file.Prices)
	var wrong *usage.EntryError
	if errors.As(err, &wrong) {
		return nil, s.wrongItem("prices", wrong.Index, wrong.Err)
	}
	return p, err
}

func priceSource(name string) (*source, error) {
	if name == "" {
		return parseSource(builtinPrices, configs.Prices)
	}
	src, err := readSource("price file", name)
	if err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	return src, nil
}

// wrongItem is an error about one item of a list at the file's top.
func (s *source) wrongItem(key string, index int, err error) error {
	if list, ok := s.section(key).root.(*ast.SequenceNode); ok && index < len(list.Values) {
		return s.wrong(firstToken(list.Values[index]), "%v", err)
	}
	return fmt.Errorf("%s: %s[%d]: %w", s.name, key, index, err)
}

// pricesCommand prints and checks price tables.
func pricesCommand(_ context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) > 0 && args[0] == "check" {
		args = args[1:]
	}
	fs := newFlags("proxy prices check [flags] [MODEL...]",
		"Checks a price table and prints what is used for each MODEL at a time, or for\nevery model that it has a price for then: USD per million tokens.",
		"proxy prices check claude-opus-5-5\nproxy prices check -prices my.yaml -at 2026-12-01")
	file := fs.String("prices", "", "a price `file`; the built-in table otherwise")
	config := fs.String("config", "", "a configuration `file` whose prices are meant")
	at := fs.String("at", "", "the `day` or time asked about, 2026-12-01 or 2026-12-01T08:00:00Z; now otherwise")
	models, err := fs.parse(args, stdout)
	if err != nil {
		return err
	}
	when, err := parseAt(*at)
	if err != nil {
		return err
	}
	if *config != "" && *file == "" {
		s, err := load(options{config: *config})
		if err != nil {
			return err
		}
		*file = s.Prices
	}
	p, err := loadPrices(*file)
	if err != nil {
		return err
	}
	return printPrices(stdout, p, when, models)
}

func parseAt(s string) (time.Time, error) {
	if s == "" {
		return time.Now().UTC(), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("-at %q: want a day such as 2026-12-01, or a time such as 2026-12-01T08:00:00Z", s)
}

// printPrices prints the rates of models. One that has none is an error if it
// was asked for by name.
func printPrices(w io.Writer, p *usage.Prices, at time.Time, models []string) error {
	all := len(models) == 0
	if all {
		models = p.Models()
	}
	missing := 0
	for _, m := range models {
		r, ok := p.Find(usage.Query{Model: m, At: at})
		switch {
		case ok:
			printRate(w, m, r)
		case !all:
			missing++
			fmt.Fprintf(w, "%q: no price at %s; its answers are counted as unpriced\n", m, at.Format(time.DateOnly))
		}
	}
	if missing > 0 {
		return quietError{}
	}
	return nil
}

func printRate(w io.Writer, model string, r usage.Rate) {
	fmt.Fprintf(w, "%q: %s", model, r.Label())
	if until, ok := r.Until(); ok {
		fmt.Fprintf(w, " until %s", until.AddDate(0, 0, -1).Format(time.DateOnly))
	}
	fmt.Fprintln(w)
	for _, c := range r.Classes() {
		fmt.Fprintf(w, "  %-10s %10s\n", c.Name, 1_000_000*c.Price)
	}
	for _, line := range r.Terms() {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintf(w, "  source: %s\n", cmp.Or(r.Source(), "not given"))
}
