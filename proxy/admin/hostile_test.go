package admin

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// What somebody may choose who wants into the page, its charts or a terminal.
var hostileTexts = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `</title></svg><svg onload=alert(1)>`, `]]>--><!--`, `{{.}}`,
	"\x1b[2J\x1b]0;owned\x07", "\u202Egnp.exe", "\u2066a\u2069\u200F", "a\x00b\rc\nd", "javascript:alert(1)", "../../etc/passwd?x=1&y=2#z", strings.Repeat("long", 5000), "\u00e9\u0301\u0301\u0301",
}

// hostilePages serves a log in which all that others choose is one of the texts.
func hostilePages(t *testing.T, text string) (at string, k logsink.Key, o *Overview, prefix string) {
	l, r := openLog(t)
	id := text
	k = logsink.Key{Tenant: "t" + text[:min(len(text), 100)], Session: text[:min(len(text), 500)]}
	k.Tenant, k.Session = strings.ToValidUTF8(k.Tenant, ""), strings.ToValidUTF8(k.Session, "")
	s := &sample{t: t, log: l, now: time.Now().UTC()}
	ms := []logsink.Message{{Role: text, Text: text}}
	a := &logsink.Anchor{V: 1, Key: k, Epoch: 1, Reason: text, Decision: logsink.Inject, Why: text, Prefix: logsink.PrefixHash(ms), Messages: ms,
		Renderings:   []logsink.Rendering{logsink.NewRendering(text, []byte(text))},
		Contributors: []logsink.Contribution{{Name: text, Kind: text, SHA256: text, Outcome: text}}, Route: text, Source: text, Config: text, Preface: text, Time: s.now}
	if _, err := l.Freeze(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	two := *a
	two.Epoch, two.Messages = 2, []logsink.Message{{Role: text, Text: text + text}}
	two.Prefix = logsink.PrefixHash(two.Messages)
	if _, err := l.Freeze(t.Context(), &two); err != nil {
		t.Fatal(err)
	}
	s.header(k, text, "h1", text, 1, s.now, map[string]string{"system": text, "tools": `"` + text, "parameters": "\xff\xfe" + text})
	s.header(k, text, "h2", text, 2, s.now, map[string]string{"system": text + "1", "tools": `{"name":` + string(must(json.Marshal(text))) + `}`, "parameters": text}, text)
	for i, name := range []string{"first", id} {
		req := &logsink.Request{V: 1, ID: name, Key: k, Epoch: 1 + i, Thread: text, Attempt: 1, Header: fmt.Sprint("h", i+1), Dialect: text, Route: text, Path: text, Model: text, Class: text, Decision: text, Why: text, Size: 50 + len(text), Time: s.now,
			Splices: []logsink.Splice{{Offset: 9, Length: len(text), Kind: text, Rendering: text}}}
		resp := &logsink.Response{V: 1, ID: name, Key: k, Epoch: 1 + i, Thread: text, Status: 200, End: text, Detail: text, UpstreamID: text, ResponseID: text, StopReason: text, Model: text, Tier: text, Unpriced: text, Usage: &logsink.Usage{CacheRead: ptr(5), Fresh: ptr(5)},
			Iterations: []logsink.Iteration{{Usage: &logsink.Usage{CacheRead: ptr(5), Fresh: ptr(4)}}, {Model: text}},
			Cost:       &logsink.Cost{Paid: 5, Price: text}, Cause: &logsink.Cause{Name: text, Owner: text, Section: "system", Detail: text, Lost: 5, Missed: 5, Against: "first", Provider: text}, Time: s.now}
		s.recs = append(s.recs, logsink.Record{Request: req}, logsink.Record{Response: resp})
	}
	s.flush()
	o = newOverview(r, time.Now)
	o.began = o.began.Add(time.Minute)
	recent, err := o.list(t.Context())
	if err != nil || len(recent) != 1 {
		t.Fatalf("the log lists %d sessions: %v", len(recent), err)
	}
	if err := o.readSession(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	o.Alarm(text, text, k, id)
	at = served(t, Deps{Ready: func() bool { return true }, Reload: func() error { return nil }, Metrics: telemetry.New().Handler(), Log: r, Overview: o, Version: "v", Loopback: true})
	return at, k, o, two.Prefix
}

func ptr(n int64) *int64 { return &n }

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// TestNothingInjects: whatever was chosen, a page has the elements that its
// templates have, and no character that turns text around or moves a cursor.
func TestNothingInjects(t *testing.T) {
	for i, text := range hostileTexts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			at, k, _, prefix := hostilePages(t, text)
			q := url.Values{"tenant": {k.Tenant}, "session": {k.Session}}.Encode()
			id := url.Values{"id": {text}}.Encode()
			for _, target := range []string{
				"/", "/?by=money&span=days", "/?span=" + url.QueryEscape(text) + "&by=" + url.QueryEscape(text), "/sessions", "/sessions?q=" + url.QueryEscape(k.Session) + "&prefix=" + url.QueryEscape(prefix),
				"/session?" + q, "/session?" + q + "&thread=" + url.QueryEscape(text), "/request?" + q + "&" + id, "/header?" + q + "&id=h2", "/prefixes", "/prefix?hash=" + url.QueryEscape(prefix), "/alarms",
				"/login?next=" + url.QueryEscape(text), "/session?tenant=" + url.QueryEscape(text), "/prefix?hash=" + url.QueryEscape(text), "/sessions?cause=" + url.QueryEscape(text),
			} {
				if len(target) > 8000 {
					continue // longer than a server takes
				}
				status, _, body := browse(t, at+target)
				if status != 200 && status != 404 {
					t.Errorf("GET %.200s = %d", target, status)
				}
				if target == "/request?"+q+"&"+id && status != 200 {
					t.Errorf("the request is not found: %d", status)
				}
				checkInert(t, target, body)
			}
			checkAPI(t, at, q, prefix)
		})
	}
}

func checkInert(t *testing.T, target, body string) {
	t.Helper()
	if !utf8.ValidString(body) {
		t.Errorf("%.100s is not UTF-8", target)
	}
	for _, bad := range []string{"<script>", "<img", "onerror=alert", "onload=alert", "</title></svg>", "<!--", "{{", "href=\"javascript:"} {
		at := strings.Index(body, bad)
		if at < 0 || bad == "onerror=alert" && !strings.Contains(body, "<img") || bad == "onload=alert" && !strings.Contains(body, "<svg onload") || bad == "{{" {
			continue
		}
		t.Errorf("%.100s has %q: %.300q", target, bad, body[max(0, at-100):min(len(body), at+100)])
	}
	for i, r := range body {
		if r < ' ' && r != '\n' && r != '\t' || r == '\u202e' || r == '\u2066' || r == '\u200f' || r == 0x9b {
			// A form holds what was typed, to be sent again as it is.
			if strings.Contains(body[max(0, i-400):i], "value=\"") {
				continue
			}
			t.Fatalf("%.100s has the character %U: %.200q", target, r, body[max(0, i-100):min(len(body), i+50)])
		}
	}
}

// checkAPI: the API gives what there is, as JSON that no browser takes for a page.
func checkAPI(t *testing.T, at, session, prefix string) {
	t.Helper()
	for _, target := range []string{"/api/overview", "/api/sessions", "/api/session?" + session, "/api/request?" + session + "&id=first", "/api/prefixes", "/api/prefix?hash=" + url.QueryEscape(prefix), "/api/alarms"} {
		status, header, body := browse(t, at+target)
		if status != 200 || header.Get("Content-Type") != "application/json" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %.100s = %d %s", target, status, header.Get("Content-Type"))
		}
		if !json.Valid([]byte(body)) || strings.ContainsAny(body, "<>\x1b\x07") {
			t.Errorf("GET %.100s is no JSON that is inert: %.300q", target, body)
		}
	}
}

func TestShown(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := shown(in); got != want {
			t.Errorf("shown(%q) = %q, want %q", in, got, want)
		}
	}
	f("plain", "plain")
	f("", "(empty)")
	f("a\nb\tc", "a␊b␉c")
	f("\x1b[2J", "�[2J")
	f("\u202egnp", "�gnp")
	f("\xff", "�")
	f("שלום", "שלום")
	f(strings.Repeat("x", 96), strings.Repeat("x", 96))
	f(strings.Repeat("a", 60)+strings.Repeat("b", 60), strings.Repeat("a", 48)+"…"+strings.Repeat("b", 48))
}
