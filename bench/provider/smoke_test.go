package provider

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestSmoke(t *testing.T) {
	p := New(Options{})
	if err := p.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	do := func(path, body string) {
		r, _ := http.NewRequest("POST", p.URL()+path, strings.NewReader(body))
		r.Header.Set("x-api-key", "k")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		t.Logf("%s %s\n%s", path, resp.Status, b)
	}
	do("/v1/messages", `{"model":"claude-opus-5-5","max_tokens":1000,"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"hi"}]}`)
	do("/v1/messages", `{"model":"claude-opus-5-5","stream":true,"max_tokens":1000,"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"hi"}]}`)
	do("/v1/chat/completions", `{"model":"gpt-5.6-sol","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi CALL_TOOL f"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}}}]}`)
	do("/v1/responses", `{"model":"gpt-5.6-sol","stream":true,"include":["reasoning.encrypted_content"],"input":"hi"}`)
	do("/v1/responses/compact", `{"model":"gpt-5.6-sol","input":"hi"}`)
	for _, e := range p.Received() {
		t.Logf("%+v\n%s", e.Tokens, e.Head)
		t.Logf("%v %v %v", e.Complete, e.Status, e.EndedAt)
	}
}
