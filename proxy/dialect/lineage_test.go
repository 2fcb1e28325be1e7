package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// TestLineageOutlivesMovedReminders: a client that resumes leaves out the
// reminder before its first prompt, or moves it to the newest message; what was
// said up to there is still the same history (facts/clients.md 2, Qwen Code).
func TestLineageOutlivesMovedReminders(t *testing.T) {
	read := func(body string) *Request { return readTurn(t, "anthropic", body) }
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

// TestFamiliesShareNoHistory: the same words over another API are another
// conversation, which may have another opener.
func TestFamiliesShareNoHistory(t *testing.T) {
	const body = `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"go on"}]}`
	claude, chat := readTurn(t, "anthropic", body), readTurn(t, "openai-chat", body)
	for i, p := range claude.History {
		if slices.Contains(chat.History, p) {
			t.Errorf("lineage after %d messages to Anthropic = %v, which is also one to OpenAI", i+1, p)
		}
	}
	if len(claude.History) != 3 || claude.FirstPrompt != chat.FirstPrompt {
		t.Errorf("History of %d messages = %v; first prompts %v and %v, want the same", 3, claude.History, claude.FirstPrompt, chat.FirstPrompt)
	}
	// OpenAI's own APIs go on from each other.
	input := readTurn(t, "openai-responses", `{"model":"m","input":"hi"}`)
	if input.History[0] != chat.History[0] {
		t.Errorf("lineage of %q = %v over Responses, %v over Chat", "hi", input.History[0], chat.History[0])
	}
}

func readTurn(t *testing.T, dialect, body string) *Request {
	t.Helper()
	var doc jsonspan.Doc
	d, err := Get(dialect)
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

// TestLast: Last is where the last message begins, whatever follows the list.
func TestLast(t *testing.T) {
	for dialect, body := range map[string]string{
		"anthropic":        `{"messages":[{"role":"user","content":"a"}, |{"role":"assistant","content":"b"}],"system":"s","tools":[{}]}`,
		"openai-chat":      `{"messages":[{"role":"system","content":"s"},|{"role":"user","content":"a"}],"model":"m"}`,
		"openai-responses": `{"input":[{"role":"user","content":"a"},|{"type":"function_call_output","output":"b"}],"model":"m"}`,
	} {
		at := strings.IndexByte(body, '|')
		if r := readTurn(t, dialect, strings.Replace(body, "|", "", 1)); r.Last != at {
			t.Errorf("%s: Last = %d, want %d", dialect, r.Last, at)
		}
	}
	if r := readTurn(t, "openai-responses", `{"input":"a"}`); r.Last != 0 {
		t.Errorf("Last of a string = %d, want 0", r.Last)
	}
}
