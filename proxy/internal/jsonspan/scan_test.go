package jsonspan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// reason scans body to the given depth below every member and returns why it was
// refused, or "".
func reason(t *testing.T, body string, levels int) (string, int) {
	t.Helper()
	var d jsonspan.Doc
	err := d.Scan([]byte(body), func([]byte) int { return levels })
	if err == nil {
		return "", 0
	}
	var e *jsonspan.Error
	if !errors.As(err, &e) {
		t.Fatalf("Scan(%q) = %T, want *Error", body, err)
	}
	if e.Offset < 0 || e.Offset > len(body) {
		t.Errorf("Scan(%q): offset %d is outside the document", body, e.Offset)
	}
	if d.Root().Exists() || d.Body() != nil {
		t.Errorf("Scan(%q): the Doc is not empty after %v", body, err)
	}
	return e.Reason, e.Offset
}

// hardCases are documents that parsers are known to disagree on, or that a
// hand-written scanner gets wrong. Each is tried with its values indexed and not.
var hardCases = []struct {
	name, body, reason string
	at                 int
}{
	{"plain", `{"model":"m","messages":[{"role":"user"}],"n":-0.5e+10,"b":[true,false,null]}`, "", 0},
	{"empty object", `{}`, "", 0},
	{"white space of all kinds", " \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, \t\r\n{ \t\r\n} \t\r\n] \t\r\n} \t\r\n", "", 0},
	{"empty containers", `{"a":[],"b":{},"c":"","":0}`, "", 0},
	{"all escapes", `{"a":"\"\\\/\b\f\n\r\t\u0000\uFFFF\uabcd"}`, "", 0},
	{"DEL and U+FEFF inside", "{\"a\":\"\x7f\ufeff\"}", "", 0},
	{"largest character", "{\"a\":\"\U0010ffff\"}", "", 0},

	{"empty", "", jsonspan.Empty, 0},
	{"only space", " \n", jsonspan.Empty, 2},
	{"byte order mark", "\ufeff{}", jsonspan.BOM, 0},
	{"UTF-16", "\xff\xfe{\x00}\x00", jsonspan.InvalidUTF8, 0},
	{"no-break space", "{\u00a0}", jsonspan.Syntax, 1},
	{"vertical tab", "{\v}", jsonspan.Syntax, 1},
	{"NUL", "{\x00}", jsonspan.Syntax, 1},
	{"NUL after", "{}\x00", jsonspan.TrailingData, 2},
	{"trailing comma", `{"a":1,}`, jsonspan.Syntax, 7},
	{"trailing comma in array", `{"a":[1,]}`, jsonspan.Syntax, 8},
	{"leading comma", `{,"a":1}`, jsonspan.Syntax, 1},
	{"two commas", `{"a":1,,"b":1}`, jsonspan.Syntax, 7},
	{"no comma", `{"a":1 "b":1}`, jsonspan.Syntax, 7},
	{"no colon", `{"a" 1}`, jsonspan.Syntax, 5},
	{"two colons", `{"a"::1}`, jsonspan.Syntax, 5},
	{"colon in array", `{"a":["b":1]}`, jsonspan.Syntax, 9},
	{"no value", `{"a":}`, jsonspan.Syntax, 5},
	{"name alone", `{"a"}`, jsonspan.Syntax, 4},
	{"name not a string", `{1:1}`, jsonspan.Syntax, 1},
	{"single quotes", `{'a':1}`, jsonspan.Syntax, 1},
	{"wrong closer", `{"a":[1}`, jsonspan.Syntax, 7},
	{"wrong closer of object", `{"a":{"b":1]}`, jsonspan.Syntax, 11},
	{"trailing data", `{} {}`, jsonspan.TrailingData, 3},
	{"trailing closer", `{}}`, jsonspan.TrailingData, 2},
	{"trailing comment", `{}//`, jsonspan.TrailingData, 2},
	{"comment", `{/**/}`, jsonspan.Syntax, 1},
	{"hash comment", "{#\n}", jsonspan.Syntax, 1},

	{"array at the root", `[{}]`, jsonspan.NotObject, 0},
	{"string at the root", ` "a"`, jsonspan.NotObject, 1},
	{"number at the root", `0`, jsonspan.NotObject, 0},
	{"broken array at the root", `[1`, jsonspan.Syntax, 2},
	{"array and more", `[1]x`, jsonspan.TrailingData, 3},

	{"NaN", `{"a":NaN}`, jsonspan.Syntax, 5},
	{"Infinity", `{"a":-Infinity}`, jsonspan.Syntax, 6},
	{"leading zero", `{"a":01}`, jsonspan.Syntax, 6},
	{"minus zero", `{"a":-0}`, "", 0},
	{"minus leading zero", `{"a":-01}`, jsonspan.Syntax, 7},
	{"plus", `{"a":+1}`, jsonspan.Syntax, 5},
	{"minus", `{"a":-}`, jsonspan.Syntax, 6},
	{"no fraction", `{"a":1.}`, jsonspan.Syntax, 7},
	{"no integer", `{"a":.5}`, jsonspan.Syntax, 5},
	{"no exponent", `{"a":1e}`, jsonspan.Syntax, 7},
	{"signed no exponent", `{"a":1E-}`, jsonspan.Syntax, 8},
	{"hexadecimal", `{"a":0x1}`, jsonspan.Syntax, 6},
	{"zero exponent", `{"a":0e0}`, "", 0},
	{"number of 64 bytes", `{"a":` + strings.Repeat("7", 64) + `}`, "", 0},
	{"number of 65 bytes", `{"a":-` + strings.Repeat("7", 64) + `}`, jsonspan.LongNumber, 5},
	{"broken long number", `{"a":-` + strings.Repeat("7", 99) + `.}`, jsonspan.Syntax, 106},

	{"capital literal", `{"a":True}`, jsonspan.Syntax, 5},
	{"short literal", `{"a":nul}`, jsonspan.Syntax, 8},
	{"long literal", `{"a":nulll}`, jsonspan.Syntax, 9},
	{"literal at the end", `{"a":tru`, jsonspan.Syntax, 8},

	{"raw newline", "{\"a\":\"x\ny\"}", jsonspan.Syntax, 7},
	{"raw NUL", "{\"a\":\"\x00\"}", jsonspan.Syntax, 6},
	{"raw unit separator", "{\"a\":\"\x1f\"}", jsonspan.Syntax, 6},
	{"raw tab in name", "{\"a\tb\":1}", jsonspan.Syntax, 3},
	{"bad escape", `{"a":"\x41"}`, jsonspan.Syntax, 7},
	{"escaped quote of single kind", `{"a":"\'"}`, jsonspan.Syntax, 7},
	{"escaped newline", "{\"a\":\"\\\n\"}", jsonspan.Syntax, 7},
	{"escaped non-ASCII", `{"a":"\é"}`, jsonspan.Syntax, 7},
	{"capital U", `{"a":"\U0041"}`, jsonspan.Syntax, 7},
	{"three hex digits", `{"a":"\u004"}`, jsonspan.Syntax, 7},
	{"no hex digit", `{"a":"\u00g0"}`, jsonspan.Syntax, 7},
	{"escape at the end", `{"a":"\`, jsonspan.Syntax, 7},
	{"backslash, then end of string", `{"a":"\\"}`, "", 0},
	{"odd backslashes", `{"a":"\\\"}`, jsonspan.Syntax, 11},
	{"no closing quote", `{"a":"b}`, jsonspan.Syntax, 8},

	{"stray continuation byte", "{\"a\":\"\x80\"}", jsonspan.InvalidUTF8, 6},
	{"invalid in name", "{\"\xff\":1}", jsonspan.InvalidUTF8, 2},
	{"overlong", "{\"a\":\"\xc0\xaf\"}", jsonspan.InvalidUTF8, 6},
	{"encoded surrogate", "{\"a\":\"\xed\xa0\x80\"}", jsonspan.InvalidUTF8, 6},
	{"beyond U+10FFFF", "{\"a\":\"\xf4\x90\x80\x80\"}", jsonspan.InvalidUTF8, 6},
	{"cut character", "{\"a\":\"\xe2\x82\"}", jsonspan.InvalidUTF8, 6},
	{"invalid outside strings", "{\"a\":\xff}", jsonspan.InvalidUTF8, 5},
	{"invalid between tokens", "{\"a\"\xc3:1}", jsonspan.InvalidUTF8, 4},

	{"lone high surrogate", `{"a":"\ud800"}`, "", 0},
	{"lone low surrogate", `{"a":"\udc00\ud800"}`, "", 0},
	{"surrogate pair in name", `{"\ud83d\ude00":1}`, "", 0},
	{"lone surrogate in name", `{"\ud800":1}`, jsonspan.InvalidUTF8, 1},
	{"reversed surrogates in name", `{"x\ude00\ud83d":1}`, jsonspan.InvalidUTF8, 1},
	{"high surrogate and letter in name", `{"\ud83d\u0041":1}`, jsonspan.InvalidUTF8, 1},
	{"lone surrogate in inner name", `{"a":[{"\udfff":1}]}`, jsonspan.InvalidUTF8, 7},

	{"duplicate", `{"model":"a","model":"b"}`, jsonspan.DuplicateName, 13},
	{"duplicate after another", `{"model":"a","n":1,"model":"b"}`, jsonspan.DuplicateName, 19},
	{"escaped duplicate", `{"model":"a","\u006dodel":"b"}`, jsonspan.DuplicateName, 13},
	{"duplicate of escaped", `{"\u006dodel":"a","model":"b"}`, jsonspan.DuplicateName, 18},
	{"both escaped", `{"m\u006fdel":"a","\u006dodel":"b"}`, jsonspan.DuplicateName, 18},
	{"escaped slash", `{"a\/b":1,"a/b":2}`, jsonspan.DuplicateName, 10},
	{"pair and character", `{"😀":1,"\ud83d\ude00":2}`, jsonspan.DuplicateName, 10},
	{"empty names", `{"":1,"":2}`, jsonspan.DuplicateName, 6},
	{"duplicate in a message", `{"messages":[{"role":"user","role":"system"}]}`, jsonspan.DuplicateName, 28},
	{"duplicate deep down", `{"a":[[[[[[[[{"b":{"c":1,"c":2}}]]]]]]]]}`, jsonspan.DuplicateName, 25},
	{"duplicate after an inner object", `{"a":{"b":1,"c":2},"a":3}`, jsonspan.DuplicateName, 19},
	{"same name inside and outside", `{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`, "", 0},
	{"other case", `{"model":1,"MODEL":2,"Model":3}`, "", 0},
	{"long s is no s", `{"messages":1,"meſſages":2}`, "", 0},
	{"composed and decomposed", "{\"\u00e9\":1,\"e\u0301\":2}", "", 0},
	{"prefix of a name", `{"ab":1,"a":2,"abc":3}`, "", 0},
	{"U+FFFD and its escape", `{"�":1,"\ufffd":2}`, jsonspan.DuplicateName, 9},

	{"depth 128", nested(127), "", 0},
	{"depth 129", nested(128), jsonspan.TooDeep, 5 + 127},
	{"depth 128 of objects", strings.Repeat(`{"a":`, 128) + `1` + strings.Repeat(`}`, 128), "", 0},
	{"depth 129 of objects", strings.Repeat(`{"a":`, 129) + `1` + strings.Repeat(`}`, 129), jsonspan.TooDeep, 5 * 128},
	{"wide is not deep", `{"a":[` + strings.Repeat(`[{}],`, 200) + `0]}`, "", 0},
	{"100,000 open arrays", `{"a":` + strings.Repeat(`[`, 100_000), jsonspan.TooDeep, 5 + 127},
}

// nested is an object whose only member is n arrays, one inside the other.
func nested(n int) string {
	return `{"a":` + strings.Repeat(`[`, n) + strings.Repeat(`]`, n) + `}`
}

func TestInvariant1_HardCases(t *testing.T) {
	for _, c := range hardCases {
		for _, levels := range []int{0, 200} {
			got, at := reason(t, c.body, levels)
			if got != c.reason || at != c.at {
				t.Errorf("%s: Scan(%.80q) with %d levels = %q at %d, want %q at %d", c.name, c.body, levels, got, at, c.reason, c.at)
			}
		}
	}
}

// Long and short strings may take different ways through the scanner, so the
// cases about strings are tried again at each place in long text.
func TestInvariant1_HardCasesInLongText(t *testing.T) {
	for _, c := range hardCases {
		before, after, ok := strings.Cut(c.body, `{"a":"`)
		if !ok || before != "" {
			continue
		}
		for pad := range 140 {
			text := strings.Repeat("x", pad)
			body := `{"a":"` + text + after
			got, at := reason(t, body, 0)
			if want := c.at + pad; got != c.reason || got != "" && at != want {
				t.Errorf("%s: Scan(%q) = %q at %d, want %q at %d", c.name, body, got, at, c.reason, want)
				break
			}
		}
	}
}

const sample = ` {"model":"m\u00e9","messages":[{"role":"user","content":"a long text: ` +
	`é, 中文, \ud83d\ude00 and \"quotes\" \\ to go past all the short cuts"},[],{}],` +
	`"n":-12.5e-3,"t":[true,false,null],"":{"a":{"b":""}}}`

func TestInvariant1_EveryTruncationIsRefused(t *testing.T) {
	if got, at := reason(t, sample, 9); got != "" {
		t.Fatalf("Scan(sample) = %q at %d, want none", got, at)
	}
	for n := range len(sample) {
		if got, at := reason(t, sample[:n], 9); got == "" || at > n {
			t.Errorf("Scan(%q) = %q at %d, want a refusal", sample[:n], got, at)
		}
	}
}

// A byte changed anywhere must never make Scan run outside the document, or
// accept what is no JSON or no UTF-8.
func TestInvariant1_EveryChangedByte(t *testing.T) {
	var d jsonspan.Doc
	for i := range len(sample) {
		for _, c := range []byte{0, '\n', '"', '\\', '{', '}', ',', 'u', 0x7f, 0x80, 0xc3, 0xff} {
			body := []byte(sample)
			body[i] = c
			if d.Scan(body, nil) == nil && !(json.Valid(body) && utf8.Valid(body)) {
				t.Errorf("Scan(%q) = nil, want a refusal", body)
			}
		}
	}
}

func TestElementLimitHoldsOnlyForIndexedArrays(t *testing.T) {
	elements := func(n int) string { return `{"a":[` + strings.Repeat("0,", n-1) + `0]}` }
	f := func(n, levels int, want string) {
		t.Helper()
		if got, _ := reason(t, elements(n), levels); got != want {
			t.Errorf("Scan of %d elements with %d levels = %q, want %q", n, levels, got, want)
		}
	}
	f(jsonspan.MaxElements, 1, "")
	f(jsonspan.MaxElements+1, 1, jsonspan.TooLarge)
	f(1_000_000, 0, "")
	f(1_000_000, 1, jsonspan.TooLarge)
}

func TestValueLimitHoldsOverAllArrays(t *testing.T) {
	row := "[" + strings.Repeat("0,", 999) + "0]"
	rows := func(n int) string { return `{"a":[` + strings.Repeat(row+",", n-1) + row + `]}` }
	if got, _ := reason(t, rows(1100), 2); got != jsonspan.TooLarge {
		t.Errorf("Scan of 1,101,102 indexed values = %q, want %q", got, jsonspan.TooLarge)
	}
	if got, _ := reason(t, rows(1100), 1); got != "" {
		t.Errorf("Scan of 1,102 indexed values = %q, want none", got)
	}
}

func TestInvariant4_ReusedDocDoesNotAllocate(t *testing.T) {
	body := agentBody(100 << 10)
	var d jsonspan.Doc
	levels := func(name []byte) int {
		if string(name) == "messages" {
			return 4
		}
		return 1
	}
	if err := d.Scan(body, levels); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(20, func() { _ = d.Scan(body, levels) }); n != 0 {
		t.Errorf("a second Scan allocates %v times, want 0", n)
	}
}

func TestResetLetsGoOfTheDocument(t *testing.T) {
	var d jsonspan.Doc
	if err := d.Scan([]byte(sample), nil); err != nil {
		t.Fatal(err)
	}
	v := d.Root().Get("messages")
	d.Reset()
	if d.Body() != nil || d.Root().Exists() || v.Exists() || v.Raw() != nil {
		t.Error("a value still exists after Reset")
	}
}

func TestErrorText(t *testing.T) {
	f := func(reason, want string) {
		t.Helper()
		if got := (&jsonspan.Error{Reason: reason, Offset: 123}).Error(); got != want {
			t.Errorf("Error{%q, 123} = %q, want %q", reason, got, want)
		}
	}
	f(jsonspan.DuplicateName, "duplicate name at byte 123")
	f(jsonspan.Syntax, "syntax error at byte 123")
	f(jsonspan.InvalidUTF8, "invalid UTF-8 at byte 123")
	f(jsonspan.TooLarge, "too large at byte 123")
}
