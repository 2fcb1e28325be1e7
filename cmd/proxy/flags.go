package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A flagSet is the flags of one command. Its -h prints what the command does,
// an example, and the flags; a mistake is one line.
type flagSet struct {
	*flag.FlagSet
	synopsis, about, example string
}

// newFlags returns the flags of a command whose use is synopsis, e.g.
// "proxy sessions [flags] [ID | resume ID]".
func newFlags(synopsis, about, example string) *flagSet {
	fs := flag.NewFlagSet(synopsis, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // mistakes are reported in our words, once
	return &flagSet{fs, asCalled(synopsis), about, asCalled(example)}
}

// asCalled is commands with the name that the program was started by, so that they
// can be pasted: it is proxy as a package, and preface where make build or a
// package put it.
func asCalled(commands string) string {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	lines := strings.Split(commands, "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, "proxy "); ok {
			lines[i] = name + " " + rest
		}
	}
	return strings.Join(lines, "\n")
}

// parse reads args, in which flags and other words may stand in any order, and
// returns the other words. After -h the error is flag.ErrHelp and the help has
// been printed.
func (fs *flagSet) parse(args []string, stdout io.Writer) ([]string, error) {
	var words []string
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			fs.help(stdout)
			return nil, err
		}
		if err != nil {
			return nil, fs.misused("%v", err)
		}
		read := len(args) - fs.NArg()
		if fs.NArg() == 0 || read > 0 && args[read-1] == "--" {
			return append(words, fs.Args()...), nil
		}
		words, args = append(words, fs.Arg(0)), fs.Args()[1:]
	}
}

// parseNone is parse for a command that takes nothing but flags.
func (fs *flagSet) parseNone(args []string, stdout io.Writer) error {
	words, err := fs.parse(args, stdout)
	if err == nil && len(words) > 0 {
		return fs.misused("unexpected word %q", words[0])
	}
	return err
}

// misused returns a usage error that says where the flags are listed.
func (fs *flagSet) misused(format string, args ...any) error {
	return usageError{fmt.Sprintf(format, args...) + "; " + fs.command() + " -h lists what there is"}
}

// command is the synopsis without what stands for something else.
func (fs *flagSet) command() string {
	words := strings.Fields(fs.synopsis)
	for i, w := range words {
		if i > 0 && strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
			return strings.Join(words[:i], " ")
		}
	}
	return strings.Join(words, " ")
}

func (fs *flagSet) help(w io.Writer) {
	fmt.Fprintf(w, "usage: %s\n\n%s\n\nexample:\n", fs.synopsis, fs.about)
	for line := range strings.Lines(fs.example) {
		fmt.Fprintf(w, "  %s", line)
	}
	fmt.Fprint(w, "\n\nflags:\n")
	fs.SetOutput(w)
	fs.PrintDefaults()
}

// A list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ", ") }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// pair cuts NAME=VALUE.
func pair(flagName, s string) (name, value string, err error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" || value == "" {
		return "", "", usageError{fmt.Sprintf("cannot read -%s %q: want NAME=VALUE", flagName, s)}
	}
	return name, value, nil
}
