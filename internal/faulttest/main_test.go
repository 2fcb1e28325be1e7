package faulttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the run if a process or a goroutine is left.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if workshop, err = os.MkdirTemp("", "preface-faults-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(workshop)
	code := m.Run()
	if left := running(); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "processes left running:", left)
		return 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// workshop is where binaries are built.
var workshop string

// Binaries are built at first use, once in a run.
var (
	plainBinary = sync.OnceValues(func() (string, error) { return build("proxy", "-tags", "failpoint") })
	racyBinary  = sync.OnceValues(func() (string, error) { return build("proxy-race", "-tags", "failpoint", "-race") })
)

// binary returns the program under test: without the race detector, which would
// take most of the time there is.
func binary(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("PREFACE_BINARY"); given != "" {
		return given
	}
	return built(t, plainBinary)
}

// watchedBinary returns the program with the race detector if this test has it.
func watchedBinary(t *testing.T) string {
	t.Helper()
	if !raceEnabled || os.Getenv("PREFACE_BINARY") != "" {
		return binary(t)
	}
	return built(t, racyBinary)
}

func built(t *testing.T, get func() (string, error)) string {
	t.Helper()
	path, err := get()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(name string, flags ...string) (string, error) {
	out := filepath.Join(workshop, name)
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.Command(goCommand(), append(args, "../../cmd/proxy")...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the program: %w\n%s", err, text)
	}
	return out, nil
}

// goCommand is the go command that runs this test, or the one in the PATH.
func goCommand() string {
	if path := filepath.Join(runtime.GOROOT(), "bin", "go"); fileExists(path) {
		return path
	}
	return "go"
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
