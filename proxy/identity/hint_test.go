package identity

import (
	"hash/maphash"
	"testing"
)

// TestHint: what tells threads apart by headers tells their hints apart; what
// changes from one request to the next does not.
func TestHint(t *testing.T) {
	r, err := New(Config{}, make([]byte, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	seed := maphash.MakeSeed()
	hint := func(fields map[string]string) uint64 {
		var h maphash.Hash
		h.SetSeed(seed)
		r.Hint(&h, func(name string) []byte { return []byte(fields[name]) })
		return h.Sum64()
	}
	a := hint(map[string]string{"x-preface-session": "a", "x-request-id": "1"})
	if b := hint(map[string]string{"x-preface-session": "a", "x-request-id": "2"}); b != a {
		t.Error("two requests of one session give different hints")
	}
	if b := hint(map[string]string{"x-preface-session": "b"}); b == a {
		t.Error("two sessions give the same hint")
	}
	if b := hint(map[string]string{"x-preface-session": "a", "x-claude-code-agent-id": "sub"}); b == a {
		t.Error("two threads of a session give the same hint")
	}
}
