package jsonspan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// A spot is where one parser sees a value. A document's spots, in the order in
// which the values begin, are its outline.
type spot struct {
	Depth int
	Kind  jsonspan.Kind
	Name  jsonspan.Span // of a member, with its quotes
	Value jsonspan.Span
}

func appendOutline(spots []spot, v jsonspan.Value, depth int) []spot {
	spots = append(spots, spot{depth, v.Kind(), v.NameSpan(), v.Span()})
	for c := v.First(); c.Exists(); c = c.Next() {
		spots = appendOutline(spots, c, depth+1)
	}
	return spots
}

var kinds = map[jsontext.Kind]jsonspan.Kind{
	'n': jsonspan.Null, 't': jsonspan.True, 'f': jsonspan.False, '0': jsonspan.Number, '"': jsonspan.String,
	'[': jsonspan.Array, '{': jsonspan.Object,
}

// A reference is a jsontext decoder with the same rules as Scan: no duplicate
// names and no invalid UTF-8. Its outline grows token by token.
type reference struct {
	*jsontext.Decoder
	body  []byte
	spots []spot
}

func referenceOutline(body []byte, options ...jsontext.Options) ([]spot, error) {
	options = append(options, jsontext.AllowDuplicateNames(false))
	r := reference{jsontext.NewDecoder(bytes.NewReader(body), options...), body, nil}
	if err := r.value(jsonspan.Span{}); err != nil {
		return nil, err
	}
	if _, err := r.ReadToken(); err != io.EOF {
		return nil, errors.New("trailing data")
	}
	return r.spots, nil
}

func (r *reference) value(name jsonspan.Span) error {
	here, depth := len(r.spots), r.StackDepth()
	kind, span, err := r.token()
	if err != nil {
		return err
	}
	r.spots = append(r.spots, spot{depth, kinds[kind], name, span})
	if kind == '{' || kind == '[' {
		err = r.children(kind)
	}
	r.spots[here].Value.To = int(r.InputOffset())
	return err
}

// children reads what follows an opening token, up to the one that closes it.
func (r *reference) children(opener jsontext.Kind) error {
	for r.PeekKind() != '}' && r.PeekKind() != ']' {
		var name jsonspan.Span
		if opener == '{' {
			var err error
			if _, name, err = r.token(); err != nil {
				return err
			}
		}
		if err := r.value(name); err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

// token reads a token and tells where it stands.
func (r *reference) token() (jsontext.Kind, jsonspan.Span, error) {
	before := r.body[r.InputOffset():]
	token, err := r.ReadToken()
	if err != nil {
		return 0, jsonspan.Span{}, err
	}
	from := len(r.body) - len(bytes.TrimLeft(before, " \t\r\n,:"))
	return token.Kind(), jsonspan.Span{From: from, To: int(r.InputOffset())}, nil
}

// FuzzScan sets Scan beside jsontext. They must agree on what is accepted and on
// every offset, but for the differences that compareRefusal and compareLaxity name.
func FuzzScan(f *testing.F) {
	for _, c := range hardCases {
		f.Add([]byte(c.body))
	}
	f.Add([]byte(sample))
	f.Add(agentBody(2 << 10))
	f.Fuzz(func(t *testing.T, body []byte) {
		var d jsonspan.Doc
		kept := bytes.Clone(body)
		err := d.Scan(body, func([]byte) int { return jsonspan.MaxDepth })
		if !bytes.Equal(body, kept) {
			t.Fatalf("Scan changed %q to %q", kept, body)
		}
		if err != nil {
			compareRefusal(t, body, err.(*jsonspan.Error))
			return
		}
		want, err := referenceOutline(body)
		if err != nil {
			want = compareLaxity(t, body, err)
		}
		if got := appendOutline(nil, d.Root(), 0); !slices.Equal(got, want) {
			t.Errorf("Scan(%q) finds other spans than jsontext (-jsontext +jsonspan):\n%s", body, cmp.Diff(want, got))
		}
	})
}

// compareRefusal checks that what Scan refuses is refused by jsontext, or is one
// of the four things about which Scan alone is strict.
func compareRefusal(t *testing.T, body []byte, refused *jsonspan.Error) {
	t.Helper()
	if refused.Offset < 0 || refused.Offset > len(body) {
		t.Errorf("Scan(%q) = %v, outside the document", body, refused)
	}
	spots, err := referenceOutline(body)
	if err != nil {
		return
	}
	stricter := false
	switch refused.Reason {
	case jsonspan.TooDeep:
		stricter = slices.ContainsFunc(spots, func(s spot) bool { return s.Depth >= jsonspan.MaxDepth && s.Kind >= jsonspan.Array })
	case jsonspan.NotObject:
		stricter = spots[0].Kind != jsonspan.Object
	case jsonspan.LongNumber:
		stricter = slices.ContainsFunc(spots, func(s spot) bool { return s.Value.Len() > jsonspan.MaxNumber && s.Kind == jsonspan.Number })
	case jsonspan.TooLarge:
		stricter = len(spots) > jsonspan.MaxElements
	}
	if !stricter {
		t.Errorf("Scan(%q) = %v, want nil as from jsontext", body, refused)
	}
}

// compareLaxity checks that what Scan accepts and jsontext refuses has a lone
// surrogate escape in a value, and nothing else that is wrong. It returns the outline.
func compareLaxity(t *testing.T, body []byte, refused error) []spot {
	t.Helper()
	spots, err := referenceOutline(body, jsontext.AllowInvalidUTF8(true))
	lone := slices.ContainsFunc(spots, func(s spot) bool {
		if s.Kind != jsonspan.String {
			return false
		}
		_, err := jsontext.AppendUnquote(nil, body[s.Value.From:s.Value.To])
		return err != nil
	})
	if err != nil || !utf8.Valid(body) || !lone {
		t.Fatalf("Scan(%q) = nil, want an error as from jsontext: %v", body, refused)
	}
	return spots
}

// TestInvariant3_SpansAreThoseOfRawMessage lets encoding/json, a parser of
// another make, cut random objects apart, and compares each part.
func TestInvariant3_SpansAreThoseOfRawMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := drawObject(3).Draw(t, "body")
		var d jsonspan.Doc
		if err := d.Scan([]byte(body), nil); err != nil {
			t.Fatalf("Scan(%q) = %v, want nil", body, err)
		}
		compareWithRawMessage(t, d.Root(), []byte(body))
	})
}

func compareWithRawMessage(t *rapid.T, v jsonspan.Value, raw json.RawMessage) {
	if got, want := string(v.Raw()), strings.Trim(string(raw), " \n\t\r"); got != want {
		t.Fatalf("Raw = %q, want %q", got, want)
	}
	switch v.Kind() {
	case jsonspan.Object:
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil || len(members) != v.Len() {
			t.Fatalf("%q has %d members, want %d (%v)", raw, v.Len(), len(members), err)
		}
		for name, want := range members {
			compareWithRawMessage(t, v.Get(name), want)
		}
	case jsonspan.Array:
		var elements []json.RawMessage
		if err := json.Unmarshal(raw, &elements); err != nil || len(elements) != v.Len() {
			t.Fatalf("%q has %d elements, want %d (%v)", raw, v.Len(), len(elements), err)
		}
		element := v.First()
		for _, want := range elements {
			compareWithRawMessage(t, element, want)
			element = element.Next()
		}
	case jsonspan.String:
		var want string
		if got, _ := v.Text(); json.Unmarshal(raw, &want) != nil || got != want {
			t.Fatalf("Text of %s = %q, want %q", raw, got, want)
		}
	}
}

// drawObject makes objects nested up to depth, with white space anywhere and
// escapes of all kinds.
func drawObject(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		names := rapid.SliceOfNDistinct(rapid.String(), 0, 12, rapid.ID).Draw(t, "names")
		members := make([]string, len(names))
		for i, name := range names {
			members[i] = drawQuoted(t, name) + drawSpace(t) + ":" + drawValue(depth).Draw(t, "value")
		}
		return drawSpace(t) + "{" + drawSpace(t) + strings.Join(members, ","+drawSpace(t)) + "}" + drawSpace(t)
	})
}

func drawValue(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case kind == 0 && depth > 0:
			return drawObject(depth-1).Draw(t, "object")
		case kind == 1 && depth > 0:
			elements := rapid.SliceOfN(drawValue(depth-1), 0, 4).Draw(t, "elements")
			return drawSpace(t) + "[" + strings.Join(elements, ",") + drawSpace(t) + "]"
		case kind <= 3:
			return drawSpace(t) + drawQuoted(t, rapid.String().Draw(t, "text"))
		}
		words := []string{"null", "true", "false", "0", "-1", "12.50", "1e9", "-0.1E-7", "{}", "[]", `""`}
		return drawSpace(t) + rapid.SampledFrom(words).Draw(t, "word") + drawSpace(t)
	})
}

func drawSpace(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", " ", "\n\t\r "}).Draw(t, "space")
}

// drawQuoted is s as a JSON string, with as few escapes as can be, with those of
// encoding/json (which escapes HTML), or with nothing else.
func drawQuoted(t *rapid.T, s string) string {
	switch rapid.IntRange(0, 2).Draw(t, "escapes") {
	case 0:
		return string(jsonspan.AppendQuoted(nil, s))
	case 1:
		quoted, _ := json.Marshal(s)
		return string(quoted)
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return `"` + b.String() + `"`
}
