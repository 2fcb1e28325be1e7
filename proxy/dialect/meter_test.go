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
	iterated := `"usage":{"input_tokens":2,"output_tokens":2,"iterations":[{"model":"a","input_tokens":1,"output_tokens":1},{"cache_creation":{"ephemeral_1h_input_tokens":3},"input_tokens":1,"output_tokens":1}]}}`
	f.Add([]byte(`{`+iterated), false, uint8(30))
	f.Add([]byte("data: {\"type\":\"message_delta\","+iterated+"\n\n"), true, uint8(30))
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
