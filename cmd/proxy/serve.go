package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// serve runs the proxy until a signal: SIGHUP reloads, SIGTERM and SIGINT end
// it once running answers have, and another of these cuts them.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("proxy serve [flags]",
		"Serves agents. Without a configuration it sends Anthropic and OpenAI paths to their\nproviders and gives every session the AGENTS.md of the working directory, if there\nis one: the file as it is, as one user message right after the system slot.",
		"proxy serve -listen 127.0.0.1:8787 -file AGENTS.md\nANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude")
	var o options
	o.registerServe(fs)
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	// Before the configuration is first read, so that no signal is lost.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	s, err := load(o)
	if err != nil {
		return err
	}
	logger, level := newLogger(s.Logging, stderr)
	v, err := start(ctx, o, s, logger, level)
	if err != nil {
		return s.hide(err)
	}
	v.announce(stdout)
	notify(notifyReady)
	err = v.wait(ctx, signals)
	notify(notifyStopping)
	return v.stop(err, signals)
}

// newLogger makes the logger for lines about the program itself.
func newLogger(c loggingConfig, stderr io.Writer) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	l, _ := c.level() // it was validated
	level.Set(l)
	opt := &slog.HandlerOptions{Level: level}
	if c.Format == "text" || c.Format == "auto" && isTerminal(stderr) {
		return slog.New(slog.NewTextHandler(stderr, opt)), level
	}
	return slog.New(slog.NewJSONHandler(stderr, opt)), level
}

// isTerminal is true for any character device, which is near enough.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// announce prints the one line that says what is served where, and on a
// terminal how to point agents at it.
func (v *service) announce(w io.Writer) {
	s := v.started
	agents := "http://" + v.agents.Addr().String()
	operators := adminOff
	if v.operators != nil {
		operators = "http://" + v.operators.Addr().String()
	}
	names := make([]string, len(s.Contributors))
	for i, c := range s.Contributors {
		names[i] = c.Name
	}
	given := strings.Join(names, ", ")
	if given == "" {
		given = "none"
	}
	fmt.Fprintf(w, "preface %s: agents %s, operators %s, routes %s, log %s, contributors %s\n",
		buildVersion(), agents, operators, strings.Join(routeNames(s.Routes), " "), s.written(s.Log.Path), given)
	if isTerminal(w) {
		fmt.Fprintf(w, "  ANTHROPIC_BASE_URL=%s\n  OPENAI_BASE_URL=%s/v1\n", agents, agents)
	}
	v.advise(given == "none")
}

// advise warns of a set-up that is surely not meant.
func (v *service) advise(noContributors bool) {
	if noContributors {
		v.logger.Warn("no contributors: requests pass without a prefix; put an AGENTS.md here, or use -file or -config")
	}
	if v.operators == nil {
		return
	}
	if !onLoopback(v.operators) && v.started.AdminToken == "" {
		v.logger.Warn("other hosts can reach the operators' listener and it has no token: only /healthz, /readyz and /metrics are served there; set admin_token, or admin to a loopback address", "admin", v.operators.Addr().String())
	}
}

// wait returns nil when a signal or ctx ends the program, or why it cannot go on.
func (v *service) wait(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case s := <-signals:
			if s != syscall.SIGHUP {
				v.server.Drain() // before it is said
				v.logger.Info("draining: running answers may end; another signal cuts them", "signal", s.String(), "timeouts.drain", v.started.Timeouts.Drain.String())
				return nil
			}
			_ = v.reload() // it has told what is wrong
		case err := <-v.failed:
			return fmt.Errorf("cannot go on serving: %w", err)
		case <-ctx.Done():
			return nil
		}
	}
}

// stop lets running answers end for timeouts.drain, until another signal at
// most, and closes everything. err is why the program ends.
func (v *service) stop(err error, signals <-chan os.Signal) error {
	ctx, cut := context.WithTimeout(context.Background(), v.started.Timeouts.Drain)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case s := <-signals:
				if s != syscall.SIGHUP {
					cut()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	closed := v.close(ctx)
	cut()
	watching.Wait()
	if err == nil {
		err = closed
	}
	return err
}
