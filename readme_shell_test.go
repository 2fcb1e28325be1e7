package preface

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is also curl, for machines without it: see standInForCurl.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "curl" {
		standInForCurl(os.Args[1:])
		return
	}
	os.Exit(inWorkshop(m))
}

func inWorkshop(m *testing.M) int {
	var err error
	if workshop, err = os.MkdirTemp("", "preface-readme-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(workshop)
	return m.Run()
}

// TestReadmeRuns does what the README says, in its order, in one shell in an
// empty folder: blocks marked "sh test" are run, blocks marked "yaml NAME" are
// written to that file, and the lines of a "text" block must be among what the
// block before it prints, in that order; … stands for anything.
func TestReadmeRuns(t *testing.T) {
	s := startShell(t)
	blocks := readBlocks(t, "README.md")
	for i, b := range blocks {
		name, isFile := strings.CutPrefix(b.info, "yaml ")
		switch {
		case isFile:
			s.write(name, b)
		case b.info == "sh test" && i+1 < len(blocks) && blocks[i+1].info == "text":
			s.until(b, blocks[i+1])
		case b.info == "sh test":
			s.run(b)
		}
	}
	s.end()
}

// A shell is bash in a folder of its own. Addresses in what it is told are
// replaced by free ones, which become known when a program says where it is.
type shell struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	said  []string // by the last block
	ports map[string]string
}

func startShell(t *testing.T) *shell {
	bin := t.TempDir()
	if err := os.Symlink(program(t), filepath.Join(bin, "preface")); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		self, err := os.Executable()
		if err == nil {
			err = os.Symlink(self, filepath.Join(bin, "curl"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cmd := exec.CommandContext(ctx, "bash", "-eu")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + cmd.Dir}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, cmd: cmd, in: in, lines: bufio.NewScanner(out), ports: map[string]string{}}
	t.Cleanup(func() { in.Close(); cancel(); _ = cmd.Wait() }) // after end it has ended
	s.say(`trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT`)
	return s
}

// run runs a block. A line that starts a program in the background is followed
// by waiting for it to say where it serves.
func (s *shell) run(b block) {
	s.t.Helper()
	s.said = nil
	for _, line := range b.text {
		s.say(s.placed(line))
		switch {
		case !strings.HasSuffix(line, " &"):
		case strings.HasPrefix(line, "preface provider"):
			s.ports["127.0.0.1:9000"] = s.await(b, `^provider at http://(\S+)$`)[1]
		default:
			at := s.await(b, `^preface .*: agents http://(\S+), operators http://(\S+),`)
			s.ports["127.0.0.1:8787"], s.ports["127.0.0.1:8788"] = at[1], at[2]
		}
	}
	s.say("echo '==== done'")
	s.await(b, `^==== done$`)
}

// placed returns a line of the README with addresses that can be had here.
func (s *shell) placed(line string) string {
	line = strings.Replace(line, "preface provider -listen 127.0.0.1:9000", "preface provider -listen 127.0.0.1:0", 1)
	line = strings.Replace(line, "preface serve", "preface serve -listen 127.0.0.1:0 -admin 127.0.0.1:0", 1)
	for was, is := range s.ports {
		line = strings.ReplaceAll(line, was, is)
	}
	return line
}

func (s *shell) say(line string) {
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Logf("cannot tell the shell %q: %v", line, err) // what it printed last says why
	}
}

// await reads what is printed up to a line that matches.
func (s *shell) await(b block, pattern string) []string {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	for s.lines.Scan() {
		if m := want.FindStringSubmatch(s.lines.Text()); m != nil {
			return m
		}
		s.said = append(s.said, s.lines.Text())
	}
	s.t.Fatalf("README.md:%d: a command failed, or %q was never printed:\n%s", b.line, pattern, strings.Join(s.said, "\n"))
	return nil
}

// until runs a block until it prints what is expected. What reads the log may
// have to be run again, since records come into it a moment after an answer.
func (s *shell) until(b, want block) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; {
		s.run(b)
		missing := want.missingIn(s.said)
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("README.md:%d: %q is not printed, or not behind the line before it, in\n%s", want.line, missing, strings.Join(s.said, "\n"))
		}
	}
}

// patience bounds how long a block that fails is run again. It is far above what
// any takes, so it decides nothing but how long a broken test runs.
const patience = 20 * time.Second

// missingIn returns the first line of the block that is not among those said
// behind where the one before it was found.
func (b block) missingIn(said []string) string {
	for _, want := range b.text {
		p := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$")
		at := slices.IndexFunc(said, p.MatchString)
		if at < 0 {
			return want
		}
		said = said[at+1:]
	}
	return ""
}

func (s *shell) write(name string, b block) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.cmd.Dir, name), []byte(strings.Join(b.text, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// end ends the shell and, by its trap, what it has started.
func (s *shell) end() {
	s.t.Helper()
	s.say("exit")
	for s.lines.Scan() {
		s.said = append(s.said, s.lines.Text())
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the shell ended with %v:\n%s", err, strings.Join(s.said, "\n"))
	}
}

// standInForCurl knows the options that the README uses. It speaks HTTP/1.0, in
// which an answer is a head and what follows it.
func standInForCurl(args []string) {
	method, address, head, lines, body := "GET", "", false, "", ""
	for ; len(args) > 0; args = args[1:] {
		switch args[0] {
		case "-s", "-si":
			head = args[0] == "-si"
		case "-H":
			lines += args[1] + "\r\n"
			args = args[1:]
		case "-d":
			method, body = "POST", args[1]
			args = args[1:]
		default:
			address = strings.TrimPrefix(args[0], "http://")
		}
	}
	host, path, _ := strings.Cut(address, "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(7)
	}
	fmt.Fprintf(conn, "%s /%s HTTP/1.0\r\nhost: %s\r\ncontent-length: %d\r\n%s\r\n%s", method, path, host, len(body), lines, body)
	answer, _ := io.ReadAll(conn) // what came is judged by what is in it
	if _, after, ok := strings.Cut(string(answer), "\r\n\r\n"); ok && !head {
		answer = []byte(after)
	}
	os.Stdout.Write(answer)
}

// program builds the program, once, as TestCrossCompiles does: so that a run of
// all tests compiles nothing twice. The race detector has its own tests.
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
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "./cmd/proxy") // links in half the time
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the program: %w\n%s", err, out)
	}
	return path, nil
})

// workshop is where the program is built.
var workshop string
