package dialecttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// checkRenderings: any opener is rendered as a list of JSON values that hold its
// roles and texts, always in the same bytes; and what cannot be rendered is an
// error.
func checkRenderings(t *testing.T, d dialect.Dialect) {
	for _, bad := range [][]dialect.Message{nil, {{Role: "tool", Text: "x"}}, {{Role: "", Text: "x"}}, {{Role: "user"}}} {
		if got, err := d.Renderings(bad); err == nil {
			t.Errorf("Renderings(%q) = %q, want an error", bad, got)
		}
	}
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		msgs := drawOpener(t)
		all, err := d.Renderings(msgs)
		if err != nil {
			t.Fatalf("Renderings(%q) = %v, want no error", msgs, err)
		}
		again, _ := d.Renderings(slices.Clone(msgs))
		if diff := cmp.Diff(all, again); diff != "" {
			t.Fatalf("Renderings(%q) differ the second time:\n%s", msgs, diff)
		}
		for _, r := range all {
			checkRendering(t, d, r, msgs)
		}
	}))
}

func checkRendering(t *rapid.T, d dialect.Dialect, r dialect.Rendering, msgs []dialect.Message) {
	if !strings.HasPrefix(r.Name, d.Name()+".") {
		t.Fatalf("rendering is named %q, want %s.PLACEMENT", r.Name, d.Name())
	}
	list := fmt.Appendf(nil, "[%s]", r.Bytes)
	if err := valid(list); err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	var got []any
	if err := json.Unmarshal(list, &got); err != nil || len(got) != len(msgs) {
		t.Fatalf("%s is no list of %d messages", list, len(msgs))
	}
	for i, m := range msgs {
		if want := strings.ToValidUTF8(m.Text, "\ufffd"); !holds(got[i], want) {
			t.Fatalf("message %d of %s lacks the text %q", i, list, want)
		}
		if role := got[i].(map[string]any)["role"]; m.Role == "assistant" != (role == "assistant") {
			t.Fatalf("message %d of %s has the role %v, was composed as %q", i, list, role, m.Role)
		}
	}
}

// holds reports whether a decoded value is or contains the string.
func holds(v any, s string) bool {
	switch v := v.(type) {
	case string:
		return v == s
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return holds(e, s) })
	case map[string]any:
		for _, e := range v {
			if holds(e, s) {
				return true
			}
		}
	}
	return false
}

// drawOpener draws messages with texts of any characters. Each byte of invalid
// UTF-8 is drawn alone, so that what becomes of it can be told simply.
func drawOpener(t *rapid.T) []dialect.Message {
	message := rapid.Custom(func(t *rapid.T) dialect.Message {
		role := rapid.SampledFrom([]string{"user", "assistant", "system", "developer"}).Draw(t, "role")
		text := rapid.StringN(1, 40, -1).Draw(t, "text")
		return dialect.Message{Role: role, Text: text + rapid.SampledFrom([]string{"", "\xff", "</x>\x00\u2028\"\\"}).Draw(t, "odd")}
	})
	return rapid.SliceOfN(message, 1, 4).Draw(t, "opener")
}
