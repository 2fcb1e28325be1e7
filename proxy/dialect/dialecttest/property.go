package dialecttest

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// checkInsertOnly: whatever the client's white space and whatever the opener,
// the opener stands at its place, the result is JSON, and without the inserted
// ranges it is the client's body (I3).
func checkInsertOnly(t *testing.T, d dialect.Dialect, cases []Case) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(cases).Draw(rt, "case")
		body := respace(rt, c.Body)
		r := Read(rt, d, c.endpoint(t, d), body)
		if (r.Never != "") != (c.Index == Never) {
			rt.Fatalf("Read(%s) says never %q, want the place %d", body, r.Never, c.Index)
		}
		all, err := d.Renderings(drawOpener(rt))
		if err != nil {
			rt.Fatal(err)
		}
		opener := rendered(all, r.Rendering)
		spliced, inserted := Splice(body, asked(r, opener, rapid.SampledFrom([]string{"", "msg_01Ab", "no id\""}).Draw(rt, "answer")))
		if got := Remove(spliced, inserted); !bytes.Equal(got, body) {
			rt.Fatalf("body without the inserted ranges differs:\n%s", diff(body, got))
		}
		if err := valid(spliced); err != nil {
			rt.Fatalf("spliced body is no JSON: %v\n%s", err, spliced)
		}
		if c.Index != Never {
			checkList(rt, body, spliced, c.List, c.Index, opener)
		}
	})
}

// checkLineage: cache marks that come, go and move, and texts that stand as a
// string or as a block, are the same history and the same prompt; a longer
// history extends a shorter one; another text is another history.
func checkLineage(t *testing.T, d dialect.Dialect, cases []Case) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(cases).Draw(rt, "case")
		tree := decode(rt, c.Body)
		list, _ := tree[c.List].([]any)
		ep := c.endpoint(t, d)
		before := Read(rt, d, ep, encode(rt, tree))

		remark(rt, list)
		after := Read(rt, d, ep, encode(rt, tree))
		if diff := cmp.Diff(before.History, after.History); diff != "" {
			rt.Fatalf("history of %s after marks and shapes changed:\n%s", encode(rt, tree), diff)
		}
		if before.FirstPrompt != after.FirstPrompt {
			rt.Fatalf("first prompt of %s = %s after marks and shapes changed, was %s", encode(rt, tree), after.FirstPrompt, before.FirstPrompt)
		}
		if len(after.History) < 2 {
			return
		}
		checkExtends(rt, d, c, ep, tree, after)
	})
}

// checkExtends: without its last message a history is a prefix of itself, and
// with another last message it differs in the last point alone.
func checkExtends(rt *rapid.T, d dialect.Dialect, c Case, ep dialect.Endpoint, tree map[string]any, full *dialect.Request) {
	list := tree[c.List].([]any)
	n := len(full.History)
	tree[c.List] = list[:len(list)-1]
	shorter := Read(rt, d, ep, encode(rt, tree))
	if diff := cmp.Diff(full.History[:n-1], shorter.History); diff != "" {
		rt.Fatalf("history of %s without its last message is no prefix of it:\n%s", c.Name, diff)
	}
	tree[c.List] = append(list[:len(list)-1:len(list)-1], map[string]any{"role": "user", "content": "something else"})
	other := Read(rt, d, ep, encode(rt, tree))
	if len(other.History) != n || other.History[n-1] == full.History[n-1] || !cmp.Equal(other.History[:n-1], full.History[:n-1]) {
		rt.Fatalf("history of %s with another last message = %v, want only the last point to differ from %v", c.Name, other.History, full.History)
	}
}
