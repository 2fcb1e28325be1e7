package main

import (
	"testing"

	"github.com/seed-9236c7ca/preface/internal/legible"
)

func TestShown(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := shown(in); got != want {
			t.Errorf("shown(%q) = %s, want %s", in, got, want)
		}
	}
	f("s-1", "s-1")
	f("näme/1", "näme/1")
	f("", `""`)
	f("two words", `"two words"`)
	f("\x1b[2J", `"\x1b[2J"`)
	f("a\nb", `"a\nb"`)
	f("\u202Eabc", `"\u202eabc"`)
	f("a\xff", `"a\xff"`)
	f(`"`, `"\""`)
}

func TestShort(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := legible.Short(in); got != want {
			t.Errorf("legible.Short(%q) = %s, want %s", in, got, want)
		}
	}
	f("", "")
	f("abc", "abc")
	f("0123456789abcdef", "0123456789ab…")
	f("sha256:0123456789abcdef", "sha256:0123456789ab…")
}

func TestSize(t *testing.T) {
	if got, want := size(9), "9 bytes, ~3 tokens"; got != want {
		t.Errorf("size(9) = %q, want %q", got, want)
	}
}
