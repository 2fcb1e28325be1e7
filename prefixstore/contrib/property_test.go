package contrib

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// drawSteps draws contributors that behave or misbehave, each the same way
// every time it is called.
func drawSteps(t *rapid.T) []*step {
	texts := rapid.SampledFrom([]string{"", " \n", "a", "two\r\nlines", "é\U0001F600", "bad\xff", "nul\x00", "</note>", strings.Repeat("x", 40)})
	roles := rapid.SampledFrom([]string{"", "", "user", "assistant", "system", "developer", "tool"})
	one := rapid.Custom(func(t *rapid.T) *step {
		cfg := Config{Kind: "fake", Name: "c",
			OnError:  rapid.SampledFrom([]string{Refuse, Skip, Skip}).Draw(t, "on_error"),
			Envelope: rapid.SampledFrom([]string{"", "note"}).Draw(t, "envelope"),
			MaxBytes: rapid.SampledFrom([]int{0, 50}).Draw(t, "max_bytes"),
			When:     Matcher{Route: rapid.SampledFrom([]string{"", "", "other"}).Draw(t, "route")},
		}
		more := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Message {
			return Message{roles.Draw(t, "role"), texts.Draw(t, "text")}
		}), 0, 4).Draw(t, "more")
		spoil := rapid.SampledFrom([]string{"", "", "", "", "first", "cut", "panic"}).Draw(t, "spoil")
		return patient(cfg, fake(func(_ context.Context, _ Session, l []Message) ([]Message, error) {
			switch {
			case spoil == "first" && len(l) > 0:
				l[0].Text += "!"
			case spoil == "cut" && len(l) > 0:
				return l[1:], nil
			case spoil == "panic":
				panic("spoilt")
			}
			return append(l, more...), nil
		}))
	})
	return rapid.SliceOfN(one, 0, 5).Draw(t, "steps")
}

// Whatever contributors do, composing is deterministic, each step's result
// extends the one before, and only sendable messages come out.
func TestInvariant1_CompositionIsAnExtension(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := drawSteps(t)
		var before []Message
		for n := range len(steps) + 1 {
			r, err := composerOf(steps[:n]...).Compose(context.Background(), Session{Route: "r"})
			again, err2 := composerOf(steps[:n]...).Compose(context.Background(), Session{Route: "r"})
			if (err == nil) != (err2 == nil) || !slices.Equal(r.Messages, again.Messages) {
				t.Fatalf("composing %d steps twice gave %q, %v and %q, %v", n, r.Messages, err, again.Messages, err2)
			}
			if err != nil {
				if r.Messages != nil || r.Contributions != nil {
					t.Fatalf("Compose gave %+v beside %v", r, err)
				}
				return
			}
			if len(r.Messages) < len(before) || !slices.Equal(r.Messages[:len(before)], before) {
				t.Fatalf("step %d turned %q into %q, want an extension", n, before, r.Messages)
			}
			before = r.Messages
			checkResult(t, r, n)
		}
	})
}

func checkResult(t *rapid.T, r Result, steps int) {
	if len(r.Contributions) != steps {
		t.Fatalf("Compose recorded %d contributions, want %d", len(r.Contributions), steps)
	}
	total := 0
	for i, c := range r.Contributions {
		total += c.Messages
		given := 0
		for _, m := range r.From(i) {
			given += len(m.Text)
		}
		if given != c.Bytes || (c.SHA256 != "") != (c.Messages > 0) || (c.Outcome == OK) != (c.Messages > 0) {
			t.Fatalf("contribution %+v does not fit its messages %q", c, r.From(i))
		}
	}
	if total != len(r.Messages) {
		t.Fatalf("contributions count %d messages of %d", total, len(r.Messages))
	}
	for _, m := range r.Messages {
		if !knownRole(m.Role) || !utf8.ValidString(m.Text) || strings.ContainsRune(m.Text, 0) || strings.TrimSpace(m.Text) == "" {
			t.Fatalf("Compose gave %q, which cannot be sent", m)
		}
	}
}
