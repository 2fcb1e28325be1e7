package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	f := func(args []string, name string, rest ...string) {
		t.Helper()
		c, got, err := choose(args)
		if err != nil || c.name != name || !slices.Equal(got, rest) {
			t.Errorf("choose(%q) = %q %q, %v, want %q %q", args, c.name, got, err, name, rest)
		}
	}
	f(nil, "serve")
	f([]string{"-listen", "x"}, "serve", "-listen", "x")
	f([]string{"serve", "-listen", "x"}, "serve", "-listen", "x")
	f([]string{"log", "ls"}, "log", "ls")
	f([]string{"help"}, "")
	f([]string{"-h"}, "")
	if _, _, err := choose([]string{"other"}); !errors.As(err, new(usageError)) {
		t.Errorf(`choose("other") = %v, want a usage error`, err)
	}
}

func TestReport(t *testing.T) {
	f := func(err error, code int, text string) {
		t.Helper()
		var b bytes.Buffer
		if got := report(err, &b); got != code || b.String() != text {
			t.Errorf("report(%v) = %d %q, want %d %q", err, got, b.String(), code, text)
		}
	}
	f(nil, exitOK, "")
	f(flag.ErrHelp, exitOK, "")
	f(quietError{}, exitError, "")
	f(usageError{"odd"}, exitUsage, "preface: odd\n")
	f(errors.New("broken"), exitError, "preface: broken\n")
}

// Commands that are printed can be pasted, under whatever name the program is.
func TestAsCalled(t *testing.T) {
	old := os.Args[0]
	defer func() { os.Args[0] = old }()
	os.Args[0] = "/usr/local/bin/preface"
	if got, want := asCalled("proxy log ls\na proxy\nproxy demo"), "preface log ls\na proxy\npreface demo"; got != want {
		t.Errorf("asCalled = %q, want %q", got, want)
	}
}

func TestFlagsInAnyOrder(t *testing.T) {
	f := func(line string, n int, words ...string) {
		t.Helper()
		fs := newFlags("proxy x [flags]", "", "")
		got := fs.Int("n", 0, "")
		rest, err := fs.parse(strings.Fields(line), io.Discard)
		if err != nil || *got != n || !slices.Equal(rest, words) {
			t.Errorf("parse(%q) = %d %q, %v, want %d %q", line, *got, rest, err, n, words)
		}
	}
	f("", 0)
	f("-n 1", 1)
	f("a", 0, "a")
	f("a -n 1 b", 1, "a", "b")
	f("-n 1 a b -n 2", 2, "a", "b")
	f("-n 1 -- -n 2", 1, "-n", "2")
	f("a -- -n", 0, "a", "-n")
	fs := newFlags("proxy x [flags]", "", "")
	if _, err := fs.parse([]string{"-y"}, io.Discard); err == nil || err.Error() != "flag provided but not defined: -y; "+asCalled("proxy x -h")+" lists what there is" {
		t.Errorf("parse of an unknown flag = %v", err)
	}
}
