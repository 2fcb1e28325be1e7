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

	"github.com/seed-9236c7ca/preface/bench/economics"
	reports "github.com/seed-9236c7ca/preface/bench/report"
)

// An economicsFlags is the command line of "proxy bench economics".
type economicsFlags struct {
	economics.Options
	traces                           list
	providers, strategies, lifetimes string
	change, priceDate, prices        string
	out, page, madeBy                string
	json, check                      bool
}

// benchEconomics plays traces against providers' caches and tells what ways of
// giving an opener cost.
func benchEconomics(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("proxy bench economics [flags] [TRACE...]",
		"Plays recorded traffic against providers' prompt caches, once for each way of giving\nagents an opener, and tells what each costs. Reads cc_traces and Mooncake files,\nTraceLab rounds, and Preface's own log; without a trace a small sample. Prints a\ntable, or writes a report with plots into a folder. The same flags give the same bytes.",
		"proxy bench economics\nproxy bench economics -trace preface.db -provider anthropic/claude-opus-5-5,openai -o report\nproxy bench economics -trace cc_traces_rle.jsonl.gz -change deploy=4h -resumes 0.01 -json")
	var f economicsFlags
	f.register(fs)
	words, err := fs.parse(args, stdout)
	if err != nil {
		return err
	}
	f.traces = append(f.traces, words...)
	if err := f.complete(fs); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return f.run(ctx, f.again(fs), stdout, stderr)
}

func (f *economicsFlags) register(fs *flagSet) {
	f.Options = economics.Options{}.WithDefaults()
	fs.Var(&f.traces, "trace", "read `PATH`; may be given several times, and paths may follow the flags (default: an embedded sample)")
	fs.StringVar(&f.providers, "provider", strings.Join(f.Providers, ","), "`PROVIDERS` with commas between, each with a model of the price table behind a slash if it is not to be the usual one: "+strings.Join(economics.Providers(), ", "))
	fs.StringVar(&f.strategies, "strategy", "", "`STRATEGIES` with commas between (default all): "+strings.Join(economics.Strategies(), ", "))
	fs.StringVar(&f.lifetimes, "lifetime", "", "`LIFETIMES` with commas between, such as 5m,1h; none is entries that never expire (default all that a provider sells)")
	fs.StringVar(&f.out, "o", "", "write a report with plots into the folder `DIR`, which is there whole or not at all")
	fs.StringVar(&f.page, "page", "", "with -o: write its page to `FILE`, with links into the folder, instead of into the folder")
	fs.StringVar(&f.madeBy, "made-by", "", "with -o: the report says that `COMMAND` makes it (default: this command)")
	fs.BoolVar(&f.json, "json", false, "print the rows as JSON, one a line")
	fs.BoolVar(&f.check, "check", false, "print what each trace gives beside the figures known of it; one that is off is an error")
	f.registerOpener(fs)
	f.registerTraffic(fs)
	f.registerModel(fs)
}

// registerOpener has the flags of the opener and of when it is composed.
func (f *economicsFlags) registerOpener(fs *flagSet) {
	fs.Int64Var(&f.OpenerTokens, "opener", f.OpenerTokens, "the opener has `N` tokens")
	fs.StringVar(&f.change, "change", f.Change.String(), "`WHEN` the opener's text changes: each_request, never, midnight, or deploy=TIME for one new text in such a time")
	fs.BoolVar(&f.SignedHistory, "signed-history", false, "a resume or a fork keeps a frozen opener, since signed histories are bound to it")
	fs.Float64Var(&f.Warm, "warm", 0, "`SHARE` of sessions, from 0 to 1, at whose start another has just used the same tools and system prompt")
	fs.Float64Var(&f.Shared, "shared", f.Shared, "`SHARE` of sessions with one opener for all; matters with -warm")
}

// registerTraffic has the flags of what is done to the trace's sessions.
func (f *economicsFlags) registerTraffic(fs *flagSet) {
	fs.Float64Var(&f.Resumes, "resumes", 0, "add `RATE` resumes per request, from 0 to 1")
	fs.Float64Var(&f.Compactions, "compactions", 0, "add `RATE` compactions per request, from 0 to 1")
	fs.Float64Var(&f.Forks, "forks", 0, "add `RATE` forks per request, from 0 to 1")
	fs.Float64Var(&f.Subagents, "subagents", 0, "add `RATE` subagents per request, each with one request")
	fs.Int64Var(&f.SubagentInput, "subagent-input", f.SubagentInput, "`N` tokens of an added subagent besides tools, system and opener")
	fs.BoolVar(&f.RecordedSubagents, "recorded-subagents", false, "count the subagents that the trace has, too")
	fs.IntVar(&f.Burst, "burst", f.Burst, "added subagents start `N` at once")
	fs.BoolVar(&f.BurstHold, "burst-hold", false, "hold all but the first of them until the first byte of its answer")
	fs.Uint64Var(&f.Seed, "seed", 0, "`N` decides at which requests added events fall")
}

// registerModel has the flags of caches, prices and times.
func (f *economicsFlags) registerModel(fs *flagSet) {
	fs.StringVar((*string)(&f.Marks), "marks", string(f.Marks), "where prompts can be read and written: ideal (any block), client (where agents mark them) or opener (the same, and behind the opener)")
	fs.Int64Var(&f.Capacity, "capacity", 0, "the cache of a self-hosted engine (vllm, blocks-64, blocks-128) holds `N` tokens (default: room for everything)")
	fs.IntVar(&f.Keepalive, "keepalive", 0, "keep idle entries alive by at most `N` requests in a pause, which are paid")
	fs.DurationVar(&f.KeepaliveMargin, "keepalive-margin", f.KeepaliveMargin, "`TIME` before the expiry at which it is sent")
	fs.DurationVar(&f.FirstToken.Base, "first-token", f.FirstToken.Base, "`TIME` to the first token of an empty prompt")
	fs.DurationVar(&f.FirstToken.PerFresh, "per-fresh", f.FirstToken.PerFresh, "more `TIME` for each 1,000 tokens processed")
	fs.DurationVar(&f.FirstToken.PerRead, "per-read", f.FirstToken.PerRead, "more `TIME` for each 1,000 tokens read from the cache")
	fs.StringVar(&f.prices, "prices", "", "a price `FILE` (default: the built-in table)")
	fs.StringVar(&f.priceDate, "price-date", f.PriceDate.Format(time.DateOnly), "use the prices of this `DAY`")
}

// complete reads what the flags only name.
func (f *economicsFlags) complete(fs *flagSet) (err error) {
	if (f.page != "" || f.madeBy != "") && f.out == "" {
		return fs.misused("-page and -made-by say something of a report: want -o DIR too")
	}
	f.Providers, f.Strategies, f.Lifetimes = words(f.providers), words(f.strategies), words(f.lifetimes)
	f.RowsOnly = f.out == "" && !f.check
	if f.Change, err = parseChange(f.change); err != nil {
		return fs.misused("cannot read -change %q: %v", f.change, err)
	}
	if f.PriceDate, err = time.Parse(time.DateOnly, f.priceDate); err != nil {
		return fs.misused("cannot read -price-date %q: want a day such as 2026-12-01", f.priceDate)
	}
	if f.OpenerTokens == 0 { // which Options take for unsaid
		f.OpenerTokens = -1
	}
	if f.Shared == 0 {
		f.Shared = -1
	}
	if f.prices != "" {
		f.Prices, err = loadPrices(f.prices)
	}
	return err
}

// words are those between commas.
func words(s string) (list []string) {
	for w := range strings.SplitSeq(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			list = append(list, w)
		}
	}
	return list
}

func parseChange(s string) (economics.Change, error) {
	kind, every, timed := strings.Cut(s, "=")
	c := economics.Change{Kind: economics.ChangeKind(kind), Every: 24 * time.Hour}
	switch {
	case timed && c.Kind != economics.ChangeDeploy:
		return c, errors.New("only deploy takes a time")
	case timed:
		var err error
		if c.Every, err = time.ParseDuration(every); err != nil || c.Every <= 0 {
			return c, errors.New("want a time such as 4h")
		}
	}
	return c, nil
}

// run plays the traces and tells what came out: nothing, if one of them fails.
func (f *economicsFlags) run(ctx context.Context, command string, stdout, stderr io.Writer) error {
	var folder *reports.Folder
	if f.out != "" {
		var err error
		if folder, err = reports.Create(f.out); err != nil {
			return err
		}
		defer folder.Discard()
	}
	r := reports.Report{Command: command, Options: f.Options}
	if f.madeBy != "" {
		r.Command = f.madeBy
	}
	if err := f.play(ctx, &r, stderr); err != nil {
		return f.stopped(ctx, err)
	}
	if folder != nil {
		if err := f.write(folder, &r); err != nil {
			return err
		}
	}
	return f.print(&r, stdout, stderr)
}

// write keeps the report. Its page comes last, and is written before anything is
// replaced.
func (f *economicsFlags) write(folder *reports.Folder, r *reports.Report) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	if f.page == "" {
		return folder.Keep(append(files, reports.File{Name: reports.Index, Data: r.Markdown("")}))
	}
	links, err := filepath.Rel(filepath.Dir(f.page), f.out)
	if err != nil {
		return fmt.Errorf("cannot link from -page %s to -o %s: %w", shown(f.page), shown(f.out), err)
	}
	page, err := reports.WritePage(f.page, r.Markdown(filepath.ToSlash(links)))
	if err != nil {
		return err
	}
	defer page.Discard()
	if err := folder.Keep(files); err != nil {
		return err
	}
	return page.Keep()
}

// stopped says that a signal ended it, if one did.
func (f *economicsFlags) stopped(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case f.out == "":
		return errors.New("interrupted")
	}
	return fmt.Errorf("interrupted: %s is as it was", shown(f.out))
}
