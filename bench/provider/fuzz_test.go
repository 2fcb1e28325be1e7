package provider

import (
	"net/http"
	"testing"
	"time"
)

// fuzzRequests checks that a body is answered or refused, never anything else,
// that an answer can be given again, and that its tokens are none below zero.
func fuzzRequests(f *testing.F, answers ...func(*Provider, *request) (*answer, *apiError)) {
	f.Fuzz(func(t *testing.T, body []byte) {
		p := New(Options{Now: newClock().Now})
		for _, answering := range answers {
			q := &request{method: "POST", path: "/", header: http.Header{}, body: body, tenant: "t", start: p.cache.Arrive(time.Time{})}
			a, e := answering(p, q)
			if e != nil {
				if e.status < 400 || e.message == "" {
					t.Errorf("refusal %d %q of %q", e.status, e.message, body)
				}
				continue
			}
			if len(a.events) == 0 {
				t.Errorf("nothing to send for %q", body)
			}
			if a.tokens == nil {
				continue
			}
			for _, n := range []int64{a.tokens.Fresh, a.tokens.CacheRead, a.tokens.Written(), a.tokens.Output} {
				if n < 0 {
					t.Errorf("tokens %+v for %q", *a.tokens, body)
				}
			}
			a.begin()
		}
	})
}

func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"model":"claude-opus-5-5","max_tokens":9,"system":"s","messages":[{"role":"user","content":"a"}]}`,
		`{"model":"claude-opus-5-5","max_tokens":0,"cache_control":{"type":"ephemeral"},"tools":[{"name":"f"}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		`{"model":"claude-sonnet-4-5","max_tokens":9,"stream":true,"thinking":{"type":"enabled"},"messages":[{"role":"user","content":"CALL_TOOL f"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"AA=="},{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"image","source":{}}]}]}],"tools":[{"name":"f","input_schema":{"anyOf":[{"type":"array"}]}}]}`,
		`{"model":"x","max_tokens":1,"messages":[{"role":"system","content":[],"output_config":{"effort":"low"}},{"role":"assistant","content":[{"type":"compaction"}]}]}`,
	} {
		f.Add([]byte(s))
	}
	fuzzRequests(f, (*Provider).answerMessages, (*Provider).answerMessages, (*Provider).countMessages)
}

func FuzzChat(f *testing.F) {
	for _, s := range []string{
		`{"model":"gpt-5.6-sol","messages":[{"role":"developer","content":"d"},{"role":"user","content":[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}`,
		`{"model":"gpt-5.4","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"CALL_TOOL f"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","tool_call_id":"1","content":"x"}],"tools":[{"function":{"name":"f"}}]}`,
		`{"model":"gpt-6","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}],"response_format":{"json_schema":{"schema":{"enum":[1]}}},"max_tokens":1}`,
	} {
		f.Add([]byte(s))
	}
	fuzzRequests(f, (*Provider).answerChat, (*Provider).answerChat)
}

func FuzzResponses(f *testing.F) {
	for _, s := range []string{
		`{"model":"gpt-5.6-sol","input":"a","stream":true}`,
		`{"model":"gpt-6.2-sol","instructions":"i","input":[{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","tools":[{"type":"custom","name":"f"}]}]},{"role":"user","content":"CALL_TOOL f"}],"prompt_cache_options":{"prewarm":true,"ttl":"12h"}}`,
		`{"model":"gpt-5.6","input":[{"type":"reasoning","id":"r"},{"type":"function_call","call_id":"c"},{"type":"function_call_output","call_id":"c"},{"type":"compaction"}],"include":["reasoning.encrypted_content"],"conversation":{"id":""}}`,
	} {
		f.Add([]byte(s))
	}
	fuzzRequests(f, (*Provider).answerResponse, (*Provider).answerResponse, (*Provider).countResponse, (*Provider).compactResponse)
}
