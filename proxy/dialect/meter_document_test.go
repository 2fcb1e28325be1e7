package dialect

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
	if got := m.Report(); !reflect.DeepEqual(got, Report{Blind: true}) {
		t.Errorf("report = %+v, want a blind one", got)
	}
	if n := cap(m.(*documentMeter).body); n > 0 {
		t.Errorf("%d bytes kept, want none", n)
	}
}
