package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
)

func TestDrift(t *testing.T) {
	user := func(texts ...string) []logsink.Message {
		var ms []logsink.Message
		for _, x := range texts {
			ms = append(ms, logsink.Message{Role: "user", Text: x})
		}
		return ms
	}
	f := func(a, b []logsink.Message, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, drift(a, b)); diff != "" {
			t.Errorf("drift(%q, %q) differs (-want +got):\n%s", a, b, diff)
		}
	}
	f(nil, nil)
	f(user("a\nb"), user("a\nb"))
	f(user("a\nb\nc"), user("a\nx\nc"), "- b", "+ x")
	f(user("a\nc"), user("a\nb\nc"), "+ b")
	f(user("a\na"), user("a"), "- a")
	f(nil, user("a"), "+ [user]", "+ a")
	f(user("a"), nil, "- [user]", "- a")
	f(user("a"), user("a", "b"), "+ [user]", "+ b")
	f(user("a"), []logsink.Message{{Role: "system", Text: "a"}}, "- [user]", "+ [system]")
	f(user("a"), user("a\n"), "+ ") // a line end counts: it is another prefix
	f(user("a"), user("\x1b[2Ja"), "- a", "+ \uFFFD[2Ja")
	many := strings.Repeat("x\n", 100)
	if got := drift(user("a"), user(many)); len(got) != maxDrift+1 || got[maxDrift] != "… and 62 lines more" {
		t.Errorf("drift of 102 lines shows %d, the last %q", len(got), got[len(got)-1])
	}
}
