package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/internal/account"
	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// TestDemo plays once and then spoils what was seen, one thing at a time: each
// promise has to break by what breaks it.
func TestDemo(t *testing.T) {
	var told bytes.Buffer
	r, seen, err := playDemo(t.Context(), t.TempDir(), 1, true, &narrator{w: &told})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Stays", func(t *testing.T) { testStays(t, seen.left, told.String()) })
	t.Run("Report", func(t *testing.T) { testDemoReport(t, seen) })
	if err := seen.left.strike(t.Context()); err != nil {
		t.Error(err)
	}
	t.Run("Result", func(t *testing.T) { testDemoResult(t, r) })
	t.Run("Spoiled", func(t *testing.T) { testSpoiled(t, seen) })
}

// testDemoReport: "proxy report" sums what the demo prints.
func testDemoReport(t *testing.T, e *evidence) {
	f := reportFlags{options: options{log: e.left.logPath()}}
	r, err := f.read(t.Context(), account.Options{Since: time.Now().Add(-time.Hour), Until: time.Now()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	a := e.account
	if g := r.Total; g.Paid != a.Paid || g.Uncached != a.Uncached || g.Prefix != a.Prefix || g.Paid == 0 || len(r.Causes) != len(a.Causes) || g.Unpriced != a.Unpriced {
		t.Errorf("a report has %+v and %d causes, the demo %+v", g.Sums, len(r.Causes), a)
	}
	if len(r.Prefixes.Rows) != 6 || len(r.Contributors) != 3 || r.Sessions != 5 {
		t.Errorf("a report has %d prefixes, %d contributors, %d sessions; want 5 and none, 3, 5", len(r.Prefixes.Rows), len(r.Contributors), r.Sessions)
	}
}

// testStays asks the page that was told of before the play.
func testStays(t *testing.T, s *demoStage, told string) {
	if want := "the page of the proxy: http://" + s.page + "/\n"; told != want {
		t.Errorf("before the play it told %q, want %q", told, want)
	}
	for _, url := range []string{"http://" + s.page + "/sessions", s.url()} {
		a, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		if err = errors.Join(err, a.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if url != s.url() && (a.StatusCode != 200 || bytes.Count(b, []byte(sharedSession)) < 2) {
			t.Errorf("the page is %d and does not list the sessions of that name:\n%s", a.StatusCode, b)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b bytes.Buffer
	s.stay(ctx, &b)
	if want := "\nthe page stays at http://" + s.page + "/ and takes what goes through " + s.url() + ", until Ctrl-C\n"; b.String() != want {
		t.Errorf("it says %q, want %q", b.String(), want)
	}
}

func TestDemoLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&demoFlags{replicas: 1, stay: true}).run(ctx, io.Discard, io.Discard); err == nil {
		t.Error("run after the end = nil, want an error")
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func testDemoResult(t *testing.T, r *demoResult) {
	var b bytes.Buffer
	if err := r.print(&b); err != nil {
		t.Fatal(err)
	}
	if !r.Held || !strings.HasSuffix(b.String(), "\nall promises held\n") {
		t.Fatalf("the demo ends with\n%s", b.String())
	}
	for _, s := range r.Sessions {
		switch refused := s.Volatile.Refused; {
		case s.Name == "control" && (s.Ratio != 1 || s.VolatileRatio != 1):
			t.Errorf("without an opener %s costs %v of the direct price, want 1", s.Name, s.Ratio)
		case s.Name != "control" && (s.Ratio <= 1 || s.Ratio > 2):
			t.Errorf("with an opener %s costs %v of the direct price, want a little more than 1", s.Name, s.Ratio)
		case strings.HasPrefix(s.Name, "claude") && (refused == nil || refused.Status != 400 || !strings.Contains(refused.Message, "bound to a different conversation")):
			t.Errorf("%s with a volatile opener was refused with %+v, want its thinking to be", s.Name, refused)
		}
	}
	testBursts(t, r.Bursts)
	told, err := json.Marshal(r)
	if err != nil || !bytes.Contains(told, []byte(`"held":true`)) || !bytes.Contains(told, []byte(`"id":"I12","name":"no secret","looked":"`)) {
		t.Errorf("as JSON it is %s, %v", told, err)
	}
	r.Held, r.Promises[2].Broken = false, slices.Repeat([]string{"this"}, maxBroken+2)
	b.Reset()
	if err := r.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"BROKEN", "\nbroken I2: this\n", "\nbroken I2: and 2 more\n", "\nbroken: I2 frozen\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("with a broken promise it prints no %q:\n%s", want, b.String())
		}
	}
}

func testBursts(t *testing.T, all []demoBurst) {
	t.Helper()
	if len(all) != len(burstRoles) {
		t.Errorf("it tells of %d bursts, want %d", len(all), len(burstRoles))
	}
	for _, burst := range all {
		free, held := burst.Free, burst.Held
		if free.Requests != burstThreads || free.Tokens.CacheRead != 0 || free.Tokens.Written() != free.Tokens.Input() {
			t.Errorf("without hold the burst of %s has %s, want all to be written", burst.Name, free)
		}
		if held.Requests != burstThreads || held.Tokens.Input() != free.Tokens.Input() || held.Tokens.CacheRead == 0 || burst.Ratio >= 0.5 {
			t.Errorf("with hold the burst of %s has %s for %v of the price, want the same read at less than half", burst.Name, held, burst.Ratio)
		}
		if once := held.Tokens.Input() / burstThreads; burst.Prompts == "the same" && held.Tokens.Written() != once {
			t.Errorf("with hold the burst of %s wrote %d tokens, want what one of them has, %d", burst.Name, held.Tokens.Written(), once)
		}
	}
}

// set changes *p and returns what undoes that.
func set[T any](p *T, v T) (undo func()) {
	old := *p
	*p = v
	return func() { *p = old }
}

func testSpoiled(t *testing.T, e *evidence) {
	find := func(id string) *sighting {
		for _, c := range e.calls {
			if c.ID == id {
				return c
			}
		}
		t.Fatalf("no call is %s", id)
		return nil
	}
	call := find("claude-1/turn-3")
	player := func(name string) *player {
		for _, p := range e.players {
			if p.name == name {
				return p
			}
		}
		return nil
	}
	anchors := func(name string) *[]*logsink.Anchor { return &e.sessions[e.keyOf(player(name))].anchors }
	changed := func(b []byte, add string) []byte { return append(bytes.Clone(b), add...) }
	for _, test := range []struct {
		name, breaks string
		spoil        func() (undo func())
	}{
		{"agent stopped", "run", func() func() { return set(&player("chat").failed, io.ErrUnexpectedEOF) }},
		{"not in the log at arrival", "I1", func() func() { return set(&e.unlogged, map[string]string{call.ID: "no anchor"}) }},
		{"nothing arrived with a prefix", "I1", func() func() { return set(&e.logged, 0) }},
		{"epoch too many", "I2", func() func() { return set(anchors("claude-2"), *anchors("codex")) }},
		{"resumed to the same", "I2", func() func() { return set(&(*anchors("codex"))[1].Prefix, (*anchors("codex"))[0].Prefix) }},
		{"other bytes", "I2", func() func() { return set(&call.inserted, find("claude-2/turn-3").inserted) }},
		{"other place", "I2", func() func() { return set(&call.inserted.at, 2) }},
		{"bare turn", "I2", func() func() { return set(&call.inserted, insertion{}) }},
		{"title with prefix", "I2", func() func() { return set(&find("claude-1/title-1").inserted, call.inserted) }},
		{"told another prefix", "I2", func() func() { return set(&call.Call.Header, nil) }},
		{"a byte changed", "I3", func() func() { return set(&call.Body, changed(call.Body[:len(call.Body)-1], " ")) }},
		{"messages changed", "I3", func() func() { return set(&call.badly, io.ErrUnexpectedEOF) }},
		{"splice outside", "I3", func() func() { return set(&call.request.Splices[0].Offset, 1<<40) }},
		{"finding", "I4", func() func() { return set(&e.findings, []logsink.Finding{{What: "wrong"}}) }},
		{"gap", "I4", func() func() { return set(&e.findings, []logsink.Finding{{What: "gone", Gap: true}}) }},
		{"no request record", "I4", func() func() { return set(&call.request, nil) }},
		{"no response record", "I4", func() func() { return set(&call.response, nil) }},
		{"other digest", "I4", func() func() { return set(&call.request.Body, logsink.Digest{1}) }},
		{"other rendering", "I4", func() func() {
			return set(&(*anchors("claude-1"))[0].Renderings[0].Bytes, []byte("other"))
		}},
		{"epoch numbers", "I5", func() func() { return set(&(*anchors("chat"))[0].Epoch, 2) }},
		{"raced into another epoch", "I5", func() func() { return set(&find("claude-2.1/turn-1").request.Epoch, 2) }},
		{"another's session", "I6", func() func() { return set(&call.request.Key, e.keyOf(player("claude-2"))) }},
		{"another's words", "I6", func() func() {
			return set(&call.arrived[0].Body, changed(call.arrived[0].Body, workspaceMark(e.keyOf(player("codex")))))
		}},
		{"answer changed", "I8", func() func() { return set(&call.Answer, changed(call.Answer, "x")) }},
		{"status changed", "I8", func() func() { return set(&call.Status, 201) }},
		{"header lost", "I8", func() func() { return set(&call.Call.Header, nil) }},
		{"end not told", "I8", func() func() { return set(&call.response.End, logsink.EndCut) }},
		{"sent twice", "I9", func() func() { return set(&call.arrived, slices.Repeat(call.arrived, 2)) }},
		{"never arrived", "I9", func() func() { return set(&call.arrived, nil) }},
		{"stranger", "I9", func() func() { return set(&e.strange, call.arrived) }},
		{"counts wrong", "I11", func() func() { return set(call.response.Usage.CacheRead, 1) }},
		{"unreported is 0", "I11", func() func() { return set(&call.response.Usage.WriteOther, new(int64)) }},
		{"no usage", "I11", func() func() { return set(&call.response.Usage, nil) }},
		{"charged unseen", "I11", func() func() { return set(&call.arrived[0].Tokens, provider.Tokens{}) }},
		{"key in a message", "I12", func() func() { return set(&e.messages, player("codex").key) }},
		{"key in a record", "I12", func() func() { return set(&call.request.Path, player("codex").key) }},
		{"key in an anchor", "I12", func() func() { return set(&(*anchors("chat"))[0].Source, player("codex").key) }},
		{"key in a blob", "I12", func() func() {
			return set(&e.blobs, map[logsink.Digest][]byte{{}: []byte(player("codex").key)})
		}},
		{"something for nothing", "I13", func() func() {
			c := find("control/turn-2")
			return set(&c.arrived[0].Body, changed(c.arrived[0].Body, " "))
		}},
		{"an empty list in an anchor", "I13", func() func() {
			return set(&(*anchors("control"))[0].Renderings, make([]logsink.Rendering, 1))
		}},
	} {
		undo := test.spoil()
		if broken(e, test.breaks) == nil {
			t.Errorf("%s: %s held, want it broken", test.name, test.breaks)
		}
		undo()
	}
	for _, p := range demoPromises(len(e.replicas)) {
		if got := broken(e, p.ID); got != nil {
			t.Errorf("unspoiled again: %s is broken: %v", p.ID, got)
		}
	}
}

// broken is what breaks one promise.
func broken(e *evidence, id string) []string {
	for _, p := range demoPromises(len(e.replicas)) {
		if p.ID == id {
			p.judge(e, p)
			return p.Broken
		}
	}
	panic("no promise is " + id)
}

func TestInsertedInto(t *testing.T) {
	f := func(sent, arrived string, at int, want string, fails bool) {
		t.Helper()
		in, err := insertedInto(&agent.Call{Body: []byte(sent)}, &provider.Exchange{Body: []byte(arrived)})
		if (err != nil) != fails || !fails && (string(in.bytes()) != want || in.at != at && want != "") {
			t.Errorf("insertedInto(%s, %s) = %s at %d, %v, want %s at %d", sent, arrived, in.bytes(), in.at, err, want, at)
		}
	}
	f(`{"messages":[1,2]}`, `{"messages":[1,2]}`, 0, ``, false)
	f(`{"messages":[1,2]}`, `{"messages":[{"a": 3},1,2]}`, 0, `{"a": 3}`, false)
	f(`{"messages":[1,2]}`, `{"messages":[1,3,4,2]}`, 1, `3,4`, false)
	f(`{"input":[1,2]}`, `{"input":[1,3,2]}`, 1, `3`, false)
	f(`{"messages":[1,2]}`, `{"messages":[1]}`, 0, ``, true)
	f(`{"messages":[1,2]}`, `{"messages":[3,1,4]}`, 0, ``, true)
	f(`{"messages":[1,2]}`, `{"messages":[1,3]}`, 0, ``, true)
	f(`{"messages":[1,2]}`, `{`, 0, ``, true)
	f(``, `{"messages":[1]}`, 0, ``, true)
}

func TestWithout(t *testing.T) {
	f := func(body, want string, splices ...logsink.Splice) {
		t.Helper()
		got, err := without([]byte(body), splices)
		if err != nil || string(got) != want {
			t.Errorf("without(%q, %v) = %q, %v, want %q", body, splices, got, err, want)
		}
	}
	f("abc", "abc")
	f("aXXbYc", "abc", logsink.Splice{Offset: 1, Length: 2}, logsink.Splice{Offset: 4, Length: 1})
	f("X", "", logsink.Splice{Length: 1})
	for _, bad := range [][]logsink.Splice{{{Offset: 2, Length: 2}}, {{Offset: -1, Length: 1}}, {{Offset: 1, Length: -1}}, {{Offset: 1, Length: 1}, {Offset: 0, Length: 1}}} {
		if got, err := without([]byte("abc"), bad); err == nil {
			t.Errorf("without(abc, %v) = %q, want an error", bad, got)
		}
	}
}

func TestCostOf(t *testing.T) {
	f := func(model string, tokens provider.Tokens, want float64) {
		t.Helper()
		got, err := costOf(model, time.Now(), tokens)
		if err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("costOf(%s, %+v) = %v, %v, want %v", model, tokens, got, err, want)
		}
	}
	f("claude-opus-5-5", provider.Tokens{Fresh: 1e6, CacheRead: 1e6, Write5m: 1e6, Write1h: 1e6, Output: 1e6}, 4+0.20+5+8+20)
	f("gpt-6.2-sol", provider.Tokens{Fresh: 1e4, CacheRead: 1e4, Write30m: 1e4, Output: 1e4}, (2+0.10+2.50+10)/100)
	f("", provider.Tokens{}, 0)
	for _, bad := range []struct {
		model  string
		tokens provider.Tokens
	}{{"gpt-0", provider.Tokens{Fresh: 1}}, {"gpt-6.2-sol", provider.Tokens{Write12h: 1}}} {
		if got, err := costOf(bad.model, time.Now(), bad.tokens); err == nil {
			t.Errorf("costOf(%s, %+v) = %v, want an error: there is no such price", bad.model, bad.tokens, got)
		}
	}
}

func TestWithoutUsage(t *testing.T) {
	in := "data: {\"choices\":[{}],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n"
	want := "data: {\"choices\":[{}],\"usage\":null}\n\ndata: [DONE]\n\n"
	if diff := cmp.Diff(want, string(withoutUsage([]byte(in)))); diff != "" {
		t.Errorf("withoutUsage (-want +got)\n%s", diff)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := legible.Grouped(n); got != want {
			t.Errorf("legible.Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}
