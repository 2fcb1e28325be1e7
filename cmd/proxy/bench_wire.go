package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/seed-9236c7ca/preface/bench/trace"
	"github.com/seed-9236c7ca/preface/bench/wire"
	"github.com/seed-9236c7ca/preface/internal/legible"
)

// A wireFlags is the command line of "proxy bench wire".
type wireFlags struct {
	wire.Options
	trace string
	json  bool
}

// benchWire plays agents of a trace through the proxy, and compares what the
// provider read from its cache with the model.
func benchWire(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("proxy bench wire [flags]",
		"Plays the sessions of a trace through a real proxy to a simulated provider, all in this\nprocess and on loopback, and compares what the provider reads from its cache with what\nthe cache model of \"proxy bench economics\" says, to the token. Each request is made\ntwice: with the id of its session, so that the opener is frozen, and with an id of its\nown, so that it gets an opener of its own. Texts are made to the trace's token counts;\nits pauses pass on the provider's clock. Without a trace it plays a small sample.\nExits 1 if a request differs.",
		"proxy bench wire\nproxy bench wire -trace cc_traces_rle.jsonl.gz\nproxy bench wire -trace cc_traces_rle.jsonl.gz -dialect openai-responses -sessions 20 -shrink 1")
	var f wireFlags
	f.register(fs)
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	var err error
	if f.Prices, err = loadPrices(""); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return f.run(ctx, stdout, stderr)
}

func (f *wireFlags) register(fs *flagSet) {
	fs.StringVar(&f.trace, "trace", "", "read `PATH`, with sessions in it: cc_traces, TraceLab rounds, or Preface's own log (default: an embedded sample)")
	fs.IntVar(&f.Sessions, "sessions", wire.DefaultSessions, "play the first `N` sessions; below 0: all")
	fs.IntVar(&f.Turns, "turns", 0, "play the first `N` requests of each session (default: all)")
	fs.Int64Var(&f.Shrink, "shrink", wire.DefaultShrink, "divide all token counts by `N`, so that it does not take long")
	fs.Int64Var(&f.Opener, "opener", wire.DefaultOpener, "the opener has `N` tokens before they are divided")
	fs.StringVar(&f.Dialect, "dialect", wire.Dialects()[0], "wire `FORMAT`: "+strings.Join(wire.Dialects(), ", "))
	fs.StringVar(&f.Model, "model", "", "ask for this `MODEL` of the price table (default: one that fits the dialect)")
	fs.StringVar(&f.Lifetime, "lifetime", "", "`TIME` that cache entries live, such as 5m or 1h (default: the model's)")
	fs.Uint64Var(&f.Seed, "seed", 0, "`N` decides what the texts say")
	fs.BoolVar(&f.json, "json", false, "print JSON")
}

func (f *wireFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	r, err := f.play(ctx, stderr)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		return fmt.Errorf("cannot compare the wire with the model: %w", err)
	case f.json:
		err = printJSON(stdout, r)
	default:
		err = r.WriteText(stdout)
	}
	if err == nil && !r.OK() {
		err = quietError{}
	}
	return err
}

func (f *wireFlags) play(ctx context.Context, stderr io.Writer) (result *wire.Result, err error) {
	t, err := trace.Open(f.trace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	f.Trace = traceName(f.trace, nil)
	p := newProgress(stderr)
	defer p.clear()
	f.Tell = func(done, all int) {
		p.tell("bench: %s of %s requests", legible.Grouped(int64(done)), legible.Grouped(int64(all)))
	}
	return wire.Run(ctx, t, f.Options)
}
