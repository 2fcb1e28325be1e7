package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// told is a usage without writes.
func told(fresh, read, output int64) usage.Usage {
	return usage.Usage{Fresh: usage.Of(fresh), CacheRead: usage.Of(read), WriteOther: usage.Of(0), Output: usage.Of(output)}
}

// ran is an iteration as a provider writes it.
func ran(more string, fresh, read, output int64) string {
	return fmt.Sprintf(`{%s,"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":0,"output_tokens":%d}`, more, fresh, read, output)
}

// TestI11_Iterations: what a compaction took and what other models took is in no
// total of the provider's, and is billed.
func TestI11_Iterations(t *testing.T) {
	message, compaction, advisor := `"type":"message"`, `"type":"compaction"`, `"type":"advisor_message","model":"claude-opus-5-5"`
	for _, c := range []struct {
		name  string
		total usage.Usage // as the provider says
		list  string
		want  usage.Usage
		runs  []usage.Iteration
	}{
		{"none", told(10, 20, 5), `null`, told(10, 20, 5), nil},
		{"an empty list", told(10, 20, 5), `[]`, told(10, 20, 5), nil},
		{"no list", told(10, 20, 5), `{"a":1}`, told(10, 20, 5), nil},
		{"one", told(10, 20, 5), `[` + ran(message, 10, 20, 5) + `]`, told(10, 20, 5), nil},
		{"a compaction", told(23_000, 0, 1000), `[` + ran(compaction, 4000, 176_000, 3500) + `,` + ran(message, 23_000, 0, 1000) + `]`,
			told(27_000, 176_000, 4500), []usage.Iteration{{Usage: told(4000, 176_000, 3500)}, {Usage: told(23_000, 0, 1000)}}},
		{"an advisor", told(400, 0, 500), `[` + ran(message, 400, 0, 90) + `,` + ran(advisor, 800, 0, 1600) + `,` + ran(message+`,"model":"claude-sonnet-5"`, 1300, 400, 410) + `]`,
			told(2500, 400, 2100), []usage.Iteration{{Usage: told(400, 0, 90)}, {Model: "claude-opus-5-5", Usage: told(800, 0, 1600)}, {Usage: told(1300, 400, 410)}}},
		// A list that has less of anything than the totals is not of everything.
		{"a part of the fresh", told(23_000, 0, 0), `[` + ran(message, 400, 0, 90) + `,` + ran(message, 400, 0, 90) + `]`, told(23_000, 0, 0), nil},
		{"a part of the reads", told(0, 9, 0), `[` + ran(message, 400, 0, 90) + `,` + ran(message, 400, 8, 90) + `]`, told(0, 9, 0), nil},
		{"a part of the output", told(0, 0, 1000), `[` + ran(message, 400, 0, 90) + `,` + ran(message, 400, 0, 90) + `]`, told(0, 0, 1000), nil},
		{"strangers", told(10, 20, 5), `[1,"x",null]`, told(10, 20, 5), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := strings.TrimSuffix(ran(`"x":0`, c.total.Fresh.N, c.total.CacheRead.N, c.total.Output.N), "}") + `,"iterations":` + c.list + `}`
			whole, stream := newAnthropicMeter(Turn, false), newAnthropicMeter(Turn, true)
			feed(whole, `{"model":"claude-sonnet-5","usage":`+u+`}`)
			feed(stream, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-sonnet-5\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1,\"iterations\":["+ran(message, 1, 0, 1)+"]}}}\n\n",
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":"+u+"}\n\n")
			for how, m := range map[string]Meter{"whole": whole, "streamed": stream} {
				r := m.Report()
				if d := cmp.Diff(c.want, r.Usage); d != "" {
					t.Errorf("%s, usage (-want +got):\n%s", how, d)
				}
				if d := cmp.Diff(c.runs, r.Iterations); d != "" {
					t.Errorf("%s, iterations (-want +got):\n%s", how, d)
				}
			}
		})
	}
}

// TestI11_IterationsByLifetime: what each run wrote counts by its lifetime; thinking
// is told of the whole answer only. One count that cannot be true spoils the sum.
func TestI11_IterationsByLifetime(t *testing.T) {
	f := func(second string, want usage.Usage) {
		t.Helper()
		m := newAnthropicMeter(Turn, false)
		feed(m, `{"usage":{"input_tokens":2,"cache_creation_input_tokens":70,"output_tokens":8,"output_tokens_details":{"thinking_tokens":3},"iterations":[`+
			`{"input_tokens":1,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_5m_input_tokens":50},"output_tokens":4},`+second+`]}}`)
		if d := cmp.Diff(want, m.Report().Usage); d != "" {
			t.Errorf("second run %s (-want +got):\n%s", second, d)
		}
	}
	want := usage.Usage{Fresh: usage.Of(2), Write5m: usage.Of(50), Write1h: usage.Of(20), Output: usage.Of(8), Reasoning: usage.Of(3)}
	f(`{"input_tokens":1,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_1h_input_tokens":20},"output_tokens":4}`, want)
	want.Odd, want.CacheRead = true, usage.Count{}
	f(`{"input_tokens":1,"cache_read_input_tokens":-1,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_1h_input_tokens":20},"output_tokens":4}`, want)
}

// TestI10_IterationsAreBounded: of more than can be kept nothing is believed.
func TestI10_IterationsAreBounded(t *testing.T) {
	m := newAnthropicMeter(Turn, false)
	one := ran(`"type":"message"`, 1, 0, 1)
	feed(m, `{"usage":{"input_tokens":1,"output_tokens":1,"iterations":[`+one+strings.Repeat(","+one, maxIterations)+`]}}`)
	if r := m.Report(); !r.Usage.Odd || len(r.Iterations) > maxIterations {
		t.Errorf("%d iterations, odd %v; want %d at most, and odd", len(r.Iterations), r.Usage.Odd, maxIterations)
	}
}

// TestI11_OddUsage: a count that cannot be true is told as such, in all dialects,
// and what is merely not reported is not.
func TestI11_OddUsage(t *testing.T) {
	f := func(dialect, answer string, want bool) {
		t.Helper()
		m := meters[dialect](Turn, false)
		feed(m, answer)
		if u := m.Report().Usage; u.Odd != want {
			t.Errorf("%s %s: odd is %v, want %v", dialect, answer, u.Odd, want)
		}
	}
	f("anthropic", `{"usage":{"input_tokens":1,"output_tokens":1}}`, false)
	f("anthropic", `{"usage":{"output_tokens":1}}`, false)
	f("anthropic", `{"usage":{"input_tokens":"1","output_tokens":1.5}}`, false)
	f("anthropic", `{"usage":{"input_tokens":-1,"output_tokens":1}}`, true)
	f("anthropic", `{"usage":{"input_tokens":9007199254740993,"output_tokens":1}}`, true)
	f("anthropic", `{"usage":{"input_tokens":1,"output_tokens":3,"output_tokens_details":{"thinking_tokens":4}}}`, true)
	f("anthropic", `{"usage":{"input_tokens":1,"output_tokens":3,"cache_creation_input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":4}}}`, true)
	f("chat", `{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":20}}}`, false)
	f("chat", `{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":21}}}`, true)
	f("chat", `{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":2}}}`, true)
	f("responses", `{"object":"response","usage":{"input_tokens":20,"output_tokens":1,"input_tokens_details":{"cached_tokens":10,"cache_write_tokens":11}}}`, true)
	f("responses", `{"object":"response","usage":{"input_tokens":20,"output_tokens":1,"input_tokens_details":{"cached_tokens":-1}}}`, true)
	f("responses", `{"object":"response","usage":{"input_tokens":20,"output_tokens":1}}`, false)
}
