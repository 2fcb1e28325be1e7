package proxy

import (
	"fmt"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// Published sums of other systems that came out wrong (CASES D), from a
// provider's answer to its price. Their models cost 3 and 15 dollars a million, or
// 5 and 25.
func reckon(t *testing.T, name, model, answer string) (usage.Usage, usage.Bill) {
	t.Helper()
	p, err := usage.NewPrices([]usage.Entry{
		{Models: []string{"claude-sonnet-4-5"}, Source: "a test", Date: "2026-10-08", Input: "3", Output: "15", Read: "0.30", Write5m: "3.75", Write1h: "6"},
		{Models: []string{"claude-opus-4-5"}, Source: "a test", Date: "2026-10-08", Input: "5", Output: "25", Read: "0.50", Write5m: "6.25", Write1h: "10"},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := dialect.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	m := d.Meter(dialect.Turn, false)
	m.Write([]byte(answer))
	u := m.Report().Usage
	rate, ok := p.Find(usage.Query{Model: model})
	if !ok {
		t.Fatalf("no price of %s", model)
	}
	return u, rate.Bill(usage.Query{Model: model}, u)
}

func costs(t *testing.T, answer string, got usage.Bill, want string) {
	t.Helper()
	if got.Unpriced != "" || got.Paid.String() != want {
		t.Errorf("%s costs %v %s, want %s", answer, got.Paid, got.Unpriced, want)
	}
}

// Written tokens were charged as input too: $0.0913 for $0.0544.
func TestCaseD1_WritesAreChargedOnce(t *testing.T) {
	const answer = `{"usage":{"input_tokens":3,"cache_creation_input_tokens":12304,"cache_read_input_tokens":0,"output_tokens":550}}`
	_, b := reckon(t, "anthropic", "claude-sonnet-4-5", answer)
	costs(t, answer, b, "$0.054399")
}

// Read tokens were charged as input too. In OpenAI's shape the input holds them.
func TestCaseD2_ReadsAreChargedOnce(t *testing.T) {
	for name, answer := range map[string]string{
		"anthropic":        `{"usage":{"input_tokens":1000,"cache_read_input_tokens":99000,"output_tokens":0}}`,
		"openai-chat":      `{"choices":[],"usage":{"prompt_tokens":100000,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":99000}}}`,
		"openai-responses": `{"object":"response","usage":{"input_tokens":100000,"output_tokens":0,"input_tokens_details":{"cached_tokens":99000}}}`,
	} {
		_, b := reckon(t, name, "claude-sonnet-4-5", answer)
		costs(t, answer, b, "$0.0327")
	}
}

// What was written for an hour was charged as if for five minutes: $305.30 for a
// session that cost $355.66. The report has no counts: the difference is 0.75
// times the input's price for each token written, so 13,429,333 of them at $5 a
// million; the rest of the session is put down as output.
func TestCaseD12_HoursAreChargedAsHours(t *testing.T) {
	const written, output = 13_429_333, 8_854_667
	answer := func(lifetime string) string {
		return fmt.Sprintf(`{"usage":{"input_tokens":0,"cache_creation_input_tokens":%d,"cache_creation":{%q:%d},"output_tokens":%d}}`, written, lifetime, written, output)
	}
	_, hour := reckon(t, "anthropic", "claude-opus-4-5", answer("ephemeral_1h_input_tokens"))
	_, five := reckon(t, "anthropic", "claude-opus-4-5", answer("ephemeral_5m_input_tokens"))
	if h, f := hour.Paid.USD(), five.Paid.USD(); fmt.Sprintf("%.2f %.2f", h, f) != "355.66 305.30" {
		t.Errorf("the session costs $%.2f, and had cost $%.2f with writes for 5m, want $355.66 and $305.30", h, f)
	}
}

// Input was said to be 5 tokens, or was clamped, or counted twice.
func TestCaseD13_InputIncludesTheCache(t *testing.T) {
	u, _ := reckon(t, "anthropic", "claude-sonnet-4-5", `{"usage":{"input_tokens":5,"cache_read_input_tokens":128955,"cache_creation_input_tokens":1253,"output_tokens":7}}`)
	if u.Input() != usage.Of(130_213) || u.Total() != usage.Of(130_220) || u.CacheRead != usage.Of(128_955) || u.Written() != usage.Of(1253) {
		t.Errorf("%+v has input %v, total %v, want 130213 and 130220", u, u.Input(), u.Total())
	}
}

// Over a path of another shape cached tokens went unbilled: the same counts cost
// the same over every path.
func TestCaseD14_ShapesCostTheSame(t *testing.T) {
	for name, answer := range map[string]string{
		"anthropic":        `{"usage":{"input_tokens":5,"cache_read_input_tokens":128955,"cache_creation_input_tokens":1253,"output_tokens":100}}`,
		"openai-chat":      `{"choices":[],"usage":{"prompt_tokens":130213,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":128955,"cache_write_tokens":1253}}}`,
		"openai-responses": `{"object":"response","usage":{"input_tokens":130213,"output_tokens":100,"input_tokens_details":{"cached_tokens":128955,"cache_write_tokens":1253}}}`,
	} {
		u, b := reckon(t, name, "claude-sonnet-4-5", answer)
		const picodollars = 5*3_000_000 + 128_955*300_000 + 1253*3_750_000 + 100*15_000_000
		if u.CacheRead != usage.Of(128_955) || b.Paid != picodollars {
			t.Errorf("%s reads %v and costs %d, want 128955 and %d", answer, u.CacheRead, b.Paid, int64(picodollars))
		}
	}
}
