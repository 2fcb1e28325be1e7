// Command proxy is Preface: a reverse proxy that puts a frozen list of opening
// messages in front of every LLM agent session, logs it before it is sent, and
// tells at any time what a model was given.
//
// "proxy" alone serves; "proxy help" lists the other commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // what was asked for did not work out
	exitUsage = 2 // it was not understood
)

// A command is one subcommand. Its run writes results to stdout and returns
// what went wrong; it ends when ctx does.
type command struct {
	name, about string
	run         func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

// commands in the order that help lists them; the first is the default.
func commands() []command {
	return []command{
		{"serve", "serve agents (the default)", serve},
		{"check", "validate a configuration and lint its opening messages", check},
		{"compose", "print the prefix that a session would get now", compose},
		{"sessions", "list sessions, show one, or end its epoch (resume)", sessions},
		{"log", "read the header log: ls, show, tail, verify", logCommand},
		{"explain", "say why a cache read fell short: of a session, or of two saved bodies", explain},
		{"report", "account for a span of time: openers, savings, misses", reportCommand},
		{"top", "show what a running proxy does: hit rates, money, causes of misses", top},
		{"prices", "print what is used for a model at a time: check", pricesCommand},
		{"provider", "run the simulated provider", simulate},
		{"bench", "measure what an opener costs, and what the proxy adds", bench},
		{"demo", "play scripted sessions and check every promise", demo},
		{"version", "print the version", version},
	}
}

// run is the program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, args, err := choose(args)
	if err == nil && c.run == nil {
		fmt.Fprint(stdout, overview())
		return exitOK
	}
	if err == nil {
		err = c.run(ctx, args, stdout, stderr)
	}
	return report(err, stderr)
}

// choose finds the command that args begin with. No command, or flags alone,
// mean serve; the zero command means help.
func choose(args []string) (command, []string, error) {
	list := commands()
	if len(args) == 0 {
		return list[0], nil, nil
	}
	switch name := args[0]; name {
	case "help", "-h", "-help", "--help":
		return command{}, nil, nil
	default:
		if strings.HasPrefix(name, "-") {
			return list[0], args, nil
		}
		for _, c := range list {
			if c.name == name {
				return c, args[1:], nil
			}
		}
		return command{}, nil, usageError{fmt.Sprintf("there is no command %q; %s lists them", name, asCalled("proxy help"))}
	}
}

func overview() string {
	var b strings.Builder
	b.WriteString("Preface puts a frozen list of opening messages in front of every agent session.\n\nusage: " + asCalled("proxy [command] [flags]") + "\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.about)
	}
	b.WriteString("\n" + asCalled("proxy COMMAND -h") + " tells more. To begin: put an AGENTS.md here, run it without a command, and\nset ANTHROPIC_BASE_URL=http://127.0.0.1:8787 for the agent.\n")
	return b.String()
}

// report tells what went wrong in one line and returns the exit code.
func report(err error, stderr io.Writer) int {
	var usage usageError
	var quiet quietError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &quiet):
		return exitError
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "preface:", err)
		return exitUsage
	}
	fmt.Fprintln(stderr, "preface:", err)
	return exitError
}

// A usageError says that the command line makes no sense.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// A quietError ends a command whose findings are already told.
type quietError struct{}

func (quietError) Error() string { return "findings" }
