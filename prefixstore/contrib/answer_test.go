package contrib

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseAnswer(t *testing.T) {
	f := func(in string, want ...Message) {
		t.Helper()
		got, err := parseAnswer([]byte(in))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("parseAnswer(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	f(`{"messages":[{"role":"user","text":"a"},{"text":"b","id":7}],"version":"x"}`, Message{"user", "a"}, Message{"", "b"})
	f(" \n[{\"text\":\"\\u00e9\\r\\n\"}]\n", Message{"", "é\r\n"})
	f(`{"messages":[]}`)
	f(`{"messages":null}`)
	f(`[]`)
	f(`null`)
	f(`[{"text":"\u0000"}]`, Message{"", "\x00"}) // refused by the Composer
}

func TestParseAnswerRefuses(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, err := parseAnswer([]byte(in))
		if fmt.Sprint(err) != want || got != nil {
			t.Errorf("parseAnswer(%q) = %v, %v, want %s", in, got, err, want)
		}
	}
	f("", "it is no JSON: wrong at byte 0")
	f("hello", "it is no JSON: wrong at byte 1")
	f(`[{"text":"a"}`, "it is no JSON: wrong at byte 13")
	f(`[{"text":"a"}] x`, "it is no JSON: wrong at byte 16")
	f(`{"messages":[]}{}`, "it is no JSON: wrong at byte 16")
	f(`{}`, `it has no "messages"`)
	f(`{"error":"x"}`, `it has no "messages"`)
	f(`{"messages":"a"}`, "it is no list of messages: unexpected string")
	f(`"a"`, "it is no list of messages: unexpected string")
	f(`[1]`, "it is no list of messages: unexpected number")
	f(`[{"role":"user","content":"a"}]`, `message 0 has no "text"`)
	f(`[{"text":"a"},{"text":null}]`, `message 1 has no "text"`)
	f(`[{"text":["a"]}]`, "it is no list of messages: unexpected array")
	f("[{\"text\":\"\xff\"}]", "it is not valid UTF-8")
	f(strings.Repeat("[", 20_000), "it is no JSON: wrong at byte 10001")
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","text":"a"}]}`))
	f.Add([]byte(`[{"text":"a"},{"text":"\ud83d\ude00"}]`))
	f.Add([]byte(`{"messages":null}`))
	f.Add([]byte(`[{"text":1}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		got, err := parseAnswer(b)
		if err != nil && got != nil {
			t.Errorf("parseAnswer(%q) = %v beside %v, want nothing", b, got, err)
		}
		size := 0
		for _, m := range got {
			size += len(m.Text)
			if !utf8.ValidString(m.Text) {
				t.Errorf("parseAnswer(%q) gave invalid UTF-8 %q", b, m.Text)
			}
		}
		if size > 3*len(b) {
			t.Errorf("parseAnswer(%q) gave %d bytes of text", b, size)
		}
		if !bytes.Equal(b, before) {
			t.Errorf("parseAnswer(%q) changed its input", before)
		}
	})
}
