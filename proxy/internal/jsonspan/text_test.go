package jsonspan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

func TestTextIsTheMeaning(t *testing.T) {
	f := func(raw, want string) {
		t.Helper()
		v := scan(t, `{"a":`+raw+`}`, nil).Root().Get("a")
		if got, ok := v.Text(); got != want || !ok {
			t.Errorf("Text of %s = %q, %v, want %q, true", raw, got, ok, want)
		}
		if got := string(v.AppendText([]byte("x"))); got != "x"+want {
			t.Errorf("AppendText of %s = %q, want %q", raw, got, "x"+want)
		}
		if !v.Is(want) || v.Is(want+"x") || v.Is("x"+want) || want != "" && v.Is(want[1:]) {
			t.Errorf("Is does not take %s for %q alone", raw, want)
		}
	}
	f(`""`, "")
	f(`"plain"`, "plain")
	f(`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t")
	f(`"\u0000\u0041\u00e9\u4e2D\uFFFF"`, "\x00Aé中\uffff")
	f(`"a\ud83d\ude00b"`, "a😀b")
	f(`"\ud83d"`, "\ufffd")
	f(`"\ude00\ud83d"`, "\ufffd\ufffd")
	f(`"\ud83d\ud83d\ude00"`, "\ufffd😀")
	f(`"\ud83d\u0041"`, "\ufffdA")
	f(`"\ud83dx"`, "\ufffdx")
	f(`"\ud83d\n"`, "\ufffd\n")
	f(`"\\ud83d\\ude00"`, `\ud83d\ude00`)
}

func TestIsNeverTakesInvalidText(t *testing.T) {
	root := scan(t, `{"a":"\ufffd","b":"�","c":"\ud800"}`, nil).Root()
	for v := root.First(); v.Exists(); v = v.Next() {
		if v.Is("\xff") || v.Is("\xed\xa0\x80") || !v.Is("\ufffd") {
			t.Errorf("Is of %s takes invalid UTF-8, or not U+FFFD", v.Raw())
		}
	}
}

func TestAppendQuoted(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		if got := string(jsonspan.AppendQuoted([]byte("x"), s)); got != "x"+want {
			t.Errorf("AppendQuoted(%q) = %s, want %s", s, got, "x"+want)
		}
	}
	f("", `""`)
	f("plain", `"plain"`)
	f("\"\\\b\f\n\r\t", `"\"\\\b\f\n\r\t"`)
	f("\x00\x01\x1f\x7f", "\"\\u0000\\u0001\\u001f\x7f\"")
	f("<a href='/'>&amp;</a>", `"<a href='/'>&amp;</a>"`)
	f("é中😀\u2028\u2029\ufffd", "\"é中😀\u2028\u2029\ufffd\"")
	f("a\xffb\xed\xa0\x80\xe2\x82", `"a\ufffdb\ufffd\ufffd\ufffd\ufffd\ufffd"`)
}

// What AppendQuoted writes must mean the same to encoding/json, pass Scan, and
// be read back by Text.
func FuzzAppendQuoted(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x7f", "é中😀\u2028\ufffd", "a\xff\xed\xa0\x80\xf0\x9f", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := jsonspan.AppendQuoted(nil, s)
		want := validText(s)
		var got string
		if err := json.Unmarshal(quoted, &got); err != nil || got != want {
			t.Errorf("AppendQuoted(%q) = %s, which encoding/json reads as %q, %v; want %q", s, quoted, got, err, want)
		}
		v := scan(t, `{"a":`+string(quoted)+`}`, nil).Root().Get("a")
		if got, ok := v.Text(); got != want || !ok || !v.Is(want) {
			t.Errorf("AppendQuoted(%q) = %s, which Text reads as %q, %v; want %q", s, quoted, got, ok, want)
		}
		if n := len(v.AppendText(nil)); n > len(v.Raw()) {
			t.Errorf("AppendText of %s takes %d bytes, want at most %d", quoted, n, len(v.Raw()))
		}
		if utf8.ValidString(s) && strings.Count(string(quoted), `\`) == 0 && string(quoted) != `"`+s+`"` {
			t.Errorf("AppendQuoted(%q) = %s, want the text as it is", s, quoted)
		}
	})
}

// validText is s with each byte that is no UTF-8 replaced by U+FFFD.
func validText(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// Text must read what Scan accepts as encoding/json does.
func FuzzText(f *testing.F) {
	for _, s := range []string{``, `plain`, `\"\\\/\b\f\n\r\t`, `\u0000\u00e9\uFFFF`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d\ud83d\ude00x`, `\ud83d\u0041`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, inside string) {
		raw := `"` + inside + `"`
		var d jsonspan.Doc
		if err := d.Scan([]byte(`{"a":`+raw+`}`), nil); err != nil || d.Root().Len() != 1 {
			return // FuzzScan looks at what is refused
		}
		v := d.Root().Get("a")
		var want string
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatalf("encoding/json refuses %s, which Scan takes: %v", raw, err)
		}
		if got, ok := v.Text(); got != want || !ok || !v.Is(want) {
			t.Errorf("Text of %s = %q, %v, want %q; Is %v", raw, got, ok, want, v.Is(want))
		}
	})
}
