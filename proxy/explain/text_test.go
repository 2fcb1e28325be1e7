package explain

import (
	"testing"
)

func TestMarksHideInDigests(t *testing.T) {
	a := opened(anthropic, opus)
	a.bare = true
	b := a.next()
	b.system += " "
	b.r.Marks[0].TTL = "1h"
	b.says[0].text = "edited"
	want{HistoryRewritten, ByClient, SectionHistory, "message 0", true}.check(t, observe(t, a, b.short(4000)))
	b.says[0].text = a.says[0].text
	want{SystemChanged, ByClient, SectionSystem, "not kept", true}.check(t, observe(t, a, b.short(4000)))
}

func TestCausesWithoutTexts(t *testing.T) {
	for _, test := range changes {
		for _, f := range test.in {
			a := opened(f.dialect, f.model)
			a.bare = true
			if test.before != nil {
				test.before(&a)
			}
			b := a.next().short(test.read)
			if test.after != nil {
				test.after(&b)
			}
			want := test.want.cause
			switch test.name {
			case "other settings", "explicit without a breakpoint", "breakpoint moved":
				continue // what is in the parameters cannot be told
			}
			if got := observe(t, a, b); got.Cause != want || got.Owner != test.want.owner {
				t.Errorf("%s in %v without texts: %s by %s (%s), want %s by %s", test.name, f, got.Cause, got.Owner, got.Detail, want, test.want.owner)
			}
		}
	}
}

func TestUnchangedSectionsComeWithoutBytes(t *testing.T) {
	a := opened(anthropic, opus)
	b, c := a.next(), a.next().next()
	d := nonced(c.next(), "0aaa9").short(0)
	tr := NewTracker(Options{})
	tr.Observe("t", a.made())
	for _, a := range []ask{b, c} {
		a.bare = true
		if v, _ := tr.Observe("t", a.made()); v != none {
			t.Errorf("unchanged: %+v", v)
		}
	}
	v, _ := tr.Observe("t", d.made())
	want{SystemChanged, ByClient, SectionSystem, "36ee5 → 0aaa9", true}.check(t, v)
}

func TestOffsetsAreOfTheBody(t *testing.T) {
	f := func(name, at string, change func(*ask)) {
		t.Helper()
		a := opened(anthropic, opus)
		b := a.next().short(0)
		change(&b)
		v := observe(t, a, b)
		body := b.body()
		if v.Offset < 0 || v.Offset+len(at) > len(body) || body[v.Offset:v.Offset+len(at)] != at {
			t.Errorf("%s: offset %d of %s, want that of %s", name, v.Offset, body, at)
		}
	}
	f("nonce", "0aaa9", func(a *ask) { *a = nonced(*a, "0aaa9") })
	f("system", "helper", func(a *ask) { replace(&a.system, "agent", "helper") })
	f("tool", "s.\"}", func(a *ask) { replace(&a.tools, "Writes a file.", "Writes a files.") })
	f("added tool", `{"name":"new"}`, func(a *ask) { replace(&a.tools, `{"name":"write"`, `{"name":"new"},{"name":"write"`) })
	f("parameter", `"speed":"fast"`, func(a *ask) { a.params += `,"speed":"fast"` })
	f("model", `"claude-x"`, func(a *ask) { a.r.Model = "claude-x"; replace(&a.params, opus, "claude-x") })
	// Marks before the difference are not in the text that is compared.
	f("behind a mark", "0aaa9", func(a *ask) {
		replace(&a.system, `{"type":"text","text":"You`, `{"type":"text","cache_control":{"type":"ephemeral"},"text":"You`)
		replace(&a.system, `{"type":"text","text":"Session`, `{"cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text","text":"Session`)
		*a = nonced(*a, "0aaa9")
	})
	a := opened(anthropic, opus)
	b := a.next().short(0)
	b.says[1].text = "other"
	if v, at := observe(t, a, b), int(b.made().Messages[1].At); v.Offset != at || v.Index != 1 {
		t.Errorf("message: offset %d, index %d, want %d, 1", v.Offset, v.Index, at)
	}
}

func TestMovedMarksAreNoChange(t *testing.T) {
	a := opened(anthropic, opus)
	replace(&a.system, `"text":"Session 36ee5 of today."`, `"text":"Session 36ee5 of today.","cache_control":{"type":"ephemeral"}`)
	b := a.next()
	b.system = opened(anthropic, opus).system
	replace(&b.tools, `{"name":"run"}`, `{"name":"run","cache_control":{"type":"ephemeral"}}`)
	want{Provider, ByProvider, "", "nothing on our side", false}.check(t, observe(t, a, b.short(0)))
	c := a.next() // nor of a system prompt as a string or as one block
	a.system, c.system = `"You are."`, `[{"type":"text","text":"You are."}]`
	want{Provider, ByProvider, "", "nothing on our side", false}.check(t, observe(t, a, c.short(0)))
}
