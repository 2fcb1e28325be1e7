package dialect_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/dialect/dialecttest"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// agentBody is a request of an agent at work: a system slot, 16 tools, and
// rounds of a call and its result, 4 KB each, until the body has the size. In
// traces of coding agents a round adds 1,900 tokens, which is more. A body of
// less than 20 KB has one round, and all that is prose in it is short.
func agentBody(name string, size int) []byte {
	var b bytes.Buffer
	prose := strings.Repeat("Read the file before you change it, and say what you found.\\n", 12)
	if size < 20_000 {
		prose = prose[:10]
	}
	tool, round := `{"name":"tool%d","description":"%s","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`, ""
	switch name {
	case "anthropic":
		b.WriteString(`{"model":"claude","messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>` + prose + `</system-reminder>"},{"type":"text","text":"fix it"}]}`)
		round = `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_%06d","name":"tool1","input":{"path":"/src/a.go","limit":20}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%[1]06d","content":[{"type":"text","text":"%[2]s%[2]s%[2]s%[2]s%[2]s"}],"is_error":false}]}`
	case "openai-chat":
		b.WriteString(`{"model":"gpt","messages":[{"role":"system","content":"` + prose + `"},{"role":"user","content":"fix it"}`)
		round = `,{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_%06d","type":"function","function":{"name":"tool1","arguments":"{\"path\":\"/src/a.go\"}"}}]},` +
			`{"role":"tool","tool_call_id":"call_%[1]06d","content":"%[2]s%[2]s%[2]s%[2]s%[2]s"}`
	case "openai-responses":
		b.WriteString(`{"model":"gpt","input":[{"type":"message","id":"m1","role":"developer","content":[{"type":"input_text","text":"` + prose + `"}]},{"type":"message","id":"m2","role":"user","content":[{"type":"input_text","text":"fix it"}]}`)
		round = `,{"type":"reasoning","id":"rs_%06d","summary":[],"encrypted_content":"Z2liYmVyaXNo"},{"type":"function_call","id":"fc_%[1]06d","call_id":"call_%[1]06d","name":"tool1","arguments":"{\"path\":\"/src/a.go\"}"},` +
			`{"type":"function_call_output","id":"fo_%[1]06d","call_id":"call_%[1]06d","output":"%[2]s%[2]s%[2]s%[2]s%[2]s"}`
	}
	for i := 0; b.Len() < size-20_000 || i == 0; i++ {
		fmt.Fprintf(&b, round, i, prose)
	}
	b.WriteString(`],"tools":[`)
	for i := range 16 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, tool, i, prose)
	}
	b.WriteString(`],"max_tokens":32000,"metadata":{"user_id":"u"},"stream":true}`)
	return b.Bytes()
}

func scan(tb testing.TB, d dialect.Dialect, body []byte) *jsonspan.Doc {
	tb.Helper()
	var doc jsonspan.Doc
	if err := doc.Scan(body, d.Depth); err != nil {
		tb.Fatalf("Scan(%.80q) = %v, want no error", body, err)
	}
	return &doc
}

func BenchmarkRead(b *testing.B) {
	for _, name := range dialect.Names() {
		d, _ := dialect.Get(name)
		for i, size := range []int{2 << 10, 2 << 10, 100 << 10, 100 << 10, 1 << 20, 1 << 20} {
			outlined := i%2 == 1
			b.Run(fmt.Sprintf("%s/%dKB/outlined=%t", name, size>>10, outlined), func(b *testing.B) {
				body := agentBody(name, size)
				doc := scan(b, d, body)
				r := dialect.Request{Outlined: outlined}
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if err := d.Read(doc, dialect.Turn, &r); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(r.History)), "messages")
			})
		}
	}
}

// TestReadAllocatesNothing: a Request that is read into again has all its room.
func TestReadAllocatesNothing(t *testing.T) {
	for _, name := range dialect.Names() {
		bodies := map[string][]byte{"agent": agentBody(name, 100<<10)}
		for _, c := range dialecttest.Cases(t, name) {
			bodies[c.Name] = c.Body
		}
		d := get(t, name)
		for c, body := range bodies {
			doc, r := scan(t, d, body), &dialect.Request{Outlined: true} // which knows this body alone
			allocs := testing.AllocsPerRun(10, func() {
				if err := d.Read(doc, dialect.Turn, r); err != nil {
					t.Fatal(err)
				}
			})
			if allocs != 0 {
				t.Errorf("%s: Read of %s made %v allocations, want 0", name, c, allocs)
			}
		}
	}
}
