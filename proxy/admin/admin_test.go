package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// A shelf is a log of sessions that are given.
type shelf struct {
	logsink.Reader
	infos   []logsink.SessionInfo
	anchors map[logsink.Key][]*logsink.Anchor
	err     error
}

func (s *shelf) Sessions(_ context.Context, tenant, prefix string, f func(logsink.SessionInfo) bool) error {
	for _, i := range s.infos {
		if strings.HasPrefix(i.Tenant, tenant) && strings.HasPrefix(i.Session, prefix) && !f(i) {
			break
		}
	}
	return s.err
}

func (s *shelf) Anchors(_ context.Context, k logsink.Key) ([]*logsink.Anchor, error) {
	if s.err != nil {
		return nil, s.err
	}
	if a, ok := s.anchors[k]; ok {
		return a, nil
	}
	return nil, logsink.ErrNoSession
}

func deps() Deps {
	return Deps{
		Ready:   func() bool { return true },
		Reload:  func() error { return nil },
		Metrics: telemetry.New().Handler(),
		Log:     &shelf{},
		Host:    "127.0.0.1",
		Version: "v1", Loopback: true,
	}
}

type asked struct {
	method, target, host string
	header               http.Header
}

func ask(d Deps, q asked) *http.Response {
	r := httptest.NewRequest(q.method, q.target, nil)
	r.Host = "127.0.0.1:8788"
	if q.host != "" {
		r.Host = q.host
	}
	for n, v := range q.header {
		r.Header[n] = v
	}
	w := httptest.NewRecorder()
	New(d).ServeHTTP(w, r)
	return w.Result()
}

func get(d Deps, target string) (int, string) {
	resp := ask(d, asked{method: "GET", target: target})
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func TestProbes(t *testing.T) {
	d := deps()
	f := func(target string, status int, body string) {
		t.Helper()
		if s, b := get(d, target); s != status || b != body {
			t.Errorf("GET %s = %d %q, want %d %q", target, s, b, status, body)
		}
	}
	f("/healthz", 200, "ok\n")
	f("/readyz", 200, "ready\n")
	d.Ready = func() bool { return false }
	f("/healthz", 200, "ok\n")
	f("/readyz", 503, "draining\n")
	// Neither asks the log.
	d = deps()
	d.Log = &shelf{err: logsink.ErrUnavailable}
	f("/healthz", 200, "ok\n")
	f("/readyz", 200, "ready\n")
}

func TestIndexNamesEveryPage(t *testing.T) {
	status, body := get(deps(), "/")
	for _, want := range []string{"v1", "/healthz", "/readyz", "/metrics", "/sessions", "/-/reload"} {
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("GET / = %d %q, want %s in it", status, body, want)
		}
	}
	if status, _ := get(deps(), "/nothing"); status != 404 {
		t.Errorf("GET /nothing = %d, want 404", status)
	}
}

func TestMetrics(t *testing.T) {
	if status, body := get(deps(), "/metrics"); status != 200 || !strings.Contains(body, "preface_panics_total 0") {
		t.Errorf("GET /metrics = %d %q, want our counters", status, body)
	}
}

func TestReload(t *testing.T) {
	d := deps()
	calls := 0
	d.Reload = func() error { calls++; return nil }
	if resp := ask(d, asked{method: "POST", target: "/-/reload"}); resp.StatusCode != 200 || calls != 1 {
		t.Errorf("POST /-/reload = %d after %d calls, want 200 after 1", resp.StatusCode, calls)
	}
	if status, _ := get(d, "/-/reload"); status != http.StatusMethodNotAllowed || calls != 1 {
		t.Errorf("GET /-/reload = %d after %d calls, want 405 and no call", status, calls)
	}
	d.Reload = func() error { return errors.New("f.yaml:3:1: unknown key\n   3 | key: sk-1\n       ^") }
	resp := ask(d, asked{method: "POST", target: "/-/reload"})
	b, _ := io.ReadAll(resp.Body)
	want := "not reloaded, the old configuration stays: f.yaml:3:1: unknown key\n"
	if resp.StatusCode != 422 || string(b) != want {
		t.Errorf("POST /-/reload with a bad file = %d %q, want 422 %q", resp.StatusCode, b, want)
	}
}

func TestInvariant1_HostNamesUs(t *testing.T) {
	f := func(configured, host string, want int) {
		t.Helper()
		d := deps()
		d.Host = configured
		if resp := ask(d, asked{method: "GET", target: "/healthz", host: host}); resp.StatusCode != want {
			t.Errorf("Host %q on a listener at %q = %d, want %d", host, configured, resp.StatusCode, want)
		}
	}
	f("127.0.0.1", "127.0.0.1:8788", 200)
	f("127.0.0.1", "localhost:8788", 200)
	f("127.0.0.1", "LOCALHOST", 200)
	f("127.0.0.1", "[::1]:8788", 200)
	f("", "10.0.0.7:8788", 200)
	f("ops.internal", "ops.internal:8788", 200)
	f("127.0.0.1", "evil.example:8788", 421)
	f("127.0.0.1", "127.0.0.1.evil.example", 421)
	f("127.0.0.1", "localhost.evil.example:8788", 421)
	f("", "evil.example", 421)
	f("ops.internal", "evil.example", 421)
}

func TestInvariant1_NoPageOfAnotherOriginReloads(t *testing.T) {
	d := deps()
	d.Reload = func() error { t.Error("reloaded for a page of another origin"); return nil }
	for name, h := range map[string]http.Header{
		"fetch metadata": {"Sec-Fetch-Site": {"cross-site"}},
		"origin":         {"Origin": {"https://evil.example"}},
	} {
		resp := ask(d, asked{method: "POST", target: "/-/reload", header: h})
		if resp.StatusCode != 403 || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: POST /-/reload = %d %v, want 403 and no CORS", name, resp.StatusCode, resp.Header)
		}
	}
}

func info(tenant, session string) logsink.SessionInfo {
	return logsink.SessionInfo{Key: logsink.Key{Tenant: tenant, Session: session}, Epochs: 1, Decision: "inject", Since: time.Unix(1, 0).UTC()}
}

func TestSessions(t *testing.T) {
	d := deps()
	d.Log = &shelf{infos: []logsink.SessionInfo{info("t1", "b"), info("t2", "b"), info("t1", "a/1")}}
	f := func(query string, more bool, want ...string) {
		t.Helper()
		status, body := get(d, "/sessions"+query)
		var l listing
		if err := json.Unmarshal([]byte(body), &l); err != nil || status != 200 {
			t.Fatalf("GET /sessions%s = %d %q: %v", query, status, body, err)
		}
		got := []string{}
		for _, s := range l.Sessions {
			got = append(got, s.Tenant+" "+s.Session)
		}
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" || l.More != more {
			t.Errorf("GET /sessions%s: more %v, want %v (-want +got):\n%s", query, l.More, more, diff)
		}
	}
	f("", false, "t1 b", "t2 b", "t1 a/1")
	f("?tenant=t1", false, "t1 b", "t1 a/1")
	f("?prefix=a", false, "t1 a/1")
	f("?n=2", true, "t1 b", "t2 b")
	f("?n=3", false, "t1 b", "t2 b", "t1 a/1")
	f("?tenant=none", false)
	for _, n := range []string{"0", "x", "-1", "10001"} {
		if status, _ := get(d, "/sessions?n="+n); status != 400 {
			t.Errorf("GET /sessions?n=%s = %d, want 400", n, status)
		}
	}
}

func TestSessionInDetail(t *testing.T) {
	k := logsink.Key{Tenant: "t1", Session: "a/1 ?"}
	a := &logsink.Anchor{V: 1, Key: k, Epoch: 1, Decision: "inject", Messages: []logsink.Message{{Role: "user", Text: "<hi>"}}}
	d := deps()
	d.Log = &shelf{anchors: map[logsink.Key][]*logsink.Anchor{k: {a}}}
	status, body := get(d, "/sessions/t1/a%2F1%20%3F")
	var got detail
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("GET of a session = %d %q: %v", status, body, err)
	}
	if diff := cmp.Diff(detail{k, []*logsink.Anchor{a}}, got); diff != "" {
		t.Errorf("the session differs (-want +got):\n%s", diff)
	}
	// Another tenant's session of that name is another session.
	if status, _ := get(d, "/sessions/t2/a%2F1%20%3F"); status != 404 {
		t.Errorf("GET of another tenant's session = %d, want 404", status)
	}
}

func TestLogDown(t *testing.T) {
	d := deps()
	d.Log = &shelf{err: logsink.ErrUnavailable}
	for _, target := range []string{"/sessions", "/sessions/t/s"} {
		if status, body := get(d, target); status != 503 || !strings.Contains(body, "header log unavailable") {
			t.Errorf("GET %s = %d %q, want 503 and why", target, status, body)
		}
	}
}
