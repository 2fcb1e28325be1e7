// Package configs holds no code: its tests check the example files against the
// program, and against the tools that read them where these are installed.
package configs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/proxy"
)

// workshop is where the program is built.
var workshop string

func TestMain(m *testing.M) {
	os.Exit(inWorkshop(m))
}

func inWorkshop(m *testing.M) int {
	dir, err := os.MkdirTemp("", "preface-configs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	workshop = dir
	return m.Run()
}

// program builds the program, once. What is tested here is what it makes of
// files; the race detector has its own tests.
func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(workshop, "preface")
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "../cmd/proxy")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the program: %w\n%s", err, out)
	}
	return path, nil
})

// checkCommand checks that the program has a command and its flags.
func checkCommand(t *testing.T, file string, words []string) {
	t.Helper()
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		t.Errorf("%s: the command line %q names no command of the program", file, words)
		return
	}
	help, err := exec.Command(program(t), words[0], "-h").CombinedOutput()
	if err != nil {
		t.Errorf("%s: the program has no command %q: %v\n%s", file, words[0], err, help)
		return
	}
	for _, w := range words[1:] {
		name, _, _ := strings.Cut(w, "=")
		if (strings.HasPrefix(w, "-") || words[0] == "log") && !strings.Contains(string(help), "\n  "+name+" ") {
			t.Errorf("%s: the command %s has no %s", file, words[0], name)
		}
	}
}

// closing bounds what a stop takes beyond timeouts.drain: 5 s for answers that
// were cut to be over, then at most 10 s for each of the six parts of serve.
const closing = 65 * time.Second

// defaults are the settings of a file that says nothing.
func defaults() proxy.Config {
	var c proxy.Config
	c.SetDefaults()
	return c
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
