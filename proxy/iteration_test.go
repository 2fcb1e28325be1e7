package proxy

import (
	"fmt"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// billed is the record of an answer to one turn, given by a provider with a body
// of JSON.
func billed(t *testing.T, answer string) *logsink.Response {
	t.Helper()
	raw := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
	b := newBench(t, answering(t, raw, true), priced)
	b.post("/v1/messages", anthropicTurn)
	all := b.responses()
	if len(all) != 1 {
		t.Fatalf("%d answers are recorded, want 1", len(all))
	}
	return all[0]
}

// TestI11_IterationsAreBilled: an answer for which the history was compacted and
// another model was asked costs what the three runs cost, each at its own price.
func TestI11_IterationsAreBilled(t *testing.T) {
	r := billed(t, `{"id":"m","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":"end_turn","usage":{
		"input_tokens":23000,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1000,"iterations":[
		{"type":"compaction","input_tokens":4000,"cache_read_input_tokens":176000,"cache_creation_input_tokens":0,"output_tokens":3500},
		{"type":"message","input_tokens":23000,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1000},
		{"type":"advisor_message","model":"gpt-6-sol","input_tokens":800,"cache_read_input_tokens":0,"output_tokens":1600}]}}`)
	const picodollars = 27_000*4_000_000 + 176_000*200_000 + 4500*20_000_000 + 800*2_000_000 + 1600*10_000_000
	if r.Cost == nil || r.Cost.Paid != picodollars {
		t.Errorf("cost %+v (unpriced %q), want %d paid", r.Cost, r.Unpriced, picodollars)
	}
	if u := r.Usage; *u.Fresh != 27_800 || *u.CacheRead != 176_000 || *u.Output != 6100 {
		t.Errorf("usage: fresh %d, read %d, output %d; want 27800, 176000, 6100", *u.Fresh, *u.CacheRead, *u.Output)
	}
	if n := len(r.Iterations); n != 3 || r.Iterations[2].Model != "gpt-6-sol" || *r.Iterations[2].Usage.Output != 1600 {
		t.Errorf("%d iterations are recorded: %+v", n, r.Iterations)
	}
}

// TestIterationsAreExplainedByTheFirst: the first run reads what was sent; what the
// provider reads in later ones of what it wrote itself makes up for nothing.
func TestIterationsAreExplainedByTheFirst(t *testing.T) {
	const answer = `{"id":"m","type":"message","model":"claude-opus-5-5","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":9000,"cache_creation_input_tokens":14000,"output_tokens":20,"iterations":[
		{"type":"message","input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":5000,"cache_creation":{"ephemeral_1h_input_tokens":5000},"output_tokens":10},
		{"type":"message","input_tokens":10,"cache_read_input_tokens":9000,"cache_creation_input_tokens":9000,"cache_creation":{"ephemeral_5m_input_tokens":9000},"output_tokens":10}]}}`
	raw := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
	b := newBench(t, answering(t, raw, true), priced)
	talk := talks()["anthropic"]
	for turn := 1; turn <= 2; turn++ {
		b.post(talk.path, talk.body(turn, false), "x-session-id", "s")
		eventually(t, "the answer is recorded", func() bool { return len(b.responses()) == turn })
	}
	r := b.responses()[1]
	if r.Cause == nil || r.Cause.Missed != 5000 {
		t.Fatalf("cause %+v, want one: nothing was read of 5000 tokens that the turn before wrote", r.Cause)
	}
	if want := r.Cause.Missed * (8_000_000 - 200_000); r.Cause.Lost != want {
		t.Errorf("%d lost for %d tokens written again for an hour, want %d", r.Cause.Lost, r.Cause.Missed, want)
	}
	var part int64
	for _, rec := range b.records() {
		if q := rec.Request; q != nil && q.ID == r.ID {
			part = 5000 * int64(q.Splices[0].Length) / int64(q.Size)
		}
	}
	if part == 0 || r.Cost.Prefix != part*8_000_000 {
		t.Errorf("the prefix cost %d, want %d tokens written for an hour", r.Cost.Prefix, part)
	}
}

// TestI11_IterationWithoutPrice: what one of the runs cost is not known, so
// neither is what the answer did.
func TestI11_IterationWithoutPrice(t *testing.T) {
	r := billed(t, `{"id":"m","type":"message","model":"claude-opus-5-5","content":[],"usage":{"input_tokens":1,"output_tokens":1,"iterations":[
		{"type":"message","input_tokens":1,"output_tokens":1},{"type":"advisor_message","model":"nobody-knows","input_tokens":1,"output_tokens":1}]}}`)
	if r.Cost != nil || r.Unpriced != usage.NoPrice {
		t.Errorf("cost %+v, unpriced %q; want none, %q", r.Cost, r.Unpriced, usage.NoPrice)
	}
}

// TestI11_OddUsageIsNotPriced: usage that cannot be true is flagged as such.
func TestI11_OddUsageIsNotPriced(t *testing.T) {
	r := billed(t, `{"id":"m","type":"message","model":"claude-opus-5-5","content":[],"usage":{"input_tokens":-7,"cache_read_input_tokens":5,"output_tokens":1}}`)
	if r.Cost != nil || r.Unpriced != usage.Impossible || *r.Usage.CacheRead != 5 || r.Usage.Fresh != nil {
		t.Errorf("cost %+v, unpriced %q, usage %+v; want none, %q, and what can be believed", r.Cost, r.Unpriced, r.Usage, usage.Impossible)
	}
}
