package dialect

import (
	"fmt"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// readHistory fills in the lineages of the history that begins with first, and
// notes the marks in it. The message of the first prompt counts for that
// prompt alone: on a resume, clients leave out or move the reminders that stood
// before it (Qwen Code does), and the history is still the same.
func (r *Request) readHistory(d *digester, first jsonspan.Value) {
	p := d.origin
	d.seen.part, d.seen.index = MarkInMessages, 0
	for m := first; m.Exists(); m = m.Next() {
		content := d.message(m)
		if d.outline {
			r.Outline.Messages = append(r.Outline.Messages, d.facts(m, content))
		}
		d.seen.index++
		if r.FirstPrompt.IsZero() && m.Get("role").Is("user") {
			if prompt, ok := d.promptOf(m); ok {
				content, r.FirstPrompt = prompt, prompt
			}
		}
		p = p.Next(content)
		r.History, r.Last = append(r.History, p), m.Span().From
	}
	r.Marks += d.seen.marks
	r.Outline.Marks = d.seen.places
	if r.FirstPrompt.IsZero() {
		r.FirstPrompt = d.anyPrompt(first)
	}
}

// answered reports whether any message of a history is from the model, a
// prefill aside.
func answered(first jsonspan.Value, fromModel func(jsonspan.Value) bool) bool {
	for m := first; m.Exists(); m = m.Next() {
		if fromModel(m) {
			return m.Next().Exists() || !isPrefill(m)
		}
	}
	return false
}

// isPrefill reports whether an assistant message holds nothing but text, which
// at the end of a history is the beginning of the answer that is asked for.
func isPrefill(m jsonspan.Value) bool {
	if !m.Get("role").Is("assistant") || m.Get("tool_calls").Len() > 0 || m.Get("function_call").Kind() == jsonspan.Object {
		return false
	}
	for b := m.Get("content").First(); b.Exists(); b = b.Next() {
		if text, _ := plainText(b); !text.Exists() {
			return false
		}
	}
	return true
}

// contains reports whether is is true of first or any value after it in its list.
func contains(first jsonspan.Value, is func(jsonspan.Value) bool) bool {
	for v := first; v.Exists(); v = v.Next() {
		if is(v) {
			return true
		}
	}
	return false
}

// listMember returns the list of messages in a body. Without one the provider
// has its say; anything but a list is another format's body.
func listMember(root jsonspan.Value, name string) (jsonspan.Value, error) {
	list := root.Get(name)
	switch k := list.Kind(); k {
	case jsonspan.Array, jsonspan.Null, jsonspan.Absent:
		return list, nil
	default:
		return list, fmt.Errorf("%s is %s, want a list", name, kindNames[k])
	}
}

// kindNames are the kinds of JSON value in an error for a client.
var kindNames = [...]string{
	jsonspan.Absent: "absent",
	jsonspan.Null:   "null",
	jsonspan.True:   "a boolean",
	jsonspan.False:  "a boolean",
	jsonspan.Number: "a number",
	jsonspan.String: "a string",
	jsonspan.Array:  "a list",
	jsonspan.Object: "an object",
}
