package logsink

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// sameRecord compares what JSON keeps: instants, and lists by their elements.
var sameRecord = cmp.Options{
	cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(Rendering{}, "Bytes"),
}

func TestAppendJSONReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecord(t, rapid.String())
		line := want.AppendJSON(nil)
		got, err := ParseRecord(line)
		if err != nil {
			t.Fatalf("ParseRecord(%s): %v", line, err)
		}
		if d := cmp.Diff(want, got, sameRecord); d != "" {
			t.Fatalf("ParseRecord(AppendJSON(r)) differs (-want +got):\n%s", d)
		}
	})
}

// The hand-written encoder must say what encoding/json says, whatever bytes the
// strings hold.
func TestAppendJSONEqualsEncodingJSON(t *testing.T) {
	anyBytes := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t, anyBytes)
		_, into := newRecord(r.Kind())
		line := r.AppendJSON(nil)
		if !json.Valid(line) {
			t.Fatalf("AppendJSON gives %s, which is not JSON", line)
		}
		reference, err := json.Marshal(pointer(r))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(reference, into); err != nil {
			t.Fatal(err)
		}
		got, err := ParseRecord(line)
		if err != nil {
			t.Fatalf("ParseRecord(%s): %v", line, err)
		}
		if d := cmp.Diff(into, pointer(got), sameRecord); d != "" {
			t.Fatalf("encoding/json and AppendJSON differ (-json +ours):\n%s", d)
		}
		if a, b := fields(t, reference), fields(t, line); !cmp.Equal(a, b) {
			t.Fatalf("fields differ (-json +ours):\n%s", cmp.Diff(a, b))
		}
	})
}

// One byte of every value, at every place of a string that is else plain: the
// encoder looks at eight at a time.
func TestAppendJSONStringEqualsEncodingJSON(t *testing.T) {
	for n := range 20 {
		for at := range n {
			for b := range 256 {
				s := []byte(strings.Repeat(" !#[]\x7fx", 3))[:n]
				s[at] = byte(b)
				if got, want := string(appendJSONString(nil, string(s))), jsonString(t, string(s)); got != want {
					t.Fatalf("appendJSONString(%q) = %s, want %s", s, got, want)
				}
			}
		}
	}
	if got := string(appendJSONString(nil, "")); got != `""` {
		t.Errorf("appendJSONString of nothing = %s", got)
	}
}

// jsonString is s as encoding/json writes it, but for U+FFFD as itself.
func jsonString(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), `\ufffd`, "\uFFFD")
}

func pointer(r Record) any {
	switch r.Kind() {
	case KindAnchor:
		return r.Anchor
	case KindHeader:
		return r.Header
	case KindRequest:
		return r.Request
	}
	return r.Response
}

func fields(t *rapid.T, line []byte) map[string]any {
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "kind")
	return m
}

// A field that is added to a record and forgotten in the encoder shows here.
func TestAppendJSONKnowsEveryField(t *testing.T) {
	for _, kind := range []Kind{KindAnchor, KindHeader, KindRequest, KindResponse} {
		r, into := newRecord(kind)
		fill(reflect.ValueOf(into).Elem())
		var want, got map[string]any
		reference, err := json.Marshal(into)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(json.Unmarshal(reference, &want), json.Unmarshal(r.AppendJSON(nil), &got)); err != nil {
			t.Fatal(err)
		}
		delete(got, "kind")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("AppendJSON of a %s differs from its fields (-fields +line):\n%s", kind, d)
		}
	}
}

// fill sets every field to something that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			*at = time.Unix(1, 2).UTC()
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Array:
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(7)
	default:
		v.SetInt(3)
	}
}

func TestAppendJSONOddTimes(t *testing.T) {
	f := func(in, want time.Time) {
		t.Helper()
		r := Record{Response: &Response{V: Version, Time: in}}
		got, err := ParseRecord(r.AppendJSON(nil))
		if err != nil || !got.Time().Equal(want) {
			t.Errorf("time %v reads back as %v, %v; want %v", in, got.Time(), err, want)
		}
	}
	whole := time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC)
	f(time.Time{}, time.Time{})
	f(whole, whole)
	f(whole.In(time.FixedZone("", 90*60)), whole)
	f(whole.In(time.FixedZone("", 12345)), whole)   // seconds in the offset
	f(whole.In(time.FixedZone("", 30*3600)), whole) // more than a day
	f(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{})
	f(time.Unix(math.MaxInt32*1000, 0), time.Time{})
}

func TestParseRecordVersions(t *testing.T) {
	r, err := ParseRecord([]byte(`{"kind":"request","v":1,"id":"r1","from_the_future":{"a":[1]}}`))
	if err != nil || r.ID() != "r1" {
		t.Errorf("ParseRecord with an unknown field = %v, %v; want r1", r.ID(), err)
	}
	_, err = ParseRecord([]byte(`{"kind":"request","v":2,"id":"r1"}`))
	if !errors.Is(err, ErrNewer) {
		t.Errorf("ParseRecord of layout 2 gives %v, want ErrNewer", err)
	}
	for _, bad := range []string{"", "{", "null", "[]", `{"kind":"other","v":1}`, `{"v":1}`, `{"kind":"request","v":"1"}`, `{"kind":"header","v":1,"parts":[{"digest":"md5:00"}]}`} {
		if r, err := ParseRecord([]byte(bad)); err == nil {
			t.Errorf("ParseRecord(%q) = %v, want an error", bad, r)
		}
	}
}

func TestAppendJSONOfNothing(t *testing.T) {
	if got := (Record{}).AppendJSON(nil); len(got) != 0 {
		t.Errorf("AppendJSON of an empty Record = %q, want nothing", got)
	}
}

// The canonical form is written out once, so that a change of it is seen.
func TestI2_PrefixHashIsOfTheCanonicalForm(t *testing.T) {
	msgs := []Message{{"user", "a \"b\" \\ \x01\n\t\b\f\r\x7f <é> \u2028 🙂"}, {"assistant", ""}}
	want := `[{"role":"user","text":"a \"b\" \\ \u0001\n\t\b\f\r` + "\x7f <é> \u2028 🙂" + `"},{"role":"assistant","text":""}]`
	if got := string(appendMessages(nil, msgs)); got != want {
		t.Errorf("canonical messages = %s, want %s", got, want)
	}
	// echo -n '[{"role":"user","text":"hi"}]' | sha256sum
	const hi = "sha256:87a5ac23614dee2c6f278a14a6b64a3a1455ccac0529d547d6a51b5ae9f22051"
	if got := PrefixHash([]Message{{"user", "hi"}}); got != hi {
		t.Errorf("PrefixHash(user, hi) = %s, want %s", got, hi)
	}
	if got := PrefixHash(nil); got != "" {
		t.Errorf("PrefixHash(nil) = %q, want none", got)
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, r := range []Record{{Request: sampleRequest(1)}, {Response: sampleResponse(1)}, {Header: sampleHeader(1)}, {Anchor: sampleAnchor()}} {
		f.Add(r.AppendJSON(nil))
	}
	f.Add([]byte(`{"kind":"request","v":1,"KIND":"header","time":"0000-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRecord(line)
		if err != nil {
			return
		}
		again, err := ParseRecord(r.AppendJSON(nil))
		if err != nil {
			t.Fatalf("ParseRecord of its own line: %v", err)
		}
		if d := cmp.Diff(r, again, sameRecord); d != "" {
			t.Fatalf("a record changes when it is written again (-first +second):\n%s", d)
		}
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	bench := func(name string, r Record) {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 4096)
			b.ReportAllocs()
			for b.Loop() {
				buf = r.AppendJSON(buf[:0])
			}
			b.ReportMetric(float64(len(buf)), "bytes")
		})
	}
	bench("request", Record{Request: sampleRequest(1)})
	bench("response", Record{Response: sampleResponse(1)})
	b.Run("encoding/json request", func(b *testing.B) {
		r := sampleRequest(1)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestAppendJSONAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 4096)
	for _, r := range []Record{{Request: sampleRequest(1)}, {Response: sampleResponse(1)}} {
		if n := testing.AllocsPerRun(100, func() { buf = r.AppendJSON(buf[:0]) }); n != 0 {
			t.Errorf("AppendJSON of a %s allocates %v times, want 0", r.Kind(), n)
		}
	}
}

func drawRecord(t *rapid.T, str *rapid.Generator[string]) Record {
	s := func(name string) string { return str.Draw(t, name) }
	n := func(name string) int { return rapid.IntRange(-3, 1<<40).Draw(t, name) }
	key := Key{s("tenant"), s("session")}
	when := time.Unix(rapid.Int64Range(-1e10, 1e11).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns"))
	if rapid.Bool().Draw(t, "utc") {
		when = when.UTC()
	}
	digest := func() (d Digest) {
		if rapid.Bool().Draw(t, "digest") {
			d = Sum([]byte(s("digested")))
		}
		return d
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		r := &Request{V: Version, ID: s("id"), Key: key, Epoch: n("epoch"), Thread: s("thread"), Number: int64(n("number")), Attempt: n("attempt"),
			Header: s("header"), Dialect: s("dialect"), Route: s("route"), Path: s("path"), Model: s("model"), Class: s("class"),
			Stream: rapid.Bool().Draw(t, "stream"), Decision: s("decision"), Why: s("why"), Messages: n("messages"), Lineage: s("lineage"),
			Body: digest(), Size: n("size"), Marks: n("marks"), Time: when, Derived: rapid.Bool().Draw(t, "derived")}
		for range rapid.IntRange(0, 3).Draw(t, "splices") {
			r.Splices = append(r.Splices, Splice{n("offset"), n("length"), s("kind"), s("rendering"), n("from")})
		}
		return Record{Request: r}
	case 1:
		r := &Response{V: Version, ID: s("id"), Key: key, Epoch: n("epoch"), Thread: s("thread"), Status: n("status"), FirstByte: time.Duration(n("first")),
			Total: time.Duration(n("total")), Bytes: int64(n("bytes")), End: s("end"), Detail: s("detail"), UpstreamID: s("upstream"),
			ResponseID: s("response"), StopReason: s("stop"), Time: when}
		if rapid.Bool().Draw(t, "usage") {
			r.Usage = drawUsage(t)
		}
		for range rapid.IntRange(0, 2).Draw(t, "iterations") {
			r.Iterations = append(r.Iterations, Iteration{Model: s("iterated")})
			if rapid.Bool().Draw(t, "told") {
				r.Iterations[0].Usage = drawUsage(t)
			}
		}
		r.Model, r.Tier, r.Unpriced, r.Cost, r.Cause = s("answered"), s("tier"), s("unpriced"), drawCost(t), drawCause(t)
		return Record{Response: r}
	case 2:
		h := &Header{V: Version, ID: s("id"), Key: key, Epoch: n("epoch"), Thread: s("thread"), Reason: s("reason"), Model: s("model"), Time: when}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			h.Parts = append(h.Parts, Part{s("name"), digest(), n("size"), rapid.Bool().Draw(t, "stored")})
			h.Changed = append(h.Changed, s("changed"))
		}
		return Record{Header: h}
	}
	a := &Anchor{V: Version, Key: key, Epoch: n("epoch"), Reason: s("reason"), Decision: s("decision"), Why: s("why"), Prefix: s("prefix"),
		Route: s("route"), Source: s("source"), Resume: s("resume"), Config: s("config"), Preface: s("preface"), Time: when}
	for range rapid.IntRange(0, 2).Draw(t, "messages") {
		a.Messages = append(a.Messages, Message{s("role"), s("text")})
		a.Renderings = append(a.Renderings, Rendering{Name: s("name"), SHA256: s("sha"), Size: n("size"), Blob: digest()})
		a.Contributors = append(a.Contributors, Contribution{s("name"), s("kind"), s("sha"), n("bytes"), n("messages"), time.Duration(n("took")), s("outcome")})
	}
	return Record{Anchor: a}
}

func drawUsage(t *rapid.T) *Usage {
	opt := func(name string) *int64 {
		if rapid.Bool().Draw(t, name) {
			return nil
		}
		n := rapid.Int64().Draw(t, name)
		return &n
	}
	return &Usage{opt("fresh"), opt("unsplit"), opt("read"), opt("5m"), opt("1h"), opt("30m"), opt("other"), opt("output"), opt("reasoning")}
}

func drawCost(t *rapid.T) *Cost {
	if rapid.Bool().Draw(t, "no cost") {
		return nil
	}
	n := func(name string) int64 { return rapid.Int64().Draw(t, name) }
	return &Cost{n("paid"), n("uncached"), n("prefix"), rapid.Bool().Draw(t, "estimated"), rapid.String().Draw(t, "price")}
}

func drawCause(t *rapid.T) *Cause {
	if rapid.Bool().Draw(t, "no cause") {
		return nil
	}
	s := func(name string) string { return rapid.String().Draw(t, name) }
	n := func(name string) int64 { return rapid.Int64().Draw(t, name) }
	at := func(name string) *int {
		if rapid.Bool().Draw(t, name) {
			return nil
		}
		i := rapid.Int().Draw(t, name)
		return &i
	}
	return &Cause{Name: s("cause"), Owner: s("owner"), Section: s("section"), Offset: at("offset"), Index: at("index"), Detail: s("why"),
		Expected: n("expected"), Missed: n("missed"), Lost: n("lost"), Waste: rapid.Bool().Draw(t, "waste"), Against: s("against"), Provider: s("verdict")}
}

func sampleKey(n int) Key {
	return Key{strings.Repeat("a1", 16), "0198c5a4-7f2e-7c1b-9d3e-" + strings.Repeat("0", 4) + string(rune('a'+n%26)) + "1234567"}
}

func sampleRequest(n int) *Request {
	return &Request{V: Version, ID: "req_01K9ZQ3W7M4X8N2C6V5B1A0D9E", Key: sampleKey(n), Epoch: 1, Thread: "main", Number: int64(n), Attempt: 1,
		Header: "hdr_01K9ZQ3W7M4X8N2C6V5B1A0D9F", Dialect: "anthropic.messages", Route: "anthropic", Path: "/v1/messages", Model: "claude-opus-4-6",
		Class: "turn", Stream: true, Decision: Inject, Messages: 42, Lineage: strings.Repeat("0f", 16),
		Splices: []Splice{{Offset: 15324, Length: 4113, Kind: "prefix", Rendering: "anthropic.messages", From: 0}},
		Body:    Sum([]byte("body")), Size: 98765, Marks: 3, Time: time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)}
}

func sampleResponse(n int) *Response {
	i := func(n int64) *int64 { return &n }
	return &Response{V: Version, ID: "req_01K9ZQ3W7M4X8N2C6V5B1A0D9E", Key: sampleKey(n), Epoch: 1, Thread: "main", Status: 200,
		FirstByte: 812 * time.Millisecond, Total: 9 * time.Second, Bytes: 34567, End: EndComplete, UpstreamID: "req_011CVexampleexample",
		ResponseID: "msg_01Aexampleexample", Usage: &Usage{Fresh: i(12), CacheRead: i(34567), Write5m: i(890), Output: i(456)},
		StopReason: "tool_use", Time: time.Date(2026, 11, 30, 12, 0, 9, 123456789, time.UTC)}
}

func sampleHeader(n int) *Header {
	return &Header{V: Version, ID: "hdr_01K9ZQ3W7M4X8N2C6V5B1A0D9F", Key: sampleKey(n), Epoch: 1, Thread: "main", Reason: ReasonInitial,
		Parts: []Part{{"system", Sum([]byte("s")), 1, true}, {"tools", Sum([]byte("t")), 1, false}}, Model: "claude-opus-4-6",
		Time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
}

func sampleAnchor() *Anchor {
	msgs := []Message{{"user", "Follow the team's rules."}}
	return &Anchor{V: Version, Key: sampleKey(1), Epoch: 1, Reason: ReasonInitial, Decision: Inject, Prefix: PrefixHash(msgs), Messages: msgs,
		Contributors: []Contribution{{Name: "rules", Kind: "text", Bytes: 24, Messages: 1, Took: time.Millisecond, Outcome: "ok"}},
		Time:         time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
}
