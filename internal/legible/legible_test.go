package legible

import (
	"math"
	"testing"
)

func TestTexts(t *testing.T) {
	for in, want := range map[string][2]string{
		"plain text": {"plain text", "plain text"}, "größe ✓": {"größe ✓", "größe ✓"}, "": {"", ""},
		"a\x1b[31mb": {"a�[31mb", "a�[31mb"}, "a\u202eb": {"a�b", "a�b"}, "zero\u200bwidth": {"zero�width", "zero�width"},
		"line\nend\ttab": {"line\nend\ttab", "line�end�tab"}, "cr\rbell\a": {"cr�bell�", "cr�bell�"}, "bad\xff": {"bad�", "bad�"},
		"no\u00a0break": {"no\u00a0break", "no�break"},
	} {
		if got := [2]string{Visible(in), OneLine(in)}; got != want {
			t.Errorf("Visible and OneLine of %q = %q, want %q", in, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"sha256:0123456789abcdef": "sha256:0123456789ab…", "0123456789abcdef": "0123456789ab…",
		"sha256:0123456789ab": "sha256:0123456789ab", "short": "short", "": "", ":": ":",
	} {
		if got := Short(in); got != want {
			t.Errorf("Short(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 tokens", 1: "1 token", 999: "999 tokens", 1000: "1,000 tokens", -1: "-1 tokens", -999: "-999 tokens", -1000: "-1,000 tokens",
		1234567: "1,234,567 tokens", math.MinInt64: "-9,223,372,036,854,775,808 tokens",
	} {
		if got := Plural(n, "token"); got != want {
			t.Errorf("Plural(%d) = %q, want %q", n, got, want)
		}
	}
}
