package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	overhead "github.com/seed-9236c7ca/preface/bench/load"
)

// An overheadFlags is the command line of "proxy bench overhead".
type overheadFlags struct {
	overhead.Options
	keyEnv, loads string
	headers       list
	json          bool
}

// benchOverhead measures what a proxy adds on this machine.
func benchOverhead(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("proxy bench overhead -upstream URL [flags]",
		"Measures what a running proxy adds here: the same load goes straight to its upstream\nand through it, in turns, and ends by itself. By default that takes half a minute.\nAn upstream on another machine has to be allowed, since its provider bills each request.",
		"proxy provider -listen 127.0.0.1:9000 &\nproxy serve -upstream anthropic=http://127.0.0.1:9000 &\nproxy bench overhead -upstream http://127.0.0.1:9000 -pid $!")
	var f overheadFlags
	f.register(fs)
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	if f.Upstream == "" {
		return fs.misused("no -upstream is given: want the base URL of what the proxy forwards to")
	}
	if err := f.complete(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return f.run(ctx, stdout, stderr)
}

func (f *overheadFlags) register(fs *flagSet) {
	fs.StringVar(&f.Upstream, "upstream", "", "base `URL` of the provider that is asked directly")
	fs.StringVar(&f.Proxy, "proxy", "http://127.0.0.1:8787", "base `URL` of the proxy before it")
	fs.StringVar(&f.Format, "format", "anthropic", "wire `FORMAT`: anthropic, chat or responses")
	fs.StringVar(&f.Model, "model", "", "ask for this `MODEL` (default: one that fits the format)")
	fs.StringVar(&f.loads, "load", strings.Join(overhead.Scenarios, ","), "`LOADS` to measure, with commas between")
	fs.IntVar(&f.Rounds, "rounds", 5, "measure each load `N` times on each side")
	fs.DurationVar(&f.Duration, "duration", overhead.DefaultDuration, "`TIME` of one measurement")
	fs.IntVar(&f.Connections, "c", 8, "`N` connections to each side")
	fs.Float64Var(&f.Rate, "rate", 100, "`N` requests per second in the open load")
	fs.IntVar(&f.Size, "size", 2000, "about `N` bytes of a request's body")
	fs.DurationVar(&f.Timeout, "timeout", overhead.DefaultTimeout, "`TIME` at most for one request")
	fs.StringVar(&f.keyEnv, "key-env", "", "the environment variable `NAME` holds the API key (default: a made-up key)")
	fs.Var(&f.headers, "header", "send `\"NAME: VALUE\"` to both sides; may be given several times")
	fs.StringVar(&f.SessionHeader, "session-header", "x-session-id", "the header `NAME` that has a session for each connection")
	fs.IntVar(&f.PID, "pid", 0, "`PID` of the proxy, to tell its CPU and memory (Linux)")
	fs.BoolVar(&f.Remote, "remote", false, "allow targets on other machines")
	fs.BoolVar(&f.json, "json", false, "print JSON")
}

// complete reads what the flags only name.
func (f *overheadFlags) complete() error {
	f.Scenarios, f.Headers = strings.Split(f.loads, ","), f.headers
	if f.keyEnv == "" {
		return nil
	}
	if f.Key = os.Getenv(f.keyEnv); f.Key == "" {
		return usageError{fmt.Sprintf("-key-env %s: the variable is empty", shown(f.keyEnv))}
	}
	return nil
}

func (f *overheadFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	if isTerminal(stderr) {
		f.Tell = func(done, all int) { fmt.Fprintf(stderr, "\r\x1b[Kmeasuring: %d of %d", done, all) }
	}
	r, err := overhead.Run(ctx, f.Options)
	if f.Tell != nil {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	if err != nil {
		return fmt.Errorf("cannot measure the overhead: %w", err)
	}
	if f.json {
		err = printJSON(stdout, r)
	} else {
		err = r.WriteText(stdout)
	}
	if n := r.Failed(); err == nil && n > 0 {
		err = fmt.Errorf("%d requests failed", n)
	}
	return err
}
