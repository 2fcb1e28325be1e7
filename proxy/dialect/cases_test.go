package dialect_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/dialect/dialecttest"
)

// wire returns a case's body and the body that goes to the provider.
func wire(t *testing.T, name, caseName string) (body, sent []byte) {
	t.Helper()
	c := dialecttest.Find(t, name, caseName)
	return c.Body, inject(t, name, c.Path, c.Body)
}

func inject(t *testing.T, name, path string, body []byte) []byte {
	t.Helper()
	d := get(t, name)
	ep, ok := d.Match(path)
	if !ok {
		t.Fatalf("Match(%q) claims nothing", path)
	}
	r := dialecttest.Read(t, d, ep, body)
	if r.Never != "" {
		return body
	}
	sent, _ := dialecttest.Splice(body, r.Slot.Splices(dialecttest.OpenerFor(t, d, r)))
	return sent
}

// members returns the top-level members of a body, and their names in order.
func members(t *testing.T, body []byte) (names []string, values map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(body, &values); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.Token()
	for d.More() {
		name, _ := d.Token()
		names = append(names, name.(string))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			t.Fatal(err)
		}
	}
	return names, values
}

// sameBut compares everything of two bodies but the list that is extended.
func sameBut(t *testing.T, body, sent []byte, list string) {
	t.Helper()
	wantNames, want := members(t, body)
	gotNames, got := members(t, sent)
	if !slices.Equal(gotNames, wantNames) {
		t.Errorf("members of what is sent = %v, want the client's order %v", gotNames, wantNames)
	}
	for name := range want {
		if name != list && !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s of what is sent = %s, want %s", name, got[name], want[name])
		}
	}
}

// TestCaseA1_KeyOrder: messages stand before system in Claude Code, behind it
// in Copilot, and stay there.
func TestCaseA1_KeyOrder(t *testing.T) {
	for _, c := range []string{"claude_code_later", "copilot_first", "crush_first"} {
		body, sent := wire(t, "anthropic", c)
		sameBut(t, body, sent, "messages")
	}
}

// TestCaseA3_ToolsAcrossTurns: the tools are the same bytes in every turn.
func TestCaseA3_ToolsAcrossTurns(t *testing.T) {
	_, first := wire(t, "anthropic", "claude_code_first")
	_, later := wire(t, "anthropic", "claude_code_later")
	_, a := members(t, first)
	_, b := members(t, later)
	if !bytes.Equal(a["tools"], b["tools"]) || len(a["tools"]) == 0 {
		t.Errorf("tools of the later turn = %s, want %s", b["tools"], a["tools"])
	}
}

// TestCaseA4_NoEscapes and A5: characters that encoders like to escape, numbers
// in odd spelling and odd white space are sent as they came; and so is the
// opener's own text.
func TestCaseA4_NoEscapes(t *testing.T) {
	body := []byte("{ \"model\":\"m\",\n\t\"temperature\": 1.0e+0, \"messages\" :[ {\"role\":\"user\",\"content\":\"<a> & b \\u00e9 \\/ é\"} ]\r\n}")
	sent := inject(t, "anthropic", "/v1/messages", body)
	at := bytes.Index(body, []byte(`{"role"`))
	if !bytes.HasPrefix(sent, body[:at]) || !bytes.HasSuffix(sent, body[at:]) {
		t.Errorf("sent %q, want %q in front and %q at the end", sent, body[:at], body[at:])
	}
	if !bytes.Contains(sent, []byte(`answer in <b> & \"plain\" words.\n`)) {
		t.Errorf("sent %q, want the opener's <b> & as they are", sent)
	}
}

// TestCaseA6_ThinkingUntouched and A7: signed blocks and the thinking parameter.
func TestCaseA6_ThinkingUntouched(t *testing.T) {
	body, sent := wire(t, "anthropic", "claude_code_later")
	sameBut(t, body, sent, "messages")
	thought := []byte(`{"type":"thinking","thinking":"I should look at parse\u002ego \/ first.","signature":"RXJyb3I="}`)
	if !bytes.Contains(body, thought) || !bytes.Contains(sent, thought) {
		t.Errorf("sent %s, want %s in it", sent, thought)
	}
}

// TestCaseA11_OtherFields: nothing but the list changes, in any case of any dialect.
func TestCaseA11_OtherFields(t *testing.T) {
	for _, name := range dialect.Names() {
		for _, c := range dialecttest.Cases(t, name) {
			sameBut(t, c.Body, inject(t, name, c.Path, c.Body), c.List)
		}
	}
}

// TestCaseB1_NoSharedState: what one request renders and splices is never seen
// in another, whatever is done to it.
func TestCaseB1_NoSharedState(t *testing.T) {
	for _, name := range dialect.Names() {
		d := get(t, name)
		a, _ := d.Renderings([]dialect.Message{{Role: "user", Text: "first tenant"}})
		want := string(a[0].Bytes)
		b, _ := d.Renderings([]dialect.Message{{Role: "user", Text: "second tenant"}})
		for i := range b[0].Bytes {
			b[0].Bytes[i] = 'x'
		}
		if string(a[0].Bytes) != want {
			t.Errorf("%s: rendering changed to %s with another, was %s", name, a[0].Bytes, want)
		}
	}
}

// TestCaseB2_RetryFromOriginal: splicing twice gives one opener each time, and
// leaves the client's body alone.
func TestCaseB2_RetryFromOriginal(t *testing.T) {
	for _, name := range dialect.Names() {
		for _, c := range dialecttest.Cases(t, name) {
			before := bytes.Clone(c.Body)
			first := inject(t, name, c.Path, c.Body)
			second := inject(t, name, c.Path, c.Body)
			if !bytes.Equal(first, second) || !bytes.Equal(c.Body, before) {
				t.Errorf("%s %s: second try sends %s, want %s", name, c.Name, second, first)
			}
		}
	}
}

// TestCaseB5_ResponsesSlot: instructions and items, string input, and a reason
// where there is no slot.
func TestCaseB5_ResponsesSlot(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		d := get(t, "openai-responses")
		r := dialecttest.Read(t, d, dialect.Turn, []byte(body))
		sent := r.Never
		if sent == "" {
			b, _ := dialecttest.Splice([]byte(body), r.Slot.Splices([]byte(`"R"`)))
			sent = string(b)
		}
		if sent != want {
			t.Errorf("%s is sent as %s, want %s", body, sent, want)
		}
	}
	f(`{"instructions":"i","input":[{"role":"user","content":"q"}]}`, `{"instructions":"i","input":["R",{"role":"user","content":"q"}]}`)
	f(`{"input":[{"role":"system","content":"i"},{"role":"user","content":"q"}]}`, `{"input":[{"role":"system","content":"i"},"R",{"role":"user","content":"q"}]}`)
	f(`{"instructions":"i","input":"q"}`, `{"instructions":"i","input":["R",{"role":"user","content":"q"}]}`)
	f(`{"previous_response_id":"r","input":[{"role":"user","content":"q"}]}`, dialect.NeverContinuation)
	f(`{"previous_response_id":"r","input":[{"role":"developer","content":"i"},{"role":"user","content":"q"}]}`, `{"previous_response_id":"r","input":[{"role":"developer","content":"i"},"R",{"role":"user","content":"q"}]}`)
	f(`{"conversation":"c","previous_response_id":null,"input":"q"}`, dialect.NeverConversation)
	f(`{"generate":false,"input":[{"role":"user","content":"q"}]}`, dialect.NeverPrewarm)
	f(`{"input":[]}`, dialect.NeverNoMessages)
}

// TestCaseB11_CountsLikeTurns: a count is injected with the same bytes at the
// same place as the turn.
func TestCaseB11_CountsLikeTurns(t *testing.T) {
	f := func(name, turn, count, c string) {
		t.Helper()
		body := dialecttest.Find(t, name, c).Body
		if a, b := inject(t, name, turn, body), inject(t, name, count, body); !bytes.Equal(a, b) || len(a) == len(body) {
			t.Errorf("%s sends %s, want what %s sends: %s", count, b, turn, a)
		}
	}
	f("anthropic", "/v1/messages", "/v1/messages/count_tokens", "claude_code_later")
	f("openai-responses", "/v1/responses", "/v1/responses/input_tokens", "codex_later")
	f("openai-responses", "/v1/responses", "/v1/responses/compact", "codex_later")
}

// TestCaseB16_NoSystemAtTheHead: an opener of the system slot is the user's in
// Anthropic's messages, and the client's own system messages stay.
func TestCaseB16_NoSystemAtTheHead(t *testing.T) {
	_, sent := wire(t, "anthropic", "claude_code_first")
	var got struct{ Messages []struct{ Role string } }
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range got.Messages {
		roles = append(roles, m.Role)
	}
	if want := []string{"user", "user", "assistant", "user", "system"}; !slices.Equal(roles, want) {
		t.Errorf("roles = %v, want %v", roles, want)
	}
}

// TestCaseB19_AttributionUntouched: the first system block stays first, alone
// and as it was.
func TestCaseB19_AttributionUntouched(t *testing.T) {
	_, sent := wire(t, "anthropic", "claude_code_first")
	var got struct{ System []json.RawMessage }
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332.a1f; cc_entrypoint=cli;"}`
	if len(got.System) != 3 || string(got.System[0]) != want {
		t.Errorf("system = %s, want three blocks of which the first is %s", got.System, want)
	}
}

// TestHeaderIsQuiet: what changes by its nature from request to request is in
// no span of the header.
func TestHeaderIsQuiet(t *testing.T) {
	f := func(name, a, b string) {
		t.Helper()
		header := func(body string) (spans []string) {
			r := dialecttest.Read(t, get(t, name), dialect.Turn, []byte(body))
			for _, s := range slices.Concat(r.SystemSpans, r.ToolSpans, r.ParameterSpans) {
				spans = append(spans, body[s.From:s.To])
			}
			return spans
		}
		if ha, hb := header(a), header(b); !slices.Equal(ha, hb) {
			t.Errorf("%s: header of %s = %q, want %q", name, b, hb, ha)
		}
	}
	f("anthropic",
		`{"model":"m","system":"s","messages":[{"role":"user","content":"a"}],"metadata":{"user_id":"1"},"stream":true}`,
		`{"model":"m","system":"s","messages":[{"role":"user","content":"b"}],"diagnostics":{"previous_message_id":"2"},"stream":false}`)
	f("openai-chat",
		`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}],"user":"1","stream":true,"prompt_cache_key":"k"}`,
		`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"b"}],"safety_identifier":"2","metadata":{}}`)
	f("openai-responses",
		`{"model":"m","input":[{"role":"developer","content":"s"},{"role":"user","content":"a"}],"client_metadata":{"turn":"1"},"stream":true}`,
		`{"model":"m","input":[{"role":"developer","content":"s"},{"role":"user","content":"b"}],"client_metadata":{"turn":"2"},"previous_response_id":"r","prompt_cache_key":"k"}`)
	f("openai-responses",
		`{"model":"m","prompt_cache_options":{"mode":"explicit","comparison_response_id":"resp_1","ttl":"30m"},"input":"a"}`,
		`{"model":"m","prompt_cache_options":{"mode":"explicit","ttl":"30m","comparison_response_id":"resp_2"},"input":"a"}`)
	f("openai-responses", `{"model":"m","input":"a"}`, `{"model":"m","prompt_cache_options":{"comparison_response_id":"resp_2"},"input":"a"}`)
}

// TestOneDialectPerPath: no path is claimed twice, and none that is no model call.
func TestOneDialectPerPath(t *testing.T) {
	f := func(path, want string, ep dialect.Endpoint) {
		t.Helper()
		got := ""
		for _, name := range dialect.Names() {
			if e, ok := get(t, name).Match(path); ok {
				got += name
				if e != ep {
					t.Errorf("Match(%q) = %v, want %v", path, e, ep)
				}
			}
		}
		if got != want {
			t.Errorf("%q is claimed by %q, want %q", path, got, want)
		}
	}
	for _, v1 := range []string{"", "/v1"} {
		f(v1+"/messages", "anthropic", dialect.Turn)
		f(v1+"/messages/count_tokens", "anthropic", dialect.Count)
		f(v1+"/chat/completions", "openai-chat", dialect.Turn)
		f(v1+"/responses", "openai-responses", dialect.Turn)
		f(v1+"/responses/input_tokens", "openai-responses", dialect.Count)
		f(v1+"/responses/compact", "openai-responses", dialect.Compact)
		for _, other := range []string{"/messages/batches", "/messages/batches/b1", "/responses/resp_1", "/responses/resp_1/cancel", "/responses/resp_1/input_items", "/chat/completions/chatcmpl_1", "/completions", "/models", "/embeddings"} {
			f(v1+other, "", 0)
		}
	}
}
