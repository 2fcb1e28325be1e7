package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-9236c7ca/preface/internal/account"
	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A reportFlags is the command line of "proxy report".
type reportFlags struct {
	options
	since, until, tenant, format, out, prices string
}

// reportFormats are the ways to write a report, by name; a file's ending names
// one too.
var reportFormats = map[string]func(*account.Report, io.Writer) error{
	"md": (*account.Report).WriteMarkdown, "json": (*account.Report).WriteJSON, "html": (*account.Report).WriteHTML,
}

// reportCommand accounts for a span of time from the header log.
func reportCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("proxy report [flags]",
		"Tells from the header log, also of a running proxy, what the openers cost, what\ncaching saved, and why cache reads fell short: by day, model, route, prefix and\ncontributor, with the dearest sessions and misses. The same log and -until give\nthe same bytes.",
		"proxy report -since 7d\nproxy report -since 2026-11-01 -until 2026-11-30 -o november.html\nproxy report -since 24h -format json")
	var f reportFlags
	f.registerRead(fs)
	fs.StringVar(&f.since, "since", "7d", "from `WHEN` on: so long before -until, as in 7d or 24h; a day, 2026-11-01; or a time, 2026-11-01T08:00:00Z")
	fs.StringVar(&f.until, "until", "", "until `WHEN`: so long ago, to the end of a day, or a time (default now)")
	fs.StringVar(&f.tenant, "tenant", "", "only sessions of the `TENANT`, a hash or its beginning")
	fs.StringVar(&f.format, "format", "", "`FORMAT` of the report: md, json or html (default: as the name of -o ends, else md)")
	fs.StringVar(&f.out, "o", "", "write to `FILE`, which is there whole or not at all")
	fs.StringVar(&f.prices, "prices", "", "price what was recorded without a price by the price `FILE`, or by the built-in table: builtin")
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	write, err := f.writer(fs)
	if err != nil {
		return err
	}
	o := account.Options{Tenant: f.tenant, Explain: f.explainCommand}
	if o.Since, o.Until, err = span(fs, f.since, f.until, time.Now()); err != nil {
		return err
	}
	if o.Prices, err = f.table(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return f.run(ctx, o, write, stdout, stderr)
}

// writer is what writes the report.
func (f *reportFlags) writer(fs *flagSet) (func(*account.Report, io.Writer) error, error) {
	name := f.format
	if name == "" {
		name = "md"
		if ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(f.out), ".")); reportFormats[ending] != nil {
			name = ending
		}
	}
	if reportFormats[name] == nil {
		return nil, fs.misused("cannot use -format %q: want md, json or html", name)
	}
	return reportFormats[name], nil
}

// table is the price table for what was recorded without a price, nil if none is
// asked for.
func (f *reportFlags) table() (*usage.Prices, error) {
	switch f.prices {
	case "":
		return nil, nil
	case "builtin":
		return loadPrices("")
	}
	return loadPrices(f.prices)
}

// run reads the log and writes the report: nothing, if either fails.
func (f *reportFlags) run(ctx context.Context, o account.Options, write func(*account.Report, io.Writer) error, stdout, stderr io.Writer) error {
	out := &reportFile{Writer: stdout}
	if f.out != "" {
		var err error
		if out, err = createReport(f.out); err != nil {
			return err
		}
	}
	defer out.discard()
	r, err := f.read(ctx, o, stderr)
	if err != nil {
		return f.stopped(ctx, err)
	}
	if err := write(r, out); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	if ctx.Err() != nil {
		return f.stopped(ctx, ctx.Err())
	}
	return out.keep()
}

func (f *reportFlags) read(ctx context.Context, o account.Options, stderr io.Writer) (*account.Report, error) {
	c, err := loadLog(f.options)
	if err != nil {
		return nil, err
	}
	log, err := openReader(ctx, f.options)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := newProgress(stderr)
	defer p.clear()
	o.Progress = func(far account.Progress) {
		p.tell("report: %s sessions, %s records read", legible.Grouped(far.Sessions), legible.Grouped(far.Records))
	}
	r, err := account.Read(ctx, log, o)
	if err != nil {
		return nil, err
	}
	r.Log = c.Path
	return r, nil
}

// stopped says that a signal ended it, if one did.
func (f *reportFlags) stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if f.out == "" {
		return errors.New("interrupted: no report was written")
	}
	return fmt.Errorf("interrupted: %s is as it was", f.out)
}
