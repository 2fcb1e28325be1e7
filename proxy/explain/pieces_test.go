package explain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestElements(t *testing.T) {
	f := func(in string, want ...string) {
		t.Helper()
		var got []string
		for _, p := range elementsOf([]byte(in)) {
			got = append(got, string(p.of([]byte(in))))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("elementsOf(%s) = %q, want %q", in, got, want)
		}
	}
	f(``)
	f(`[]`)
	f(`"a"`, `"a"`)
	f(`[{"a":[1,2]}, "b,c" ,3]`, `{"a":[1,2]}`, `"b,c"`, `3`)
	f(`{"a":"]}"},[true,null],-1.5e3`, `{"a":"]}"}`, `true`, `null`, `-1.5e3`)
	f(`"\\\"",{"x":"\""}`, `"\\\""`, `{"x":"\""}`)
}

func TestMembers(t *testing.T) {
	b := []byte(`"model" : "m", "a":{"b":[1]},"c":1`)
	var got []string
	for _, m := range membersIn(b, 0, len(b)) {
		got = append(got, m.name+"="+string(m.value.of(b)))
	}
	if s := strings.Join(got, " "); s != `model="m" a={"b":[1]} c=1` {
		t.Errorf("membersIn = %s", s)
	}
}

func TestWithoutMarks(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		u := withoutMarks([]byte(in))
		if string(u.text) != want {
			t.Errorf("withoutMarks(%s) = %s, want %s", in, u.text, want)
		}
		for i := range u.text {
			if at := u.at(i); in[at] != u.text[i] {
				t.Errorf("withoutMarks(%s): byte %d stood at %d, which is %q", in, i, at, in[at:])
			}
		}
	}
	f(`{"a":1}`, `{"a":1}`)
	f(`{"a":1,"cache_control":{"type":"ephemeral","ttl":"1h"}}`, `{"a":1}`)
	f(`{"cache_control":{"type":"ephemeral"},"a":1}`, `{"a":1}`)
	f(`{"a":1 , "cache_control" : null, "b":2}`, `{"a":1 , "b":2}`)
	f(`{"cache_control":null}`, `{}`)
	f(`{"text":"cache_control"}`, `{"text":"cache_control"}`)
	f(`{"text":"\"cache_control\":1"}`, `{"text":"\"cache_control\":1"}`)
	f(`{"c":[{"t":"x","prompt_cache_breakpoint":{"mode":"explicit"}},{"t":"y","cache_control":{}}]}`, `{"c":[{"t":"x"},{"t":"y"}]}`)
}

func TestVolatile(t *testing.T) {
	f := func(a, b, kind, was, is string) {
		t.Helper()
		k, w, i := volatile([]byte(a), []byte(b), differAt([]byte(a), []byte(b)))
		if k != kind || w != was || i != is {
			t.Errorf("volatile(%q, %q) = %q %q %q, want %q %q %q", a, b, k, w, i, kind, was, is)
		}
	}
	f(`cch=36ee5;`, `cch=0aaa9;`, "nonce", "cch=36ee5", "cch=0aaa9")
	f(`Today is 2026-11-30.`, `Today is 2026-12-01.`, "date", "2026-11-30", "2026-12-01")
	f(`Today is Mon Nov 30 2026.`, `Today is Tue Dec 1 2026.`, "date", "Mon Nov 30 2026", "Tue Dec 1 2026")
	f(`on November 30, 2026 at`, `on November 29, 2026 at`, "date", "November 30, 2026", "November 29, 2026")
	f(`30 November 2026`, `29 November 2026`, "date", "30 November 2026", "29 November 2026")
	f(`It is Monday`, `It is Tuesday`, "date", "Monday", "Tuesday")
	f(`at 2026-11-30T10:00:01Z`, `at 2026-11-30T10:00:02Z`, "time", "10:00:01", "10:00:02")
	f(`at 9:05 PM`, `at 9:06 PM`, "time", "9:05 PM", "9:06 PM")
	f(`ts 1796000000`, `ts 1796000020`, "time", "1796000000", "1796000020")
	f(`ts 1796000000123`, `ts 1796000020456`, "time", "1796000000123", "1796000020456")
	f(`id 0198c5a4-7f2e-7c1b-9d3e-aaaaaaaaaaaa`, `id 0198c5a4-7f2e-7c1b-9d3e-aaaaaaaaaaab`, "UUID", "0198c5a4-7f2e-7c1b-9d3e-aaaaaaaaaaaa", "0198c5a4-7f2e-7c1b-9d3e-aaaaaaaaaaab")
	f(`turn 9 of`, `turn 10 of`, "counter", "9", "10")
	f(`a\n41\nb`, `a\n42\nb`, "counter", "41", "42")
	f(`key sk-a8Zk3mQp`, `key sk-b7Yk3mQp`, "nonce", "sk-a8Zk3mQp", "sk-b7Yk3mQp")
	f(`deadbeef`, `cafebabe`, "nonce", "deadbeef", "cafebabe")
	f(`You are an agent`, `You are an owl`, "", "agent", "owl")
	f(`You are`, `You are here`, "", "", "")
	f(``, `x`, "", "", "x")
}

func TestPrintable(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	f("plain", "plain")
	f("\x1b[31mred\u202e\x00", "?[31mred??")
	f("\xff", "?")
	f("größe", "größe")
	f(strings.Repeat("x", 50), strings.Repeat("x", 40)+"…")
}

// Whatever the bytes, the splitters end and stay within them; what is JSON is
// split as it is.
func FuzzPieces(f *testing.F) {
	f.Add([]byte(`[{"a":1,"cache_control":{"ttl":"1h"}},"b"]`), []byte(`{"cch":"36ee5"}`))
	f.Add([]byte(`"model":"m","thinking":{"type":"adaptive"}`), []byte(`"\`))
	f.Add([]byte(`[[[`), []byte(`}}}:,`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		elements := elementsOf(a)
		for _, p := range elements {
			if p.from < 0 || p.to > len(a) || p.from >= p.to {
				t.Fatalf("elementsOf(%q) = %v", a, elements)
			}
		}
		var list []json.RawMessage
		if json.Unmarshal(a, &list) == nil && len(elements) != len(list) && bytes.IndexByte(a, '[') >= 0 {
			t.Fatalf("elementsOf(%s) gives %d, want %d", a, len(elements), len(list))
		}
		u := withoutMarks(a)
		for i := range u.text {
			if at := u.at(i); at >= len(a) || a[at] != u.text[i] {
				t.Fatalf("withoutMarks(%q): byte %d is not that at %d", a, i, at)
			}
		}
		if json.Valid(a) && !json.Valid(u.text) {
			t.Fatalf("withoutMarks(%s) = %s, which is not JSON", a, u.text)
		}
		settingsOf(a, byMarks)
		toolsOf(a)
		if d, ok := differ(a, b, byMarks); ok && (d.at < 0 || d.at > len(b)) {
			t.Fatalf("differ(%q, %q) = %+v", a, b, d)
		}
		volatile(a, b, differAt(a, b))
	})
}
