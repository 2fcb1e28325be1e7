package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"proxy": main})
}

// TestScripts runs testdata/*.txtar: each is the program in a folder of its own,
// on free loopback ports. Beside the commands of testscript there are
//
//	provider                   start a simulated provider; sets $UPSTREAM
//	fault SPEC                 what goes wrong there from now on
//	serve [NAME=VALUE] [args]  start "proxy serve" on free ports; sets $AGENTS, $OPERATORS
//	refused [args]             run "proxy serve", which must end by itself with exit code 1
//	signal HUP|TERM            signal it
//	await PATTERN              wait until it has logged a line that matches
//	halt                       end it and require exit code 0; its output is stdout, stderr
//	request [NAME=VALUE]… PATH FILE  POST a file to it; prints status, x-preface headers, body
//	operate METHOD PATH [NAME=VALUE]…  ask its operators' listener; prints status and body
//	until PATTERN prog [args]  run prog again and again until its stdout matches
//	follow PATTERN prog [args] start prog; returns when its output matches
//	followed PATTERN           wait until that output matches, and end it; prints all of it
//	stream [NAME=VALUE]… PATH FILE  post a file; returns when the answer has begun
//	[!] finished PATTERN       that answer ends cleanly and matches; with ! it is cut
//	sent PATTERN               the body that the provider got last matches
//	occupy                     listen on a port; sets $TAKEN
//	lock FILE                  hold the write lock of a log
//	patch FILE OFFSET HEX      overwrite bytes of a file
//	append FILE TEXT           add a line to a file
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			e.Values[stageKey{}] = &stage{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"provider": startProvider, "fault": setFault, "serve": startServe, "refused": serveRefused, "signal": sendSignal, "await": awaitLine,
			"halt": haltServe, "request": request, "operate": operate, "until": until, "follow": follow, "followed": followed, "sent": sent,
			"stream": startStream, "finished": finished, "append": appendTo, "patch": patch, "lock": lock, "occupy": occupy,
		},
	})
}

var update = flag.Bool("update", false, "rewrite the expected output in testdata/*.txtar")

// condition adds [root]: the tests run as root, who may write every file.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Getuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// patience bounds every wait for another process. It is far above what any of
// them takes, so it decides nothing but how long a broken test runs.
const patience = 30 * time.Second

type stageKey struct{}

// A stage is what a script has started.
type stage struct {
	provider *provider.Provider
	proxy    *process
	stream   *stream
	followed *process
}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

func require(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func startProvider(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 0, "provider")
	p := provider.New(provider.Options{})
	ts.Check(p.Start("127.0.0.1:0"))
	ts.Defer(func() { ts.Check(p.Close()) })
	stageOf(ts).provider = p
	ts.Setenv("UPSTREAM", p.URL())
}

func setFault(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 1, "fault SPEC")
	f, err := provider.ParseFault(args[0])
	ts.Check(err)
	stageOf(ts).provider.SetFault(f)
}

func sent(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, len(args) == 1, "[!] sent PATTERN")
	all := stageOf(ts).provider.Received()
	if len(all) == 0 {
		ts.Fatalf("the provider got no request")
	}
	body := all[len(all)-1].Body
	if regexp.MustCompile(args[0]).Match(body) == neg {
		ts.Fatalf("the provider got %s", body)
	}
}

func startServe(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg, "serve [NAME=VALUE]... [args]")
	p := serveProcess(ts, args)
	line := p.await(ts, &p.stdout, regexp.MustCompile(`(?m)^preface .*`))
	places := regexp.MustCompile(`agents (\S+), operators (\S+),`).FindStringSubmatch(line)
	if places == nil {
		ts.Fatalf("cannot read the start line %q", line)
	}
	ts.Setenv("AGENTS", places[1])
	ts.Setenv("OPERATORS", places[2])
	stageOf(ts).proxy = p
}

// serveProcess starts "proxy serve", on free ports unless args choose others.
func serveProcess(ts *testscript.TestScript, args []string) *process {
	vars, args := assignments(args)
	for _, f := range []string{"-listen", "-admin"} {
		if !slices.Contains(args, f) {
			args = append(args, f, "127.0.0.1:0")
		}
	}
	return startProcess(ts, vars, "proxy", append([]string{"serve"}, args...)...)
}

func serveRefused(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg, "refused [args]")
	p := serveProcess(ts, args)
	err := p.wait()
	fmt.Fprint(ts.Stdout(), p.stdout.String())
	fmt.Fprint(ts.Stderr(), p.stderr.String())
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitError {
		ts.Fatalf("proxy serve ended with %v, want exit code %d; stderr:\n%s", err, exitError, p.stderr.String())
	}
}

// assignments takes NAME=VALUE words off the front.
func assignments(args []string) (vars, rest []string) {
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && strings.Contains(args[0], "=") {
		vars, args = append(vars, args[0]), args[1:]
	}
	return vars, args
}

func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	known := map[string]os.Signal{"HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM}
	require(ts, !neg && len(args) == 1 && known[args[0]] != nil, "signal HUP|TERM")
	p := stageOf(ts).proxy
	p.told = p.told || args[0] == "TERM"
	ts.Check(p.cmd.Process.Signal(known[args[0]]))
}

func awaitLine(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 1, "await PATTERN")
	p := stageOf(ts).proxy
	p.await(ts, &p.stderr, regexp.MustCompile(`(?m)`+args[0]))
}

func haltServe(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, len(args) == 0, "[!] halt")
	p := stageOf(ts).proxy
	if !p.told { // a second signal would cut it
		ts.Check(p.cmd.Process.Signal(syscall.SIGTERM))
	}
	err := p.wait()
	fmt.Fprint(ts.Stdout(), p.stdout.String())
	fmt.Fprint(ts.Stderr(), p.stderr.String())
	if (err != nil) != neg {
		ts.Fatalf("proxy serve ended with %v; stderr:\n%s", err, p.stderr.String())
	}
}

func request(ts *testscript.TestScript, neg bool, args []string) {
	vars, args := assignments(args)
	require(ts, !neg && len(args) == 2, "request [NAME=VALUE]... PATH FILE")
	r, err := http.NewRequest("POST", ts.Getenv("AGENTS")+args[0], strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	r.Header.Set("content-type", "application/json")
	r.Header.Set("x-api-key", "sk-test-1")
	ask(ts, r, vars, func(h http.Header) {
		for _, name := range []string{"X-Preface-Session", "X-Preface-Epoch", "X-Preface-Prefix"} {
			fmt.Fprintf(ts.Stdout(), "%s: %s\n", strings.ToLower(name), h.Get(name))
		}
	})
}

func operate(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) >= 2, "operate METHOD PATH [NAME=VALUE]...")
	r, err := http.NewRequest(args[0], ts.Getenv("OPERATORS")+args[1], nil)
	ts.Check(err)
	ask(ts, r, args[2:], func(http.Header) {})
}

// ask prints the status, what show prints of the headers, and the body.
func ask(ts *testscript.TestScript, r *http.Request, headers []string, show func(http.Header)) {
	for _, h := range headers {
		name, value, _ := strings.Cut(h, "=")
		r.Header.Set(name, value)
		if strings.EqualFold(name, "host") {
			r.Host = value
		}
	}
	c := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), "status", resp.StatusCode)
	show(resp.Header)
	fmt.Fprintf(ts.Stdout(), "%s\n", body)
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) >= 2, "until PATTERN prog [args]")
	want := regexp.MustCompile(`(?m)` + args[0])
	end := time.Now().Add(patience)
	for {
		_ = ts.Exec(args[1], args[2:]...) // what it prints decides
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%q never matched what %s prints", args[0], args[1])
		}
	}
}

func follow(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) >= 2, "follow PATTERN prog [args]")
	p := startProcess(ts, nil, args[1], args[2:]...)
	p.await(ts, &p.stdout, regexp.MustCompile(`(?m)`+args[0]))
	stageOf(ts).followed = p
}

func followed(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 1, "followed PATTERN")
	p := stageOf(ts).followed
	p.await(ts, &p.stdout, regexp.MustCompile(`(?m)`+args[0]))
	ts.Check(p.cmd.Process.Signal(os.Interrupt))
	ts.Check(p.wait())
	fmt.Fprint(ts.Stdout(), p.stdout.String())
}
