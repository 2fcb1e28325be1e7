package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// demoTime bounds a demo; it takes a few seconds.
const demoTime = time.Minute

// A demoFlags is the command line of "proxy demo".
type demoFlags struct {
	keep, json, verbose bool
	stay                bool // keep the proxy and its page open after the play
	replicas            int
}

// demo plays scripted sessions through a proxy, and checks what was promised.
func demo(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("proxy demo [flags]",
		"Runs a simulated provider, a proxy with a log of its own in a temporary folder, and\nfive scripted agents; edits an opener, reloads, restarts and resumes in between; and\nchecks from the provider's ledger and the log whether every promise held. Then it\ntells what each session was given and what that cost, and what burst.hold saves\nwhere subagents begin at once. Nothing leaves this machine.\nWith -replicas the proxy runs as often over one Redis, which the demo starts and stops:\neach request of a session goes to the next replica, and instead of one restart there\nis a rolling one under running requests.\nWith -stay the operators' page of the (first) proxy can be looked at meanwhile, and\nafterwards until Ctrl-C.\nExits 1 if a promise was broken.",
		"proxy demo\nproxy demo -stay\nproxy demo -v -keep\nproxy demo -replicas 3")
	var f demoFlags
	fs.BoolVar(&f.keep, "keep", false, "leave the folder with the log, the configuration and the proxy's messages")
	fs.BoolVar(&f.stay, "stay", false, "keep the proxy and its page for operators open after the play, until Ctrl-C")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
	fs.BoolVar(&f.verbose, "v", false, "tell each turn on stderr")
	fs.IntVar(&f.replicas, "replicas", 1, fmt.Sprintf("run `N` replicas of the proxy over one Redis, up to %d; it takes redis-server or valkey-server in the PATH", maxReplicas))
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	if f.replicas < 1 || f.replicas > maxReplicas {
		return fs.misused("cannot use -replicas %d: want 1 to %d", f.replicas, maxReplicas)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return f.run(ctx, stdout, stderr)
}

// run plays in a folder of its own, which it leaves only if told to, and prints
// what came of it.
func (f *demoFlags) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "preface-demo-")
	if err != nil {
		return fmt.Errorf("cannot run the demo: %w", err)
	}
	if !f.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	r, left, err := f.play(ctx, dir, stderr)
	if err != nil {
		return fmt.Errorf("cannot run the demo: %w", err)
	}
	if left != nil {
		defer func() { err = errors.Join(err, left.strike(ctx)) }()
	}
	if f.keep {
		r.Folder = dir
	}
	if err := f.print(r, stdout); err != nil {
		return err
	}
	if left != nil {
		left.stay(ctx, f.beside(stdout, stderr))
	}
	if !r.Held {
		return quietError{}
	}
	return nil
}

// play gives the demo its time. What is returned with -stay is still open.
func (f *demoFlags) play(ctx context.Context, dir string, stderr io.Writer) (*demoResult, *demoStage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, demoTime, fmt.Errorf("it took longer than %v", demoTime))
	defer cancel()
	tell := &narrator{w: stderr, verbose: f.verbose, live: isTerminal(stderr)}
	defer tell.clear()
	r, seen, err := playDemo(ctx, dir, f.replicas, f.stay, tell)
	if err != nil {
		return nil, nil, err
	}
	return r, seen.left, nil
}

// beside is where to tell what is no part of the result.
func (f *demoFlags) beside(stdout, stderr io.Writer) io.Writer {
	if f.json {
		return stderr
	}
	return stdout
}

func (f *demoFlags) print(r *demoResult, stdout io.Writer) error {
	if f.json {
		return printJSON(stdout, r)
	}
	return r.print(stdout)
}

// playDemo plays the script three times: through a proxy, without an opener, and
// with one that the agents make anew for each request; and then the bursts. Each
// time has a provider of its own, so that none finds another's cache warm. To
// stay is to leave the stage of the first time open, unless there is an error.
func playDemo(ctx context.Context, dir string, replicas int, stay bool, tell *narrator) (r *demoResult, seen *evidence, err error) {
	began := time.Now()
	if seen, err = playThrough(ctx, dir, replicas, stay, tell); err != nil {
		return nil, nil, err
	}
	if left := seen.left; left != nil {
		defer func() {
			if err != nil {
				err = errors.Join(err, left.strike(ctx))
			}
		}()
	}
	direct, err := playAlone(ctx, "without an opener", nil, tell)
	if err != nil {
		return nil, nil, err
	}
	volatile, err := playAlone(ctx, "with a volatile opener", seen.volatileOpener, tell)
	if err != nil {
		return nil, nil, err
	}
	if r, err = newDemoResult(seen, direct, volatile); err != nil {
		return nil, nil, err
	}
	if r.Bursts, err = playBursts(ctx, dir, replicas, tell); err != nil {
		return nil, nil, err
	}
	r.Took = time.Since(began).Round(10 * time.Millisecond).Seconds()
	return r, seen, nil
}

// A narrator tells how far the demo is: on a terminal in one line that is
// written over, and with -v each turn.
type narrator struct {
	w             io.Writer
	verbose, live bool
}

func (n *narrator) turn(run string, turn int) {
	if n.live {
		fmt.Fprintf(n.w, "\r\x1b[Kdemo: %s, turn %d of %d", run, turn, demoTurns)
	}
}

// tell prints a line with -v.
func (n *narrator) tell(format string, args ...any) {
	if n.verbose {
		n.clear()
		fmt.Fprintf(n.w, format+"\n", args...)
	}
}

// open says where the page is, if there is one.
func (n *narrator) open(page string) {
	if page != "" {
		n.clear()
		fmt.Fprintf(n.w, "the page of the proxy: http://%s/\n", page)
	}
}

func (n *narrator) clear() {
	if n.live {
		fmt.Fprint(n.w, "\r\x1b[K")
	}
}
