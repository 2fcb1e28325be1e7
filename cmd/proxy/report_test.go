package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/account"
	"github.com/seed-9236c7ca/preface/logsink"
)

// An interrupted report leaves the file of the last one as it was, and nothing
// beside it.
func TestInterruptedReportLeavesTheFile(t *testing.T) {
	dir := t.TempDir()
	log, err := logsink.Open(t.Context(), logsink.Config{Path: filepath.Join(dir, "preface.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	name, victim := filepath.Join(dir, "r.md"), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(name, []byte("the last one"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := reportFlags{options: options{log: filepath.Join(dir, "preface.db")}, out: name}
	for _, c := range []struct {
		when   string
		cancel bool
		want   string
	}{
		{"interrupted", true, "the last one"},
		{"whole", false, "# Preface: what the prompt cache did"},
	} {
		lurking := filepath.Join(dir, ".r.md."+strconv.Itoa(os.Getpid())+".new")
		if err := os.Symlink(victim, lurking); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var none bytes.Buffer
		write := reportFormats["md"]
		if c.cancel {
			cancel() // a signal that comes before the file is whole
		}
		err := f.run(ctx, account.Options{Until: time.Now()}, write, &none, &none)
		cancel()
		if (err != nil) != c.cancel || c.cancel && !strings.HasPrefix(err.Error(), "interrupted: ") {
			t.Errorf("%s: run = %v", c.when, err)
		}
		if b, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(b), c.want) {
			t.Errorf("%s: the file begins with %.40q, %v; want %q", c.when, b, err, c.want)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is not what it was: %v, %v", info.Mode(), err)
	}
	if !none(t, victim) {
		t.Error("the report was written through a link that lay in wait")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 || none(t, name) {
		t.Errorf("it left %v, %v", left, err)
	}
}

// none reports whether a file is not there.
func none(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Stat(name)
	return err != nil
}

// A command can be pasted into a shell, whatever the session is called, and has
// no character that means anything in Markdown.
func TestQuoted(t *testing.T) {
	bash, _ := exec.LookPath("bash")
	for word, want := range map[string]string{
		"s-1":             "s-1",
		"5e55:a/b@c":      "5e55:a/b@c",
		"":                "''",
		"a b":             "'a b'",
		"it's":            `$'it\x27s'`,
		"a|`b`\x1b[<\n\\": `$'a\x7c\x60b\x60\x1b\x5b\x3c\x0a\x5c'`,
		"$(reboot)":       `$'\x24\x28reboot\x29'`,
		"é":               `$'\xc3\xa9'`,
		"x\x01f":          `$'x\x01f'`,
	} {
		got := quoted(word)
		if got != want {
			t.Errorf("quoted(%q) = %s, want %s", word, got, want)
		}
		if bash == "" {
			continue
		}
		said, err := exec.Command(bash, "-c", "printf %s "+got).Output()
		if err != nil || string(said) != word {
			t.Errorf("a shell reads %s as %q, %v; want %q", got, said, err, word)
		}
	}
}

func TestExplainCommand(t *testing.T) {
	f := reportFlags{options: options{config: "a b.yaml", log: "x.db"}}
	want := asCalled("proxy explain -config 'a b.yaml' -log x.db -tenant 0123456789ab -- -s")
	if got := f.explainCommand(logsink.Key{Tenant: "0123456789abcdef", Session: "-s"}); got != want {
		t.Errorf("explainCommand = %s, want %s", got, want)
	}
}

func TestSpan(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 5, time.UTC)
	f := func(since, until, from, to string) {
		t.Helper()
		a, b, err := span(newFlags("proxy report", "", ""), since, until, now)
		if err != nil || a.Format(time.RFC3339) != from || b.Format(time.RFC3339) != to {
			t.Errorf("span(%q, %q) = %v to %v, %v; want %s to %s", since, until, a, b, err, from, to)
		}
	}
	f("7d", "", "2026-11-23T12:00:00Z", "2026-11-30T12:00:00Z")
	f("90m", "", "2026-11-30T10:30:00Z", "2026-11-30T12:00:00Z")
	f("24h", "1w", "2026-11-22T12:00:00Z", "2026-11-23T12:00:00Z")
	f("2026-11-01", "2026-11-01", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")
	f("1d", "2026-11-29T08:00:00+02:00", "2026-11-28T06:00:00Z", "2026-11-29T06:00:00Z")
	bad := func(since, until string) {
		t.Helper()
		if a, b, err := span(newFlags("proxy report", "", ""), since, until, now); err == nil {
			t.Errorf("span(%q, %q) = %v to %v, want an error", since, until, a, b)
		}
	}
	for _, s := range []string{"", "0d", "-1d", "7", "7y", "d", "1.5d", "yesterday", "999999d", "65535w", "2026-02-30"} {
		bad(s, "")
	}
	bad("7d", "soon")
	bad("2026-12-01", "")
	bad("2026-11-30T12:00:00Z", "2026-11-30T12:00:00Z")
}
