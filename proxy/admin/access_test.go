package admin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const testToken = "correct horse battery"

// everyPath is a request for each thing that is served.
var everyPath = []asked{
	{method: "GET", target: "/"}, {method: "GET", target: "/sessions"}, {method: "GET", target: "/sessions/t/s"}, {method: "GET", target: "/session?tenant=t&session=s"},
	{method: "GET", target: "/request?tenant=t&session=s&id=r"}, {method: "GET", target: "/header?tenant=t&session=s&id=r"}, {method: "GET", target: "/prefixes"}, {method: "GET", target: "/prefix?hash=h"},
	{method: "GET", target: "/alarms"}, {method: "GET", target: "/api/"}, {method: "GET", target: "/api/overview"}, {method: "GET", target: "/api/sessions"}, {method: "GET", target: "/api/session?tenant=t&session=s"},
	{method: "GET", target: "/api/request?tenant=t&session=s&id=r"}, {method: "GET", target: "/api/prefixes"}, {method: "GET", target: "/api/prefix?hash=h"}, {method: "GET", target: "/api/alarms"},
	{method: "GET", target: "/api/events"}, {method: "POST", target: "/-/reload"}, {method: "GET", target: "/nothing"}, {method: "GET", target: "//metrics"}, {method: "POST", target: "/logout"},
	{method: "GET", target: "/metrics/"}, {method: "GET", target: "/healthz/x"}, {method: "HEAD", target: "/sessions"},
}

// Invariant 1: a listener that others can reach shows its health, and nothing
// else without the token.
func TestInvariant1_OthersNeedTheToken(t *testing.T) {
	f := func(d Deps, header http.Header, browser bool, want int) {
		t.Helper()
		d.Reload = func() error { t.Error("reloaded without a token"); return nil }
		for _, q := range everyPath {
			q.header = header
			want := want
			if browser {
				q.header = http.Header{"Accept": {"text/html"}}
				if q.method == "GET" && d.Token != "" {
					want = http.StatusSeeOther
				}
			}
			if resp := ask(d, q); resp.StatusCode != want {
				t.Errorf("%s %s with %v = %d, want %d", q.method, q.target, q.header, resp.StatusCode, want)
			}
		}
		for _, target := range []string{"/healthz", "/readyz", "/metrics", "/login"} {
			if resp := ask(d, asked{method: "GET", target: target}); resp.StatusCode != 200 {
				t.Errorf("GET %s = %d, want 200", target, resp.StatusCode)
			}
		}
	}
	closed := deps()
	closed.Loopback = false
	f(closed, nil, false, 403)
	f(closed, http.Header{"Authorization": {"Bearer "}}, false, 403)
	f(closed, nil, true, 403)
	asks := closed
	asks.Token = testToken
	f(asks, nil, false, 401)
	f(asks, nil, true, 401)
	f(asks, http.Header{"Authorization": {"Bearer correct horse"}}, false, 401)
	f(asks, http.Header{"Authorization": {"Bearer"}}, false, 401)
	f(asks, http.Header{"Authorization": {"Basic " + testToken}}, false, 401)
	f(asks, http.Header{"Cookie": {cookieName + "=" + testToken}}, false, 401)
	asks.Loopback = true // a token is asked for on loopback, too, if there is one
	f(asks, nil, false, 401)
}

func TestTokenLetsIn(t *testing.T) {
	d := deps()
	d.Loopback, d.Token = false, testToken
	for _, scheme := range []string{"Bearer ", "bearer "} {
		if resp := ask(d, asked{method: "GET", target: "/api/overview", header: http.Header{"Authorization": {scheme + testToken}}}); resp.StatusCode != 200 {
			t.Errorf("GET /api/overview with the token = %d, want 200", resp.StatusCode)
		}
	}
	reloaded := 0
	d.Reload = func() error { reloaded++; return nil }
	if resp := ask(d, asked{method: "POST", target: "/-/reload", header: http.Header{"Authorization": {"Bearer " + testToken}}}); resp.StatusCode != 200 || reloaded != 1 {
		t.Errorf("POST /-/reload with the token = %d, want 200", resp.StatusCode)
	}
}

// signIn posts the form and returns the answer.
func signIn(d Deps, token, next string, header http.Header) *http.Response {
	form := url.Values{"token": {token}, "next": {next}}
	r := httptest.NewRequest("POST", "/login", strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:8788"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, v := range header {
		r.Header[name] = v
	}
	w := httptest.NewRecorder()
	New(d).ServeHTTP(w, r)
	return w.Result()
}

func TestSignIn(t *testing.T) {
	d := deps()
	d.Loopback, d.Token = false, testToken
	resp := signIn(d, testToken, "/sessions?q=a", nil)
	if resp.StatusCode != 303 || resp.Header.Get("Location") != "/sessions?q=a" || len(resp.Cookies()) != 1 {
		t.Fatalf("sign in = %d to %q with %v", resp.StatusCode, resp.Header.Get("Location"), resp.Cookies())
	}
	c := resp.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || strings.Contains(c.Value, testToken) {
		t.Errorf("the cookie is %+v", c)
	}
	f := func(value string, want int) {
		t.Helper()
		got := ask(d, asked{method: "GET", target: "/api/overview", header: http.Header{"Cookie": {cookieName + "=" + value}}})
		if got.StatusCode != want {
			t.Errorf("with the cookie %q = %d, want %d", value, got.StatusCode, want)
		}
	}
	f(c.Value, 200)
	f(c.Value+"0", 401)
	f("9"+c.Value, 401) // later, without a proof of it
	f(strings.Replace(c.Value, ".", "", 1), 401)
	f("", 401)
	p := &pages{Deps: d}
	f(p.cookie(time.Now().Add(-time.Second)), 401)
	d.Token += " staple"
	f(c.Value, 401) // another token ends it
}

func TestFormSaysNothingOfWhatIsBehind(t *testing.T) {
	d := deps()
	d.Loopback, d.Token, d.Overview, d.Version = false, testToken, fixed(noon), "v7.7"
	d.Overview.Alarm("a", "b", info("t", "s").Key, "")
	if _, body := get(d, "/login"); strings.Contains(body, "count") || strings.Contains(body, "v7.7") {
		t.Errorf("the form says %s", body)
	}
}

func TestSignInFails(t *testing.T) {
	d := deps()
	d.Loopback, d.Token = false, testToken
	for _, token := range []string{"", "wrong", testToken + " ", strings.Repeat("x", 2*mostForm)} {
		resp := signIn(d, token, "/", nil)
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 401 || len(resp.Cookies()) != 0 || !strings.Contains(string(body), "not the token") {
			t.Errorf("sign in with %.20q = %d with %v", token, resp.StatusCode, resp.Cookies())
		}
	}
	// A page elsewhere cannot sign somebody in, or out.
	for name, h := range map[string]http.Header{"fetch metadata": {"Sec-Fetch-Site": {"cross-site"}}, "origin": {"Origin": {"https://evil.example"}}} {
		if resp := signIn(d, testToken, "/", h); resp.StatusCode != 403 || len(resp.Cookies()) != 0 {
			t.Errorf("%s: sign in = %d, want 403", name, resp.StatusCode)
		}
	}
	// No token configured: nothing signs in.
	d.Token = ""
	if resp := signIn(d, "", "/", nil); resp.StatusCode != 401 || len(resp.Cookies()) != 0 {
		t.Errorf("sign in where there is no token = %d, want 401", resp.StatusCode)
	}
}

func TestSignInLeadsToOwnPagesOnly(t *testing.T) {
	f := func(next, want string) {
		t.Helper()
		if got := ownPath(next); got != want {
			t.Errorf("ownPath(%q) = %q, want %q", next, got, want)
		}
	}
	f("/sessions?q=a%2Fb", "/sessions?q=a%2Fb")
	for _, bad := range []string{"", "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/\n/evil", "http:/x", "evil", "///evil.example"} {
		f(bad, "/")
	}
}
