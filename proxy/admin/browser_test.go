package admin

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

var screenshots = flag.String("screenshots", "", "write pictures of all pages into this folder")

// A browser is a headless Chromium, spoken to over its pipe: JSON messages that a
// zero byte ends, on the descriptors 3 and 4.
type browser struct {
	t       testing.TB
	in      *os.File
	out     *bufio.Reader
	last    int
	session string
	events  []message
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// browserTime bounds all that one test does in the browser.
const browserTime = 2 * time.Minute

// openBrowser starts Chromium and opens a tab. Without one the test is skipped.
func openBrowser(t testing.TB) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("there is no chromium; apt-get install chromium")
	}
	toIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), browserTime)
	c := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	c.ExtraFiles = []*os.File{toIn, fromOut}
	c.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	toIn.Close()
	fromOut.Close()
	b := &browser{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	t.Cleanup(func() {
		_ = b.send("Browser.close", nil, "") // it may be gone
		_ = c.Wait()
		cancel()
		in.Close()
		out.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) send(method string, params any, session string) error {
	b.last++
	m := map[string]any{"id": b.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	return err
}

// call asks for something and waits for the answer; events go to b.events.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	if err := b.send(method, params, b.session); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for id := b.last; ; {
		m, err := b.read()
		switch {
		case err != nil:
			b.t.Fatalf("%s: the browser is gone: %v", method, err)
		case m.ID != id:
			b.events = append(b.events, m)
			continue
		case m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		case result != nil:
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

func (b *browser) read() (m message, err error) {
	text, err := b.out.ReadBytes(0)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text[:len(text)-1], &m)
}

// wait reads events until one of the name comes.
func (b *browser) wait(event string) {
	b.t.Helper()
	for {
		for i, m := range b.events {
			if m.Method == event {
				b.events = b.events[i+1:]
				return
			}
		}
		m, err := b.read()
		if err != nil {
			b.t.Fatalf("the browser is gone before %s: %v", event, err)
		}
		b.events = append(b.events[:0], m)
	}
}

func (b *browser) open(at string) {
	b.t.Helper()
	b.events = nil
	var got struct{ ErrorText string }
	b.call("Page.navigate", map[string]any{"url": at}, &got)
	if got.ErrorText != "" {
		b.t.Fatalf("cannot open %s: %s", at, got.ErrorText)
	}
	b.wait("Page.loadEventFired")
}

// eval returns what an expression gives.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails.Text)
	}
	if result != nil {
		if err := json.Unmarshal(got.Result.Value, result); err != nil {
			b.t.Fatalf("%s gave %s: %v", expression, got.Result.Value, err)
		}
	}
}

// click presses the mouse on the first line of what a selector finds.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.events = nil
	var at []float64
	b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); if (!e) return []; e.scrollIntoView({block: 'center', inline: 'center'}); const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector), &at)
	if len(at) != 2 {
		b.t.Fatalf("there is nothing like %s to click on", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
	}
	b.wait("Page.loadEventFired")
}

func (b *browser) title() (title string) {
	b.eval("document.title + ' ' + document.querySelector('h1').textContent", &title)
	return title
}

// complaints are what the browser blocked or could not load.
func (b *browser) complaints() []string {
	var list []string
	for _, m := range b.events {
		if m.Method == "Log.entryAdded" || m.Method == "Runtime.exceptionThrown" {
			list = append(list, string(m.Params))
		}
	}
	return list
}

// TestBrowserGoesFromOverviewToRequest clicks through the pages as a person does.
func TestBrowserGoesFromOverviewToRequest(t *testing.T) {
	b := openBrowser(t)
	at, o := samplePages(t)
	o.every = 50 * time.Millisecond
	see := func(want string) {
		t.Helper()
		if got := b.title(); !strings.Contains(got, want) {
			t.Fatalf("the page is %q, want %q", got, want)
		}
		if c := b.complaints(); len(c) > 0 {
			t.Errorf("%q: the browser complains: %s", want, c)
		}
	}
	b.open(at + "/")
	see("Overview")
	b.click(`nav a[href="/sessions"]`)
	see("Sessions")
	b.click(`th a[href*="sort=paid"]`)
	see("Sessions")
	b.click(`td.name a[href*="` + heroSession + `"]`)
	see(heroSession)
	b.click(`svg a[href*="req-hero-0045"]`)
	see("req-hero-0045")
	b.click(`a[rel="prev"]`)
	see("req-hero-0044")
	b.click(`a[href^="/header"]`)
	see("Header snapshot")
	b.click(`nav a[href="/prefixes"]`)
	see("Prefixes")
	b.click(`.card h2 a`)
	see("Prefix ")
	b.click(`nav a[href="/alarms"]`)
	see("Alarms")

	// What comes meanwhile shows without a click.
	b.open(at + "/sessions")
	req, resp := exchangeAt(time.Now(), "just-now", "r", nil, nil, nil)
	o.Observe(req, resp)
	var seen bool
	b.eval(`new Promise((done) => { const look = () => document.body.textContent.includes('just-now') ? done(true) : setTimeout(look, 50); look(); })`, &seen)
}

// TestBrowserWithoutScripts: the pages are whole without.
func TestBrowserWithoutScripts(t *testing.T) {
	b := openBrowser(t)
	at, _ := samplePages(t)
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.open(at + "/")
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	var rows int
	b.eval("document.querySelectorAll('tbody tr').length + document.querySelectorAll('svg path').length", &rows)
	if rows < 20 {
		t.Errorf("the overview has %d rows and areas without scripts", rows)
	}
}

// TestBrowserRunsNothingOfOthers: what others chose would set a mark if any of it ran.
func TestBrowserRunsNothingOfOthers(t *testing.T) {
	b := openBrowser(t)
	for _, text := range []string{`<script>document.title='owned'</script>`, `"><img src=x onerror="document.title='owned'">`, `</title></svg><svg onload="document.title='owned'">`, `javascript:document.title='owned'`} {
		at, k, _, prefix := hostilePages(t, text)
		q := url.Values{"tenant": {k.Tenant}, "session": {k.Session}}.Encode()
		for _, target := range []string{"/", "/sessions", "/session?" + q, "/request?" + q + "&" + url.Values{"id": {text}}.Encode(), "/header?" + q + "&id=h2", "/prefixes", "/prefix?hash=" + url.QueryEscape(prefix), "/alarms"} {
			b.open(at + target)
			var title string
			b.eval("document.title", &title)
			if strings.Contains(title, "owned") || len(b.complaints()) > 0 {
				t.Errorf("%q ran on %s: %q %s", text, target, title, b.complaints())
			}
		}
	}
}

// A picture is a page that is looked at.
type picture struct{ name, at string }

// pictures are all pages: of the sample, of an empty log, and with what somebody
// with bad intent, or with long names, would choose.
func pictures(t *testing.T) []picture {
	at, _ := samplePages(t)
	hero := "tenant=" + sampleTenant + "&session=" + heroSession
	list := []picture{
		{"overview", at + "/"}, {"overview-days", at + "/?span=days&by=money"}, {"sessions", at + "/sessions?sort=paid"},
		{"session", at + "/session?" + hero}, {"request", at + "/request?" + hero + "&id=req-hero-0014"}, {"header", at + "/header?" + hero + "&id=h2"},
		{"prefixes", at + "/prefixes"}, {"prefix", at + prefixTarget(t, at)}, {"alarms", at + "/alarms"},
		{"api", at + "/api/"}, {"login", at + "/login"}, {"missing", at + "/session?tenant=t&session=none"},
	}
	empty := emptyPages(t)
	for _, page := range []string{"/", "/sessions", "/prefixes", "/alarms"} {
		list = append(list, picture{"empty-" + cmp.Or(page[1:], "overview"), empty + page})
	}
	text := `</td><b>"&'` + "\x1b[31m\u202e" + strings.Repeat("long", 200)
	at, k, _, prefix := hostilePages(t, text)
	q := url.Values{"tenant": {k.Tenant}, "session": {k.Session}}.Encode()
	for name, page := range map[string]string{
		"overview": "/", "sessions": "/sessions", "session": "/session?" + q, "request": "/request?" + q + "&" + url.Values{"id": {text}}.Encode(),
		"header": "/header?" + q + "&id=h2", "prefixes": "/prefixes", "prefix": "/prefix?hash=" + url.QueryEscape(prefix), "alarms": "/alarms",
	} {
		list = append(list, picture{"hostile-" + name, at + page})
	}
	return list
}

func emptyPages(t *testing.T) string {
	_, r := openLog(t)
	return served(t, Deps{
		Ready: func() bool { return true }, Reload: func() error { return nil }, Metrics: telemetry.New().Handler(),
		Log: r, Overview: newOverview(r, time.Now), Version: "v0.4.0", Loopback: true,
	})
}

const (
	wide  = 1280
	phone = 375
)

// TestBrowserFitsAPhone: no page is wider than its window; tables scroll by
// themselves.
func TestBrowserFitsAPhone(t *testing.T) {
	b := openBrowser(t)
	for _, p := range pictures(t) {
		b.see(p, phone)
	}
}

// TestScreenshots draws every page, wide and as on a phone, light and dark.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no folder for pictures; make screenshots")
	}
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t)
	list := pictures(t)
	for name, width := range map[string]int{"wide": wide, "phone": phone} {
		for _, scheme := range []string{"light", "dark"} {
			b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			for _, p := range list {
				b.shoot(p, width, filepath.Join(*screenshots, fmt.Sprintf("%s-%s-%s.png", p.name, name, scheme)))
			}
		}
	}
}

func prefixTarget(t *testing.T, at string) string {
	resp, err := http.Get(at + "/api/prefixes")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var p Prefixes
	if err := errors.Join(json.NewDecoder(resp.Body).Decode(&p)); err != nil || len(p.Prefixes) == 0 {
		t.Fatalf("no prefixes: %v", err)
	}
	return "/prefix?hash=" + url.QueryEscape(p.Prefixes[0].Hash)
}

// see opens a page in a window of a width and returns its height.
func (b *browser) see(p picture, width int) (height int) {
	b.t.Helper()
	b.window(width, 900)
	b.open(p.at)
	var size []int
	b.eval("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]", &size)
	if size[0] > width {
		b.t.Errorf("%s is %d pixels wide in a window of %d", p.name, size[0], width)
	}
	return size[1]
}

func (b *browser) window(width, height int) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width == phone}, nil)
}

func (b *browser) shoot(p picture, width int, file string) {
	b.t.Helper()
	b.window(width, min(b.see(p, width), 4000))
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
