package dialect_test

import (
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/dialect/dialecttest"
)

// Where a question for the provider's verdict goes, and where there is none.
func TestQuestion(t *testing.T) {
	f := func(name string, ep dialect.Endpoint, id, body, want string) {
		t.Helper()
		r := dialecttest.Read(t, get(t, name), ep, []byte(body))
		got := ""
		if s, ok := r.Question.Ask(id); ok {
			spliced, _ := dialecttest.Splice([]byte(body), []dialect.Splice{s})
			got = string(spliced)
		}
		if got != want {
			t.Errorf("%s asking about %q in %s = %s, want %s", name, id, body, got, want)
		}
	}
	const messages = `"model":"claude-opus-5","messages":[{"role":"user","content":"a"}]`
	f("anthropic", dialect.Turn, "msg_1", ` {`+messages+`}`, ` {"diagnostics":{"previous_message_id":"msg_1"},`+messages+`}`)
	f("anthropic", dialect.Turn, "", `{`+messages+`}`, `{"diagnostics":{"previous_message_id":null},`+messages+`}`)
	f("anthropic", dialect.Count, "msg_1", `{`+messages+`}`, ``)
	for _, no := range []string{`"diagnostics":null`, `"diagnostics":{"previous_message_id":"msg_0"}`, `"fallbacks":[]`, `"fallback_credit_token":"t"`} {
		f("anthropic", dialect.Turn, "msg_1", `{`+messages+`,`+no+`}`, ``)
	}
	for _, id := range []string{`msg"1`, `a b`, "é", `\`} {
		f("anthropic", dialect.Turn, id, `{`+messages+`}`, ``)
	}

	const ask = `"comparison_response_id":"resp_1"`
	f("openai-responses", dialect.Turn, "resp_1", `{"model":"gpt-5.6-sol","input":"a"}`, `{"prompt_cache_options":{`+ask+`},"model":"gpt-5.6-sol","input":"a"}`)
	f("openai-responses", dialect.Turn, "resp_1", `{"model":"gpt-6-sol","prompt_cache_options":{ },"input":"a"}`, `{"model":"gpt-6-sol","prompt_cache_options":{`+ask+` },"input":"a"}`)
	f("openai-responses", dialect.Turn, "resp_1", `{"model":"gpt-6.2-sol","prompt_cache_options": { "ttl":"30m" },"input":"a"}`, `{"model":"gpt-6.2-sol","prompt_cache_options": {`+ask+`, "ttl":"30m" },"input":"a"}`)
	for _, model := range []string{"gpt-5.10", "gpt-6.0", "gpt-10", "gpt-10.1-mini"} {
		f("openai-responses", dialect.Turn, "resp_1", `{"model":"`+model+`","input":"a"}`, `{"prompt_cache_options":{`+ask+`},"model":"`+model+`","input":"a"}`)
	}
	f("openai-responses", dialect.Turn, "", `{"model":"gpt-5.6-sol","input":"a"}`, ``)
	f("openai-responses", dialect.Turn, "resp_1", `{"model":"gpt-5.6-sol","prompt_cache_options":{"comparison_response_id":null},"input":"a"}`, ``)
	f("openai-responses", dialect.Turn, "resp_1", `{"model":"gpt-5.6-sol","prompt_cache_options":null,"input":"a"}`, ``)
	for _, model := range []string{"gpt-5.5", "gpt-5", "gpt-4.1", "o3", "gpt-5.60x", "claude-opus-5", "gpt-", ""} {
		f("openai-responses", dialect.Turn, "resp_1", `{"model":"`+model+`","input":"a"}`, ``)
	}
	f("openai-responses", dialect.Count, "resp_1", `{"model":"gpt-6-sol","input":"a"}`, ``)
	f("openai-responses", dialect.Compact, "resp_1", `{"model":"gpt-6-sol","input":"a"}`, ``)
	f("openai-chat", dialect.Turn, "resp_1", `{"model":"gpt-6-sol","messages":[{"role":"user","content":"a"}]}`, ``)
}

// What a provider says of its cache is read from a stream and from a document.
func TestVerdictIsRead(t *testing.T) {
	f := func(name, member, want string) {
		t.Helper()
		d := get(t, name)
		whole, stream := d.Meter(dialect.Turn, false), d.Meter(dialect.Turn, true)
		whole.Write([]byte(`{"id":"a",` + member + `}`))
		if name == "anthropic" {
			stream.Write([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"a\"," + member + "}}\n\n"))
		} else {
			stream.Write([]byte("event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"a\"," + member + "}}\n\n"))
		}
		if a, b := whole.Report().Verdict, stream.Report().Verdict; a != want || b != want {
			t.Errorf("%s says %q in a document, %q in a stream by %s, want %q", name, a, b, member, want)
		}
	}
	f("anthropic", `"x":1`, "")
	f("anthropic", `"diagnostics":null`, dialect.NoDifference)
	f("anthropic", `"diagnostics":{"cache_miss_reason":null}`, "")
	f("anthropic", `"diagnostics":{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":5}}`, "tools_changed")
	f("anthropic", `"diagnostics":"no"`, "")
	f("openai-responses", `"x":1`, "")
	f("openai-responses", `"prompt_cache_diagnostics":null`, "")
	f("openai-responses", `"prompt_cache_diagnostics":{"type":"cache_hit"}`, "cache_hit")
	f("openai-responses", `"prompt_cache_diagnostics":{"type":"cache_miss","reason":"input_changed","cache_missed_tokens":5}`, "input_changed")
	f("openai-responses", `"prompt_cache_diagnostics":{"type":"comparison_response_not_found"}`, "comparison_response_not_found")
}
