package dialect

import (
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// TestLineageOutlivesMovedReminders: a client that resumes leaves out the
// reminder before its first prompt, or moves it to the newest message; what was
// said up to there is still the same history (facts/clients.md 2, Qwen Code).
func TestLineageOutlivesMovedReminders(t *testing.T) {
	read := func(body string) *Request {
		t.Helper()
		var doc jsonspan.Doc
		d, err := Get("anthropic")
		if err != nil {
			t.Fatal(err)
		}
		if err := doc.Scan([]byte(body), d.Depth); err != nil {
			t.Fatal(err)
		}
		r := new(Request)
		if err := d.Read(&doc, Turn, r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := read(`{"model":"m","messages":[
		{"role":"user","content":[{"type":"text","text":"<system-reminder>env</system-reminder>"},{"type":"text","text":"fix it"}]},
		{"role":"assistant","content":"done"}]}`)
	after := read(`{"model":"m","messages":[
		{"role":"user","content":"fix it"},
		{"role":"assistant","content":[{"type":"text","text":"done"}]},
		{"role":"user","content":[{"type":"text","text":"<system-reminder>env</system-reminder>"},{"type":"text","text":"more"}]}]}`)
	if before.History[1] != after.History[1] {
		t.Errorf("lineage after two messages = %v, was %v", after.History[1], before.History[1])
	}
	// Another prompt is another history.
	if other := read(`{"model":"m","messages":[{"role":"user","content":"fix that"}]}`); other.History[0] == before.History[0] {
		t.Error("two prompts have one lineage")
	}
}
