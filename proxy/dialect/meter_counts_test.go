package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

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
