package dialect

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A recording is one file of testdata/streams: a stream, the same answer as a
// document, what a client sees that did not ask for usage, and the report.
type recording struct {
	name, stream, answer, relayed, report string
}

func recordings(t testing.TB) []recording {
	paths, err := filepath.Glob("testdata/streams/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings in testdata/streams: %v", err)
	}
	var all []recording
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := recording{name: strings.TrimSuffix(filepath.Base(path), ".txtar")}
		for _, f := range archive.Files {
			field := map[string]*string{"stream": &r.stream, "answer": &r.answer, "relayed": &r.relayed, "report": &r.report}[f.Name]
			if field == nil {
				t.Fatalf("%s: unknown file %s", path, f.Name)
			}
			*field = string(f.Data)
		}
		all = append(all, r)
	}
	return all
}

func (r recording) meter(ep Endpoint, stream bool) Meter {
	name, _, _ := strings.Cut(r.name, "_")
	return meters[name](ep, stream)
}

var meters = map[string]func(Endpoint, bool) Meter{
	"anthropic": newAnthropicMeter,
	"chat":      newChatMeter,
	"responses": newResponsesMeter,
}

// show renders a report as the recordings have it: what is known, a line each.
func show(r Report) string {
	var b strings.Builder
	text := func(name, value string) {
		if value != "" {
			fmt.Fprintln(&b, name, value)
		}
	}
	flag := func(name string, set bool) {
		if set {
			fmt.Fprintln(&b, name)
		}
	}
	count := func(name string, c usage.Count) {
		if c.Known {
			fmt.Fprintln(&b, name, c.N)
		}
	}
	text("id", r.ID)
	text("model", r.Model)
	text("stop", r.StopReason)
	flag("terminal", r.Terminal)
	text("error", r.Error)
	flag("blind", r.Blind)
	count("fresh", r.Usage.Fresh)
	count("read", r.Usage.CacheRead)
	count("write5m", r.Usage.Write5m)
	count("write1h", r.Usage.Write1h)
	count("write30m", r.Usage.Write30m)
	count("other", r.Usage.WriteOther)
	count("unsplit", r.Usage.Unsplit)
	count("output", r.Usage.Output)
	count("reasoning", r.Usage.Reasoning)
	return b.String()
}

// feed gives m the chunks, each in a buffer that is overwritten afterwards.
func feed(m Meter, chunks ...string) {
	for _, c := range chunks {
		p := []byte(c)
		m.Write(p)
		clear(p)
	}
}

// bytesOf cuts between all bytes, so inside characters too.
func bytesOf(s string) []string {
	chunks := make([]string, len(s))
	for i := range len(s) {
		chunks[i] = s[i : i+1]
	}
	return chunks
}

// chunksOf draws a way to cut s.
func chunksOf(t *rapid.T, s string) []string {
	var chunks []string
	for len(s) > 0 {
		n := rapid.IntRange(1, min(len(s), 300)).Draw(t, "chunk")
		chunks, s = append(chunks, s[:n]), s[n:]
	}
	return chunks
}

func TestStreams(t *testing.T) {
	for _, r := range recordings(t) {
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			stream := strings.ReplaceAll(r.stream, "\n", eol)
			for _, chunks := range [][]string{{stream}, bytesOf(stream)} {
				m := r.meter(Turn, true)
				feed(m, chunks...)
				if diff := cmp.Diff(r.report, show(m.Report())); diff != "" {
					t.Errorf("%s with %q in %d chunks (-want +got):\n%s", r.name, eol, len(chunks), diff)
				}
			}
		}
	}
}

func TestStreamsInAnyChunks(t *testing.T) {
	all := recordings(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(all).Draw(t, "recording")
		m := r.meter(Turn, true)
		feed(m, chunksOf(t, r.stream)...)
		if diff := cmp.Diff(r.report, show(m.Report())); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", r.name, diff)
		}
	})
}

func TestCaseD6_StreamAndDocumentAgree(t *testing.T) {
	for _, r := range recordings(t) {
		if r.answer == "" {
			continue
		}
		for _, chunks := range [][]string{{r.answer}, bytesOf(r.answer)} {
			m := r.meter(Turn, false)
			feed(m, chunks...)
			if diff := cmp.Diff(r.report, show(m.Report())); diff != "" {
				t.Errorf("%s as a document in %d chunks (-want +got):\n%s", r.name, len(chunks), diff)
			}
		}
	}
}

// A stream that was cut anywhere is not taken for one that ended, and one whose
// last event has come whole is, whether or not the connection ends then.
func TestCaseF1_CutIsNotTerminal(t *testing.T) {
	for _, r := range recordings(t) {
		ends := strings.Contains(r.report, "terminal")
		m := r.meter(Turn, true)
		for i, b := range bytesOf(r.stream) {
			if m.Report().Terminal {
				t.Fatalf("%s is terminal after %d of %d bytes", r.name, i, len(r.stream))
			}
			feed(m, b)
		}
		if got := m.Report().Terminal; got != ends {
			t.Errorf("%s: terminal at its end = %v, want %v", r.name, got, ends)
		}
	}
}

func TestCaseF1_CutDocumentIsNotTerminal(t *testing.T) {
	for _, r := range recordings(t) {
		whole := strings.TrimRight(r.answer, "\n")
		for i := range len(whole) {
			m := r.meter(Turn, false)
			feed(m, whole[:i])
			if got := show(m.Report()); got != "" {
				t.Fatalf("%s after %d of %d bytes reports %q, want nothing", r.name, i, len(whole), got)
			}
		}
	}
}

// Numbers that are none leave their class unknown, and others known.
func TestI11_OnlyWholeNumbersCount(t *testing.T) {
	f := func(number string, want usage.Count) {
		t.Helper()
		m := newAnthropicMeter(Turn, false)
		feed(m, `{"usage":{"input_tokens":5,"output_tokens":`+number+`}}`)
		u := m.Report().Usage
		if u.Output != want || u.Fresh != usage.Of(5) {
			t.Errorf("output %s, input 5 = %v, %v, want %v, 5", number, u.Output, u.Fresh, want)
		}
	}
	f("0", usage.Of(0))
	f("9007199254740992", usage.Of(1<<53))
	for _, no := range []string{"null", "-1", "1.0", "1e3", "9007199254740993", "99999999999999999999", `"7"`, "true", "{}", "[]"} {
		f(no, usage.Count{})
	}
}

func TestCaseD1_WritesAreNotFreshToo(t *testing.T) {
	m := newAnthropicMeter(Turn, false)
	feed(m, `{"usage":{"input_tokens":3,"cache_creation_input_tokens":12304,"cache_read_input_tokens":0,"output_tokens":550}}`)
	u := m.Report().Usage
	if u.Fresh != usage.Of(3) || u.Written() != usage.Of(12304) || u.Input() != usage.Of(12307) || u.Total() != usage.Of(12857) {
		t.Errorf("usage = %+v, want 3 fresh, 12304 written, 12307 input, 12857 in all", u)
	}
}

// What the provider did not report is unknown in every class, not 0.
func TestCaseD7_AbsentIsNotZero(t *testing.T) {
	f := func(dialect, answer, want string) {
		t.Helper()
		m := meters[dialect](Turn, false)
		feed(m, answer)
		if diff := cmp.Diff("terminal\n"+want, show(m.Report())); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", dialect, answer, diff)
		}
	}
	f("anthropic", `{"usage":{}}`, "")
	f("anthropic", `{"usage":{"input_tokens":1}}`, "fresh 1\n")
	f("anthropic", `{"usage":{"cache_read_input_tokens":0}}`, "read 0\n")
	f("anthropic", `{"usage":{"cache_creation":{"ephemeral_1h_input_tokens":4}}}`, "write1h 4\n")
	f("anthropic", `{"usage":{"cache_creation_input_tokens":4,"cache_creation":{"ephemeral_1h_input_tokens":4}}}`, "write1h 4\n")
	// Parts above the total: the total is kept, the parts are not believed.
	f("anthropic", `{"usage":{"cache_creation_input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":4}}}`, "other 3\n")
	f("anthropic", `{"usage":{"output_tokens":3,"output_tokens_details":{"thinking_tokens":4}}}`, "output 3\n")

	for dialect, names := range map[string][4]string{
		"chat":      {"prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details"},
		"responses": {"input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"},
	} {
		g := func(in, out, inDetails, outDetails, want string) {
			t.Helper()
			var members []string
			for i, v := range []string{in, out, inDetails, outDetails} {
				if v != "" {
					members = append(members, fmt.Sprintf("%q:%s", names[i], v))
				}
			}
			f(dialect, `{"usage":{`+strings.Join(members, ",")+`}}`, want)
		}
		f(dialect, `{"usage":null}`, "")
		g("", "", "", "", "")
		g("9", "2", "", "", "unsplit 9\noutput 2\n")
		g("9", "2", "null", "null", "unsplit 9\noutput 2\n")
		g("9", "2", "{}", "{}", "unsplit 9\noutput 2\n")
		g("9", "2", `{"cached_tokens":null}`, "", "unsplit 9\noutput 2\n")
		g("9", "2", `{"cached_tokens":0}`, "", "fresh 9\nread 0\noutput 2\n")
		g("9", "2", `{"cached_tokens":4}`, "", "fresh 5\nread 4\noutput 2\n")
		g("9", "2", `{"cached_tokens":4,"cache_write_tokens":0}`, "", "fresh 5\nread 4\nother 0\noutput 2\n")
		g("9", "2", `{"cache_write_tokens":3}`, "", "other 3\nunsplit 6\noutput 2\n")
		g("", "2", `{"cached_tokens":4}`, "", "read 4\noutput 2\n")
		g("9", "2", "", `{"reasoning_tokens":2}`, "unsplit 9\noutput 2\nreasoning 2\n")
		// Parts above the total leave the rest unknown.
		g("9", "2", `{"cached_tokens":10}`, "", "read 10\noutput 2\n")
		g("9", "2", `{"cached_tokens":8,"cache_write_tokens":2}`, "", "read 8\nother 2\noutput 2\n")
		g("9", "2", "", `{"reasoning_tokens":3}`, "unsplit 9\noutput 2\n")
	}
}

// The same answer of one model over the paths of two dialects: one host reports
// its reads on one path only. That is "not reported" on the other, not a miss.
func TestCaseD11_UnreportedReadsAreNoMiss(t *testing.T) {
	chat, messages := newChatMeter(Turn, false), newAnthropicMeter(Turn, false)
	feed(chat, `{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":5}}`)
	feed(messages, `{"usage":{"input_tokens":20,"cache_read_input_tokens":980,"output_tokens":5}}`)
	a, b := chat.Report().Usage, messages.Report().Usage
	if a.CacheRead.Known || a.Fresh.Known {
		t.Errorf("chat usage = %+v, want reads and fresh unknown", a)
	}
	if a.Input() != b.Input() {
		t.Errorf("input = %v over chat, %v over messages, want the same", a.Input(), b.Input())
	}
}

func TestCaseD9_UsageNotAskedFor(t *testing.T) {
	m := newChatMeter(Turn, true)
	feed(m, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	if r := m.Report(); r.Usage.Reported() || !r.Terminal {
		t.Errorf("report = %+v, want an end and no usage", r)
	}
}

func TestDocuments(t *testing.T) {
	f := func(dialect string, ep Endpoint, body, want string) {
		t.Helper()
		m := meters[dialect](ep, false)
		feed(m, body)
		if diff := cmp.Diff(want, show(m.Report())); diff != "" {
			t.Errorf("%s %.80q (-want +got):\n%s", dialect, body, diff)
		}
	}
	for dialect := range meters {
		f(dialect, Turn, "", "")
		f(dialect, Turn, "<html>bad gateway</html>", "")
		f(dialect, Turn, "[{}]", "terminal\n")
		f(dialect, Turn, `{"usage":7,"error":null,"choices":{},"id":1}`, "terminal\n")
		f(dialect, Turn, `{"id":"a","id":"b"}`, "terminal\n") // whole, and not believed
		f(dialect, Turn, `{"error":{"type":"invalid_request_error","code":"x"}}`, "terminal\nerror invalid_request_error\n")
		f(dialect, Turn, `{"error":{"type":null,"code":"context_length_exceeded"}}`, "terminal\nerror context_length_exceeded\n")
		f(dialect, Turn, `{"error":{"message":"m","code":429}}`, "terminal\nerror error\n")
		f(dialect, Turn, `{"error":"model not found"}`, "terminal\nerror model not found\n")
		f(dialect, Turn, `{"id":"`+strings.Repeat("é", maxLabel)+`"}`, "id "+strings.Repeat("é", maxLabel/2)+"\nterminal\n")
	}
	f("anthropic", Count, `{"input_tokens":2095}`, "terminal\n")
	f("responses", Count, `{"object":"response.input_tokens","input_tokens":11}`, "terminal\n")
	f("anthropic", Count, `{"type":"error","error":{"type":"not_found_error"}}`, "terminal\nerror not_found_error\n")
	f("responses", Compact, `{"id":"resp_5","output":[],"usage":{"input_tokens":8,"input_tokens_details":{"cached_tokens":0},"output_tokens":2}}`,
		"id resp_5\nterminal\nfresh 8\nread 0\noutput 2\n")
	f("responses", Turn, `{"id":"resp_6","status":"queued","usage":null}`, "id resp_6\nterminal\n")
}

// Report may be asked for before the end, and knows what came since.
func TestReportSoFar(t *testing.T) {
	m := newAnthropicMeter(Turn, false)
	feed(m, `{"id":"a"`)
	first := show(m.Report())
	feed(m, `}`)
	if got := first + "|" + show(m.Report()); got != "|id a\nterminal\n" {
		t.Errorf("reports = %q, want nothing and then the id", got)
	}
}

func TestI10_TooLargeDocumentIsBlind(t *testing.T) {
	m := newChatMeter(Turn, false)
	for range maxAnswer>>20 + 1 {
		m.Write(make([]byte, 1<<20))
	}
	if got := m.Report(); got != (Report{Blind: true}) {
		t.Errorf("report = %+v, want a blind one", got)
	}
	if n := cap(m.(*documentMeter).body); n > 0 {
		t.Errorf("%d bytes kept, want none", n)
	}
}

// The event that ends a response may be too large to be read; it ends it still.
func TestI8_TooLargeEndIsAnEnd(t *testing.T) {
	m := newResponsesMeter(Turn, true)
	feed(m, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":\"")
	chunk := strings.Repeat("x", 1<<20)
	for range maxAnswer>>20 + 1 {
		feed(m, chunk)
	}
	feed(m, "\"}}\n")
	before := m.Report().Terminal
	feed(m, "\n")
	if got := show(m.Report()); before || got != "terminal\n" {
		t.Errorf("terminal before its end = %v, report = %q, want an end and nothing more", before, got)
	}
}

// The last event of a response is as large as the answer, which as a document
// would be read.
func TestCaseD6_LargeEndIsRead(t *testing.T) {
	response := `{"id":"r","output":"` + strings.Repeat("x", 3<<20) + `","usage":{"input_tokens":5}}`
	m, doc := newResponsesMeter(Turn, true), newResponsesMeter(Turn, false)
	feed(m, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":", response, "}\n\n")
	feed(doc, response)
	if a, b := show(m.Report()), show(doc.Report()); a != b || a != "id r\nterminal\nunsplit 5\n" {
		t.Errorf("reports = %q of a stream, %q of a document, want the usage", a, b)
	}
}

func FuzzMeters(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add([]byte(r.stream), true, uint8(len(r.stream)%251))
		f.Add([]byte(r.answer), false, uint8(7))
	}
	f.Fuzz(func(t *testing.T, body []byte, stream bool, size uint8) {
		if len(body) > 1<<14 {
			return
		}
		for name, meter := range meters {
			whole, parts := meter(Turn, stream), meter(Turn, stream)
			whole.Write(body)
			for rest := body; len(rest) > 0; {
				n := min(len(rest), int(size)+1)
				parts.Write(rest[:n])
				rest = rest[n:]
			}
			a, b := whole.Report(), parts.Report()
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("%s meter of %q in parts of %d (-whole +parts):\n%s", name, body, size+1, diff)
			}
			for _, c := range []usage.Count{a.Usage.Fresh, a.Usage.CacheRead, a.Usage.Written(), a.Usage.Unsplit, a.Usage.Output, a.Usage.Reasoning} {
				if c.N < 0 || !c.Known && c.N != 0 {
					t.Errorf("%s meter of %q: usage %+v has a negative or an unknown number", name, body, a.Usage)
				}
			}
		}
	})
}
