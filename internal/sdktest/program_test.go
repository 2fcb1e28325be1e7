package sdktest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the proxy's executable, built once for all tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(withProgram(m))
}

func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "preface-sdktest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "preface")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "./cmd/proxy")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build the program: %v\n%s", err, out)
		return 1
	}
	forgetSettings()
	return m.Run()
}

// forgetSettings removes what this machine's user has set up for the SDKs.
func forgetSettings() {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "OPENAI_") {
			os.Unsetenv(name)
		}
	}
}

var served = regexp.MustCompile(`agents (http://[^ ,]+)`)

// serve starts the proxy in an empty folder, in front of the upstream, and
// returns its address. When the test ends the proxy must end well, with a log
// that holds what it should.
func serve(t *testing.T, upstream string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	args = append([]string{"serve", "-listen", "127.0.0.1:0", "-admin", "off",
		"-upstream", "anthropic=" + upstream, "-upstream", "openai=" + upstream}, args...)
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	m := served.FindStringSubmatch(line)
	if m == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("the proxy said %q (%v); stderr:\n%s", line, err, &stderr)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the proxy ended with %v; stderr:\n%s", err, &stderr)
		}
		verify(t, dir)
	})
	return m[1]
}

// verify checks the log that a proxy left in a folder.
func verify(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(program, "log", "verify")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.HasSuffix(out, []byte(": ok\n")) {
		t.Errorf("log verify: %v, %s", err, out)
	}
}
