package admin

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// samplePages serves the sample on loopback.
func samplePages(t testing.TB) (string, *Overview) {
	o, r := fillSample(t)
	return served(t, Deps{
		Ready: func() bool { return true }, Reload: func() error { return nil }, Metrics: telemetry.New().Handler(),
		Log: r, Overview: o, Version: "v0.4.0", Loopback: true,
	}), o
}

func served(t testing.TB, d Deps) string {
	srv := httptest.NewServer(New(d))
	t.Cleanup(func() {
		d.Overview.Close() // a stream of events would hold the server up
		srv.Close()
	})
	return srv.URL
}

// browse gets a page as a browser does.
func browse(t testing.TB, at string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

var linkPattern = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// TestLinksLeadSomewhere follows every link of every page, without a script, and
// every page says the same as JSON.
func TestLinksLeadSomewhere(t *testing.T) {
	at, _ := samplePages(t)
	seen := map[string]bool{"/": true}
	kinds := map[string]int{}
	for todo := []string{"/"}; len(todo) > 0; todo = todo[1:] {
		target := todo[0]
		kind, _, _ := strings.Cut(target, "?")
		if kinds[kind]++; kinds[kind] > 12 { // there are hundreds that differ in their numbers alone
			continue
		}
		status, header, body := browse(t, at+target)
		if status != 200 {
			t.Errorf("GET %s = %d, want 200", target, status)
		}
		if !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			continue
		}
		if strings.Contains(body, "style=") || regexp.MustCompile(`\son[a-z]+="`).MatchString(body) || regexp.MustCompile(`<(script|style)>`).MatchString(body) {
			t.Errorf("%s has a style or a script in it, which the policy forbids", target)
		}
		for _, m := range linkPattern.FindAllStringSubmatch(body, -1) {
			link := html.UnescapeString(m[1])
			if !strings.HasPrefix(link, "/") {
				if !strings.HasPrefix(link, "#") {
					t.Errorf("%s leads to %q, which is not ours", target, link)
				}
				continue
			}
			if !seen[link] && link != eventsPath && link != "/prefix" && link != "/logout" && link != "/login" {
				seen[link] = true
				todo = append(todo, link)
			}
		}
	}
	for _, kind := range []string{"/", "/sessions", "/session", "/request", "/header", "/prefixes", "/prefix", "/alarms", "/api/", "/api/session", "/api/request", "/api/overview", "/api/sessions", "/api/prefixes", "/api/prefix", "/api/alarms"} {
		if kinds[kind] == 0 {
			t.Errorf("no page leads to %s; there are %v", kind, kinds)
		}
	}
}

func TestPagesSayWhatTheLogHas(t *testing.T) {
	at, _ := samplePages(t)
	f := func(target string, want ...string) {
		t.Helper()
		status, _, body := browse(t, at+target)
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, ""))
		for _, w := range want {
			if status != 200 || !strings.Contains(text, w) {
				t.Errorf("GET %s = %d without %q:\n%.3000s", target, status, w, text)
			}
		}
	}
	hero := "tenant=" + sampleTenant + "&session=" + heroSession
	f("/", "Hit rate of input tokens", "Hit rate of requests", "Saved of cost", "tools changed", heroSession, "answers from")
	f("/sessions?q=nightly&sort=paid", heroSession)
	f("/session?"+hero, "epoch 1", "Epoch 2", "- - Run the tests before", "+ - Run the tests and the linter", "skipped: deadline passed", "tools: ", "+   description: Runs a command in the sandbox, with", "client gone", "529")
	f("/session?"+hero+"&thread=title", "1 to 1 of 1", "side")
	f("/request?"+hero+"&id=req-hero-0014", "tools changed", "avoidable", "tool run edited", ", with a limit of 10 minutes", "House rules", "of the client", "estimated from its size", "compared with")
	f("/request?"+hero+"&id=req-hero-0030", "2026-12-01", "From byte")
	f("/request?"+hero+"&id=req-hero-0045", "48,211", "messages changed", "not in the log: the history")
	f("/request?"+hero+"&id=req-title", "bare", "side request")
	f("/prefixes", "3 versions are in use", "foreign history", "rules")
	f("/alarms", "writes without reads")
	for target, want := range map[string]int{
		"/session": 404, "/api/session": 404, "/request?id=req-title": 404, "/header?id=h1": 404,
		"/session?tenant=t&session=none": 404, "/request?" + hero + "&id=none": 404, "/header?" + hero + "&id=none": 404, "/prefix?hash=none": 404, "/sessions?sort=none": 400, "/sessions?from=x": 400,
		"/api/session?tenant=t&session=none": 404, "/api/sessions?n=-1": 400, "/api/session?" + hero + "&n=x": 400, "/api/none": 404,
	} {
		if status, _, _ := browse(t, at+target); status != want {
			t.Errorf("GET %s = %d, want %d", target, status, want)
		}
	}
}

// Who asks as a program gets what it always got.
func TestProgramsGetTextAndJSON(t *testing.T) {
	f := func(target, accept, want string) {
		t.Helper()
		resp := ask(deps(), asked{method: "GET", target: target, header: http.Header{"Accept": {accept}}})
		if got := resp.Header.Get("Content-Type"); got != want || resp.Header.Get("Vary") != "Accept" {
			t.Errorf("GET %s for %q = %s, Vary %q; want %s", target, accept, got, resp.Header.Get("Vary"), want)
		}
	}
	f("/", "*/*", "text/plain; charset=utf-8")
	f("/", "text/html, */*;q=0.8", "text/html; charset=utf-8")
	f("/sessions", "", "application/json")
	f("/sessions", "text/html", "text/html; charset=utf-8")
	resp := ask(deps(), asked{method: "GET", target: "/sessions/t/a%2Fb", header: http.Header{"Accept": {"text/html"}}})
	if to := resp.Header.Get("Location"); resp.StatusCode != 303 || to != "/session?session=a%2Fb&tenant=t" {
		t.Errorf("GET /sessions/t/a%%2Fb = %d to %q", resp.StatusCode, to)
	}
}

func TestSessionsAreOrderedAndPaged(t *testing.T) {
	o := fixed(noon)
	for i := range 100 {
		req, resp := exchangeAt(noon, fmt.Sprintf("s%02d", i), "r", nil, cost(int64((i*37)%100)), nil)
		o.Observe(req, resp)
	}
	var got []string
	for from := 0; from < 100; from += 7 {
		f := o.find(query{Sort: "paid", From: from, N: 7})
		if f.Matched != 100 || f.Known != 100 || len(f.Sessions) != min(7, 100-from) {
			t.Fatalf("from %d: %d of %d, %d matched", from, len(f.Sessions), f.Known, f.Matched)
		}
		for i, s := range f.Sessions {
			if want := int64(99 - from - i); s.Paid != want {
				t.Fatalf("session %d paid %d, want %d", from+i, s.Paid, want)
			}
			got = append(got, s.Session)
		}
	}
	if len(got) != 100 {
		t.Errorf("pages have %d sessions, want 100", len(got))
	}
	if f := o.find(query{Sort: "paid", Up: true, N: 2}); f.Sessions[0].Paid != 0 || f.Sessions[1].Paid != 1 {
		t.Errorf("least first = %v", f.Sessions)
	}
	if f := o.find(query{Sort: "last", Text: "s4", N: 50}); f.Matched != 10 {
		t.Errorf("%d sessions have s4 in their name, want 10", f.Matched)
	}
}
