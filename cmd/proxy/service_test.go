package main

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/logsink"
)

// begin starts a service in a working directory of its own.
func begin(t *testing.T, o options) (*service, error) {
	t.Helper()
	for _, f := range []struct {
		flag  *string
		value string
	}{{&o.listen, "127.0.0.1:0"}, {&o.admin, "127.0.0.1:0"}} {
		if *f.flag == "" {
			*f.flag = f.value
		}
	}
	return start(t.Context(), o, mustLoad(t, o), slog.New(slog.DiscardHandler), new(slog.LevelVar))
}

// noLeak returns what finds goroutines that were begun since and are left, save
// one that fasthttp lets sleep for ten seconds before it sees that its server
// has stopped.
func noLeak(t *testing.T) func() {
	before := goleak.IgnoreCurrent()
	return func() {
		t.Helper()
		goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	c := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestI10_ServiceLeavesNothing(t *testing.T) {
	defer noLeak(t)()
	files(t, nil)
	for range 2 { // the second opens what the first made
		v, err := begin(t, options{})
		if err != nil {
			t.Fatal(err)
		}
		operators := "http://" + v.operators.Addr().String()
		if status, body := get(t, operators+"/readyz"); status != 200 {
			t.Errorf("GET /readyz = %d %q, want 200", status, body)
		}
		if err := v.close(t.Context()); err != nil {
			t.Errorf("close = %v", err)
		}
		for _, l := range []net.Listener{v.agents, v.operators} {
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				c.Close()
				t.Errorf("%s is still open after close", l.Addr())
			}
		}
	}
}

// Whichever part cannot be opened, those before it are closed again.
func TestI10_FailedStartLeavesNothing(t *testing.T) {
	defer noLeak(t)()
	files(t, nil)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, o := range map[string]options{
		"log":       {log: "none/preface.db"},
		"operators": {admin: taken.Addr().String()},
		"agents":    {listen: taken.Addr().String()},
	} {
		if v, err := begin(t, o); err == nil {
			t.Errorf("%s: start succeeded", name)
			_ = v.close(t.Context())
		}
		if name == "log" {
			continue
		}
		l, err := logsink.Open(t.Context(), logsink.Config{})
		if err != nil {
			t.Fatalf("%s: the log cannot be opened after a failed start: %v", name, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestI10_FailedServerLeavesNothing(t *testing.T) {
	defer noLeak(t)()
	files(t, nil)
	s := mustLoad(t, options{admin: "127.0.0.1:0"})
	s.Routes[0].Dialect = "none" // as no loaded one is
	if _, err := start(t.Context(), options{}, s, slog.New(slog.DiscardHandler), new(slog.LevelVar)); err == nil {
		t.Error("start succeeded with a dialect that is none")
	}
}

// A log that is down does not make the process unready, nor a stop fail.
func TestClosedLogStillStops(t *testing.T) {
	defer noLeak(t)()
	files(t, nil)
	v, err := begin(t, options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.logs.Close(); err != nil {
		t.Fatal(err)
	}
	if status, _ := get(t, "http://"+v.operators.Addr().String()+"/readyz"); status != 200 {
		t.Errorf("GET /readyz with the log down = %d, want 200", status)
	}
	if err := v.close(t.Context()); err != nil && !errors.Is(err, logsink.ErrUnavailable) {
		t.Errorf("close with the log down = %v", err)
	}
}

func TestI2_ReloadsAtOnceAreOrdered(t *testing.T) {
	defer noLeak(t)()
	files(t, map[string]string{"c.yaml": "contributors: [{kind: text, text: a}]\n"})
	v, err := begin(t, options{config: "c.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := v.reload(); err != nil {
				t.Errorf("reload = %v", err)
			}
		})
	}
	wg.Wait()
	if err := os.WriteFile("c.yaml", []byte("contributors: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := v.reload(); err == nil || !v.reloads.failed.Load() {
		t.Errorf("reload of a bad file = %v, gauge %v, want an error and the gauge", err, v.reloads.failed.Load())
	}
	if _, metrics := get(t, "http://"+v.operators.Addr().String()+"/metrics"); !strings.Contains(metrics, "preface_config_last_reload_successful 0") {
		t.Error("/metrics does not tell of the failed reload")
	}
	if err := v.close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNeedRestart(t *testing.T) {
	f := func(change func(*config), want string) {
		t.Helper()
		old, now := defaultConfig(), defaultConfig()
		change(&now)
		if got := strings.Join(needRestart(&old, &now), ","); got != want {
			t.Errorf("needRestart = %q, want %q", got, want)
		}
	}
	f(func(*config) {}, "")
	f(func(c *config) { c.Listen = "x"; c.Admin = "off" }, "listen,admin")
	f(func(c *config) { c.Log.Queue = 1 }, "log")
	f(func(c *config) { c.Timeouts.Drain = 1; c.Limits.Body = 1 }, "limits,timeouts")
	f(func(c *config) { c.Logging.Level = "debug"; c.Prefix.Closing = "x"; c.Usage.Request = "never" }, "")
}

func TestPortError(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if got := portError("listen", "h:1", err).Error(); got != want {
			t.Errorf("portError(%v) = %q, want %q", err, got, want)
		}
	}
	op := func(err error) error {
		return &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", err)}
	}
	f(op(syscall.EADDRINUSE), "cannot listen on h:1: the address is in use; end the program that has it, or choose another with -listen")
	f(op(syscall.EACCES), "cannot listen on h:1: this user may not; choose a port above 1023 with -listen")
	f(op(syscall.EADDRNOTAVAIL), "cannot listen on h:1: this machine has no such address; choose another with -listen")
	f(errors.New("odd"), `cannot listen on "h:1"; give HOST:PORT with -listen: odd`)
}
