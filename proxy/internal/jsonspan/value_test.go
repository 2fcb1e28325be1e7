package jsonspan_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// scan scans a body that must be accepted.
func scan(t *testing.T, body string, depth func([]byte) int) *jsonspan.Doc {
	t.Helper()
	var d jsonspan.Doc
	if err := d.Scan([]byte(body), depth); err != nil {
		t.Fatalf("Scan(%q) = %v, want nil", body, err)
	}
	return &d
}

func TestValueOfEachKind(t *testing.T) {
	root := scan(t, ` { "n" : null, "t": true , "f":false,"i":-12,"s" :"\u00e9","a":[ 1 ],"o":{"x" : 1} } `, nil).Root()
	f := func(name string, kind jsonspan.Kind, raw string, children int) {
		t.Helper()
		v := root.Get(name)
		if v.Kind() != kind || string(v.Raw()) != raw || v.Len() != children || !v.Exists() {
			t.Errorf("Get(%q) = kind %d, %q, %d children, want kind %d, %q, %d", name, v.Kind(), v.Raw(), v.Len(), kind, raw, children)
		}
	}
	f("n", jsonspan.Null, "null", 0)
	f("t", jsonspan.True, "true", 0)
	f("f", jsonspan.False, "false", 0)
	f("i", jsonspan.Number, "-12", 0)
	f("s", jsonspan.String, `"\u00e9"`, 0)
	f("a", jsonspan.Array, "[ 1 ]", 1)
	f("o", jsonspan.Object, `{"x" : 1}`, 1)
	if got := root.Span(); got.From != 1 || got.Len() != len(root.Raw()) || root.Len() != 7 || root.Name() != nil {
		t.Errorf("root = %v with %d members and name %q, want it from 1 with 7 and none", got, root.Len(), root.Name())
	}
}

func TestSpansOfMembers(t *testing.T) {
	body := `{ "a" : [10, {"\u0062":2}], "c":3}`
	root := scan(t, body, nil).Root()
	cut := func(s jsonspan.Span) string { return body[s.From:s.To] }
	f := func(v jsonspan.Value, name, member string) {
		t.Helper()
		whole := jsonspan.Span{From: v.NameSpan().From, To: v.Span().To}
		if cut(v.NameSpan()) != name || cut(whole) != member || string(v.Name()) != name[1:len(name)-1] {
			t.Errorf("name %s (%q) of member %s, want %s of %s", cut(v.NameSpan()), v.Name(), cut(whole), name, member)
		}
	}
	f(root.Get("a"), `"a"`, `"a" : [10, {"\u0062":2}]`)
	f(root.Get("c"), `"c"`, `"c":3`)
	f(root.Get("a").First().Next().Get("b"), `"\u0062"`, `"\u0062":2`)
	if v := root.Get("a").First(); v.NameSpan() != (jsonspan.Span{}) || v.Name() != nil || v.NameIs("") {
		t.Errorf("an element has the name %q at %v, want none", v.Name(), v.NameSpan())
	}
}

func TestInvariant2_NamesMatchByMeaningAndExactly(t *testing.T) {
	root := scan(t, `{"\u006dodel":1,"":2,"a\/b":3,"\ud83d\ude00":4,"Role":5,"meſſages":6,"\ufffd":7,"x\u0000":8}`, nil).Root()
	f := func(name string, want int64) {
		t.Helper()
		if got, _ := root.Get(name).Int(); got != want {
			t.Errorf("Get(%q) = %d, want %d", name, got, want)
		}
	}
	f("model", 1)
	f("", 2)
	f("a/b", 3)
	f("😀", 4)
	f("Role", 5)
	f("\ufffd", 7)
	f("x\x00", 8)
	for _, absent := range []string{`\u006dodel`, "Model", "mode", "models", "role", "messages", "\xff", "\xf0\x9f", "x"} {
		f(absent, 0)
	}
}

// walk lists what is indexed below v.
func walk(v jsonspan.Value) []any {
	list := []any{}
	for c := v.First(); c.Exists(); c = c.Next() {
		list = append(list, string(c.Name())+":"+string(c.Raw()), walk(c))
	}
	return list
}

func TestDepthSaysHowFarToIndex(t *testing.T) {
	f := func(levels int, want ...any) {
		t.Helper()
		d := scan(t, `{"a":{"b":[[1]]},"c":2}`, func([]byte) int { return levels })
		if diff := cmp.Diff(want, walk(d.Root())); diff != "" {
			t.Errorf("the index with %d levels (-want +got):\n%s", levels, diff)
		}
		if n := d.Root().Get("a").Len(); n != 1 {
			t.Errorf("Len with %d levels = %d, want 1", levels, n)
		}
	}
	none := []any{}
	c := "c:2"
	f(-1, `a:{"b":[[1]]}`, none, c, none)
	f(0, `a:{"b":[[1]]}`, none, c, none)
	f(1, `a:{"b":[[1]]}`, []any{`b:[[1]]`, none}, c, none)
	f(2, `a:{"b":[[1]]}`, []any{`b:[[1]]`, []any{`:[1]`, none}}, c, none)
	f(3, `a:{"b":[[1]]}`, []any{`b:[[1]]`, []any{`:[1]`, []any{`:1`, none}}}, c, none)
}

func TestDepthIsAskedByMeaning(t *testing.T) {
	var asked []string
	d := scan(t, `{"\u006dessages":[[1]],"tools":[{"tools":[2]}]}`, func(name []byte) int {
		asked = append(asked, string(name))
		return map[string]int{"messages": 1}[string(name)]
	})
	if diff := cmp.Diff([]string{"messages", "tools"}, asked); diff != "" {
		t.Errorf("names asked for (-want +got):\n%s", diff)
	}
	if !d.Root().Get("messages").First().Exists() || d.Root().Get("tools").First().Exists() {
		t.Error("the depth of one member is used for the other")
	}
}

func TestNilDepthIndexesDefaultDepth(t *testing.T) {
	v := scan(t, nested(20), nil).Root().Get("a")
	levels := 0
	for v = v.First(); v.Exists(); v = v.First() {
		levels++
	}
	if levels != jsonspan.DefaultDepth {
		t.Errorf("a nil depth indexes %d levels, want %d", levels, jsonspan.DefaultDepth)
	}
}

func TestAbsentValuesAnswerEverything(t *testing.T) {
	root := scan(t, `{"s":"x","e":[]}`, nil).Root()
	var unscanned jsonspan.Doc
	for _, v := range []jsonspan.Value{
		{}, unscanned.Root(), root.Get("no"), root.Get("s").Get("x"), root.Get("s").First(), root.Get("e").First(),
		root.Get("e").Next(), root.Next(), root.Get("no").Get("no").First().Next(), root.Get("e").Get(""),
	} {
		text, isText := v.Text()
		_, isInt := v.Int()
		if v.Exists() || v.Kind() != jsonspan.Absent || v.Raw() != nil || v.Name() != nil || v.Len() != 0 ||
			v.Span() != (jsonspan.Span{}) || v.NameSpan() != (jsonspan.Span{}) || v.NameIs("") || v.Is("") ||
			v.Bool() || isInt || isText || text != "" || len(v.AppendText(nil)) != 0 || v.Next().Exists() {
			t.Errorf("%#v does not answer as absent", v)
		}
	}
}

func TestBoolAndInt(t *testing.T) {
	f := func(raw string, want int64, ok bool) {
		t.Helper()
		v := scan(t, `{"a":`+raw+`}`, nil).Root().Get("a")
		if got, isInt := v.Int(); got != want && ok || isInt != ok {
			t.Errorf("Int of %s = %d, %v, want %d, %v", raw, got, isInt, want, ok)
		}
		if v.Bool() != (raw == "true") {
			t.Errorf("Bool of %s = %v", raw, v.Bool())
		}
	}
	f("0", 0, true)
	f("-0", 0, true)
	f("-9223372036854775808", math.MinInt64, true)
	f("9223372036854775807", math.MaxInt64, true)
	f("9223372036854775808", 0, false)
	f("-9223372036854775809", 0, false)
	f("18446744073709551616", 0, false)
	f("99999999999999999999", 0, false)
	f("-12", -12, true)
	f("1.0", 0, false)
	f("1e3", 0, false)
	f(`"1"`, 0, false)
	f("null", 0, false)
	f("true", 0, false)
	f("false", 0, false)
}

func TestAccessorsDoNotAllocate(t *testing.T) {
	root := scan(t, sample, nil).Root()
	buffer := make([]byte, 0, 1<<10)
	f := func(name string, call func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
	content := root.Get("messages").First().Get("content")
	f("Get", func() { root.Get("messages").First().Get("content").Next() })
	f("Is", func() { content.Is("a long text: é, 中文, 😀") })
	f("AppendText", func() { content.AppendText(buffer) })
	f("Int of a fraction", func() { root.Get("n").Int() })
	f("Raw and Name", func() { _, _ = content.Raw(), content.Name() })
	f("AppendQuoted", func() { jsonspan.AppendQuoted(buffer, "a\nb\xff\"é") })
}
