package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A server answers as a provider does, and counts.
type server struct {
	*httptest.Server
	requests atomic.Int64
	order    *order
}

// An order notes which server got requests, once for each turn.
type order struct {
	mu    sync.Mutex
	turns []string
}

func (o *order) note(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.turns) == 0 || o.turns[len(o.turns)-1] != name {
		o.turns = append(o.turns, name)
	}
}

func startServer(t *testing.T, name string, o *order, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{order: o}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if o != nil {
			o.note(name)
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// whole answers as asked for, in any format.
func whole(w http.ResponseWriter, r *http.Request) {
	var body struct{ Stream bool }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !body.Stream {
		io.WriteString(w, `{"ok":true}`)
		return
	}
	for _, f := range formats {
		fmt.Fprintf(w, "%s\n\n", f.end)
		w.(http.Flusher).Flush()
	}
}

// brief are options that measure next to nothing.
func brief(upstream, proxy string) Options {
	return Options{Upstream: upstream, Proxy: proxy, Rounds: 2, Duration: 20 * time.Millisecond, Connections: 2, Rate: 200, Key: "sk-secret-of-the-user"}
}

func TestRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for format := range formats {
		upstream, proxy := startServer(t, "upstream", nil, whole), startServer(t, "proxy", nil, whole)
		opt := brief(upstream.URL, proxy.URL+"/v1/")
		opt.Format, opt.PID = format, os.Getpid()
		var told []int
		opt.Tell = func(done, all int) { told = append(told, done, all) }
		if _, err := os.Stat("/proc/self/stat"); err != nil {
			opt.PID = 0
		}
		r, err := Run(t.Context(), opt)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if len(r.Scenarios) != 3 || r.Failed() != 0 {
			t.Errorf("%s: %d loads, %d failed: %+v", format, len(r.Scenarios), r.Failed(), r.Scenarios)
		}
		for _, s := range r.Scenarios {
			if s.Direct.Requests == 0 || s.Proxy.Requests == 0 || s.Proxy.P50 <= 0 || s.Proxy.First <= 0 || s.Proxy.First > s.Proxy.P99 {
				t.Errorf("%s: %+v", format, s)
			}
			if (s.CPU != nil) != (opt.PID != 0) {
				t.Errorf("%s: CPU %v with pid %d", format, s.CPU, opt.PID)
			}
		}
		if open := r.Scenarios[1]; open.Direct.Requests != 8 || open.Proxy.Requests != 8 { // 2 rounds of 20 ms at 200/s
			t.Errorf("%s: the open load sent %d and %d requests, want 8", format, open.Direct.Requests, open.Proxy.Requests)
		}
		if len(told) != 24 || told[22] != 11 || told[23] != 12 {
			t.Errorf("%s: progress was told as %v", format, told)
		}
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil || strings.Count(text.String(), "added:") != 3 {
			t.Errorf("WriteText: %v\n%s", err, text.String())
		}
		upstream.Close()
		proxy.Close()
	}
}

// TestRunTakesTurns: each load is measured on both sides in every round, and who
// is first changes.
func TestRunTakesTurns(t *testing.T) {
	var o order
	upstream, proxy := startServer(t, "u", &o, whole), startServer(t, "p", &o, whole)
	opt := brief(upstream.URL, proxy.URL)
	opt.Rounds, opt.Scenarios = 3, []string{"closed"}
	if _, err := Run(t.Context(), opt); err != nil {
		t.Fatal(err)
	}
	// Probes up, warm-up up, rounds up, pu, up; the middle ones run together.
	if got := strings.Join(o.turns, ""); got != "upupupup" {
		t.Errorf("turns were %s, want upupupup", got)
	}
}

// TestInvariant3_NoCredentialIsTold: a server repeats what it was sent.
func TestInvariant3_NoCredentialIsTold(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		pad := strings.Repeat("x", 190) // so that cutting the answer cuts the key
		fmt.Fprintf(w, "%s%s %s %s", pad, r.Header.Get("x-api-key"), r.Header.Get("authorization"), r.Header.Get("x-more"))
	}
	s := startServer(t, "", nil, echo)
	for format := range formats {
		opt := brief(s.URL, s.URL)
		opt.Format, opt.Headers = format, []string{"x-more: another-secret"}
		_, err := Run(t.Context(), opt)
		if err == nil || !strings.Contains(err.Error(), "cannot measure the upstream at "+s.URL) || !strings.Contains(err.Error(), "status 401") {
			t.Errorf("%s: error is %v", format, err)
		}
		for _, secret := range []string{"sk-sec", "another-s"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error repeats a credential: %v", format, err)
			}
		}
	}
	opt := brief("http://user:pass-word@127.0.0.1:1", s.URL)
	if _, err := Run(t.Context(), opt); err == nil || strings.Contains(err.Error(), "pass-word") {
		t.Errorf("a URL with a password: error is %v", err)
	}
}

// TestInvariant4_CutStreamsFail: a stream without its end is no answer.
func TestInvariant4_CutStreamsFail(t *testing.T) {
	good := startServer(t, "", nil, whole)
	var n atomic.Int64
	cut := startServer(t, "", nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"stream":true`)) && n.Add(1)%2 == 0 {
			io.WriteString(w, "event: message_start\n\n")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		whole(w, r)
	})
	opt := brief(good.URL, cut.URL)
	opt.Scenarios = []string{"stream"}
	r, err := Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Scenarios[0]; s.Direct.Failed != 0 || s.Proxy.Failed == 0 || s.Proxy.Error != `a stream ended without "event: message_stop"` {
		t.Errorf("direct %+v, proxy %+v", s.Direct, s.Proxy)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "requests failed, the first with: a stream ended without") {
		t.Errorf("WriteText: %v\n%s", err, text.String())
	}
}

// TestInvariant2_EndsWithItsContext: also while a server is silent.
func TestInvariant2_EndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	good := startServer(t, "", nil, whole)
	ctx, cancel := context.WithCancel(t.Context())
	var n atomic.Int64
	silent := startServer(t, "", nil, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 { // the probe
			whole(w, r)
			return
		}
		io.Copy(io.Discard, r.Body) // so that a client that leaves is noticed
		cancel()
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
			t.Error("the connection is still there after the context ended")
		}
	})
	opt := brief(good.URL, silent.URL)
	opt.Timeout = time.Minute
	_, err := Run(ctx, opt)
	if err == nil || !strings.Contains(err.Error(), "stopped before the end, so there is no result: context canceled") {
		t.Errorf("error is %v", err)
	}
	good.Close()
	silent.Close()
}

// TestRunWaitsForListeners: a target that was started in the line before is
// waited for.
func TestRunWaitsForListeners(t *testing.T) {
	upstream := startServer(t, "", nil, whole)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	var late *httptest.Server
	upstream.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if late == nil { // the probe, which is alone
			late = &httptest.Server{Config: &http.Server{Handler: http.HandlerFunc(whole)}}
			time.AfterFunc(100*time.Millisecond, func() {
				if again, err := net.Listen("tcp", l.Addr().String()); err == nil {
					late.Listener = again
					late.Start()
				}
			})
		}
		whole(w, r)
	})
	opt := brief(upstream.URL, "http://"+l.Addr().String())
	opt.Scenarios = []string{"closed"}
	if _, err := Run(t.Context(), opt); err != nil {
		t.Errorf("Run: %v", err)
	}
	late.Close()
}

func TestRunRefuses(t *testing.T) {
	s := startServer(t, "", nil, whole)
	for _, test := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Format = "gemini" }, `unknown format "gemini": known are anthropic, chat, responses`},
		{func(o *Options) { o.Scenarios = []string{"all"} }, `unknown load "all": known are closed, open, stream`},
		{func(o *Options) { o.Rounds = -1 }, "-1 rounds: want 1 to 100"},
		{func(o *Options) { o.Duration = time.Hour }, "measurements of 1h0m0s: want at most 1m0s"},
		{func(o *Options) { o.Connections = 2000 }, "2000 connections: want 1 to 1000"},
		{func(o *Options) { o.Rate = -1 }, "-1 requests per second: want more than 0, at most 100000"},
		{func(o *Options) { o.Size = -1 }, "bodies of -1 bytes: want 1 to 16777216"},
		{func(o *Options) { o.Headers = []string{"secret"} }, `a header is no "name: value"`},
		{func(o *Options) { o.Upstream = "https://api.example.com" }, "api.example.com is not on this machine"},
		{func(o *Options) { o.Upstream = "localhost:9000" }, `want http://HOST:PORT`},
		{func(o *Options) { o.Proxy = "http://127.0.0.1:1" }, "cannot measure the proxy at http://127.0.0.1:1/v1/messages: "},
		{func(o *Options) { o.PID = 1 << 30 }, ""},
	} {
		o := brief(s.URL, s.URL)
		test.change(&o)
		if r, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Run(%+v) = %v, %v; want an error with %q", o, r, err, test.want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	f := func(format, base, want string) {
		t.Helper()
		u, err := Options{Format: format, Remote: true}.endpoint(base)
		if err != nil || u.String() != want {
			t.Errorf("endpoint(%q) of %s = %v, %v; want %s", base, format, u, err, want)
		}
	}
	f("anthropic", "http://127.0.0.1:9000", "http://127.0.0.1:9000/v1/messages")
	f("anthropic", "http://127.0.0.1:9000/s/team?key=1#x", "http://127.0.0.1:9000/s/team/v1/messages")
	f("chat", "https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions")
	f("responses", "http://[::1]:8787/v1/responses", "http://[::1]:8787/v1/responses")
}

func TestRequestSize(t *testing.T) {
	for name, f := range formats {
		for _, size := range []int{1, 300, 2000, 100_000} {
			body := f.request("m", size, true)
			if !json.Valid(body) || len(body) != max(size, len(f.request("m", 1, true))) {
				t.Errorf("%s: a body of %d bytes has %d, valid: %v", name, size, len(body), json.Valid(body))
			}
		}
	}
}
