package proxy

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// asksVerdicts has the bench's provider asked.
func asksVerdicts(b *bench, s *Setup, d *Deps, o *prefixstore.Options) {
	priced(b, s, d, o)
	s.Config.Usage.Verdict = VerdictAsk
	s.Config.Usage.VerdictHosts = []string{strings.TrimPrefix(b.up.URL(), "http://")}
}

// withTool adds a tool in front of everything.
func withTool(body string) string {
	return strings.Replace(body, "{", `{"tools":[{"type":"function","name":"late","description":"comes late","input_schema":{"type":"object"},"parameters":{"type":"object"}}],`, 1)
}

// question finds what was asked in a body that was sent, with its id.
var questionIn = regexp.MustCompile(`"(?:previous_message_id|comparison_response_id)":(?:"([^"]+)"|null)`)

// TestVerdict: the provider is asked about the answer before, in a splice of its
// own, and what it says of a tool that is added late stands beside what we say;
// both agree. Chat has no such question.
func TestVerdict(t *testing.T) {
	for name, talk := range talks() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " stream ", stream), func(t *testing.T) {
				b := newBench(t, asksVerdicts)
				bodies := []string{talk.body(1, stream), talk.body(2, stream), withTool(talk.body(3, stream))}
				ids := []string{""}
				for i, body := range bodies {
					if r := b.post(talk.path, body, "x-session-id", "s", "anthropic-beta", "other-2026-01-01"); r.StatusCode != 200 {
						t.Fatalf("turn %d: status %d: %s", i+1, r.StatusCode, r.body)
					}
					b.asked(t, name, body, i, ids[i])
					ids = append(ids, b.responses()[i].ResponseID)
				}
				b.verify()
				said, want := "", map[string]string{"anthropic": "tools_changed", "openai-responses": "tools_changed"}[name]
				if c := b.responses()[2].Cause; c != nil && name != "openai-chat" {
					said = c.Provider
				}
				if said != want {
					t.Errorf("beside %+v the provider says %q, want %q", b.responses()[2].Cause, said, want)
				}
				if line := fmt.Sprintf("preface_verdicts_total{agrees=\"yes\",dialect=%q} 2\n", name); strings.Contains(b.metrics(), line) != (want != "") {
					t.Errorf("%s in the metrics is not %v", line, want != "")
				}
				if m := b.metrics(); strings.Contains(m, `agrees="no"`) || strings.Contains(m, `agrees="incomparable"`) {
					t.Error("a verdict disagrees, or the first answer's null is taken for one")
				}
			})
		}
	}
}

// asked checks what was sent of a body: the question about the answer with an id,
// and the client's bytes.
func (b *bench) asked(t *testing.T, name, client string, i int, id string) {
	t.Helper()
	sent, reqs := b.last(), b.requests()
	kinds := 0
	for _, s := range reqs[i].Splices {
		if s.Kind == dialect.KindVerdict {
			kinds++
		}
	}
	m := questionIn.FindSubmatch(sent.Body)
	wanted := name == "anthropic" || name == "openai-responses" && id != ""
	if (m != nil) != wanted || m != nil && string(m[1]) != id || kinds == 1 != wanted {
		t.Errorf("turn %d asks %q in %d splices, want about %q: %v", i+1, m, kinds, id, wanted)
	}
	if back := cut(sent.Body, reqs[i].Splices); string(back) != client {
		t.Errorf("turn %d without the inserted ranges = %s, want %s", i+1, back, client)
	}
	want := "other-2026-01-01"
	if name == "anthropic" {
		want += ",cache-diagnosis-2026-04-07"
	}
	for _, f := range sent.Header {
		if strings.EqualFold(f.Name, "anthropic-beta") && f.Value != want {
			t.Errorf("turn %d has the betas %q, want %q", i+1, f.Value, want)
		}
	}
}

// TestVerdictOfClient: a client that asks itself is left alone, and what it is
// told stands in the log; a host that is not listed is not asked.
func TestVerdictOfClient(t *testing.T) {
	b := newBench(t, asksVerdicts)
	talk := talks()["anthropic"]
	own := func(turn int, id string) string {
		return strings.Replace(talk.body(turn, false), "{", `{"diagnostics":{"previous_message_id":`+id+`},`, 1)
	}
	beta := []string{"x-session-id", "s", "anthropic-beta", "cache-diagnosis-2026-04-07"}
	b.post(talk.path, own(1, "null"), beta...)
	b.post(talk.path, own(2, `"`+b.responses()[0].ResponseID+`"`), beta...)
	b.post(talk.path, withTool(own(3, `"`+b.responses()[1].ResponseID+`"`)), beta...)
	for i, r := range b.requests() {
		if len(r.Splices) != 1 || r.Splices[0].Kind != kindPrefix {
			t.Errorf("request %d has the splices %+v, want the prefix alone", i+1, r.Splices)
		}
	}
	if c := b.responses()[2].Cause; c == nil || c.Provider != "tools_changed" {
		t.Errorf("the cause is %+v, want the provider's word beside it", c)
	}
	if !strings.Contains(b.metrics(), `preface_verdicts_total{agrees="yes",dialect="anthropic"} 2`) {
		t.Error("the client's question is not counted")
	}

	elsewhere := newBench(t, asksVerdicts, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config.Usage.VerdictHosts = nil })
	elsewhere.post(talk.path, talk.body(1, false), "x-session-id", "s")
	if strings.Contains(string(elsewhere.last().Body), "diagnostics") {
		t.Error("a host that may not know the question was asked")
	}
}

// TestVerdictIsOff by default, and for side requests and subscriptions.
func TestVerdictIsOff(t *testing.T) {
	talk := talks()["anthropic"]
	side := strings.NewReplacer(`"max_tokens":500`, `"max_tokens":40`).Replace(talk.body(1, false))
	for name, c := range map[string]struct {
		set    setupFunc
		body   string
		header string
	}{
		"default":      {priced, talk.body(1, false), "x-a"},
		"side":         {asksVerdicts, side, "x-a"},
		"subscription": {asksVerdicts, talk.body(1, false), "authorization"},
	} {
		b := newBench(t, c.set)
		b.post(talk.path, c.body, "x-session-id", "s", c.header, "Bearer sk-ant-oat01-x")
		if body := string(b.last().Body); strings.Contains(body, "diagnostics") || strings.Contains(string(b.last().Head), "cache-diagnosis") {
			t.Errorf("%s asks for a verdict: %s", name, body)
		}
	}
}

// TestVerdictRefused: a thread whose request is refused as invalid asks no more,
// and after three such threads the upstream is not asked.
func TestVerdictRefused(t *testing.T) {
	b := newBench(t, asksVerdicts)
	talk := talks()["anthropic"]
	asks := func(session, fault string) bool {
		b.try(talk.path, talk.body(1, false), "x-session-id", session, "x-provider-fault", fault)
		return strings.Contains(string(b.last().Body), "diagnostics")
	}
	if !asks("a", "status=400") || asks("a", "") || !asks("b", "status=529") || !asks("b", "") {
		t.Error("a thread asks on after a 400, or not after a 529")
	}
	for _, session := range []string{"c", "d", "e"} {
		if !asks(session, "status=400") {
			t.Errorf("session %s does not ask", session)
		}
	}
	if asks("f", "") || !strings.Contains(b.out.String(), "asked no more") {
		t.Error("after three refusals the upstream is asked on, or nothing is logged")
	}
	b.verify()
}

// TestVerdictOverRestart: after a restart a thread goes on asking if it did, with
// no answer to ask about at first; one that began without does not begin.
func TestVerdictOverRestart(t *testing.T) {
	b := newBench(t, asksVerdicts)
	talk := talks()["anthropic"]
	b.post(talk.path, talk.body(1, false), "x-session-id", "asks")
	b.stop()
	b.start(priced)
	b.post(talk.path, talk.body(1, false), "x-session-id", "never")
	b.stop()
	b.start(asksVerdicts)
	for _, c := range []struct {
		session string
		turn    int
		want    string
	}{{"asks", 2, `{"diagnostics":{"previous_message_id":null},`}, {"asks", 3, `{"diagnostics":{"previous_message_id":"msg_`}, {"never", 2, `{"model"`}} {
		b.post(talk.path, talk.body(c.turn, false), "x-session-id", c.session)
		if body := string(b.last().Body); !strings.HasPrefix(body, c.want) {
			t.Errorf("turn %d of %s begins %.60s, want %s", c.turn, c.session, body, c.want)
		}
	}
	b.verify()
}

// TestVerdictOfThreadThatOthersOpen: a request for a title or a count that comes
// first, or last before a restart, changes nothing about whether the turns ask.
func TestVerdictOfThreadThatOthersOpen(t *testing.T) {
	talk := talks()["anthropic"]
	for name, other := range map[string]struct{ path, body string }{
		"side":  {talk.path, strings.Replace(talk.body(1, false), `"max_tokens":500`, `"max_tokens":40`, 1)},
		"count": {talk.path + "/count_tokens", talk.body(1, false)},
	} {
		b := newBench(t, asksVerdicts)
		for turn := 1; turn < 4; turn++ {
			b.post(other.path, other.body, "x-session-id", "s")
			if turn == 3 {
				b.stop()
				b.start(asksVerdicts)
			}
			b.post(talk.path, talk.body(turn, false), "x-session-id", "s")
			if body := string(b.last().Body); !strings.HasPrefix(body, `{"diagnostics":`) {
				t.Errorf("%s: turn %d begins %.40s, want a question", name, turn, body)
			}
		}
		b.verify()
	}
}

// An answer of another host or account, or one that is too old, is not asked
// about; and a late answer does not take the place of a newer one.
func TestVerdictAsksAboutItsOwn(t *testing.T) {
	now := time.Now()
	old := answered{id: "msg_1", request: "r1", host: "h", account: "a", start: now}
	for want, q := range map[string]answered{
		"msg_1": {host: "h", account: "a", start: now.Add(maxVerdictAge)},
		"host":  {host: "i", account: "a", start: now},
		"other": {host: "h", account: "b", start: now},
		"late":  {host: "h", account: "a", start: now.Add(maxVerdictAge + time.Second)},
	} {
		var th thread
		th.answeredBy(old)
		if got, ok := th.asksAbout(q, true); !ok || (got.id == "msg_1") != (want == "msg_1") {
			t.Errorf("%s: asked about %+v, %v", want, got, ok)
		}
	}
	var th thread
	th.answeredBy(old)
	th.answeredBy(answered{id: "msg_0", start: now.Add(-time.Second)})
	if th.answerTo("msg_1") != "r1" || th.answerTo("msg_0") != "" {
		t.Errorf("the last answer is %+v, want msg_1", th.answered)
	}
	if explain.NoDifference != dialect.NoDifference {
		t.Error("the meters and explain have two words for no difference")
	}
}
