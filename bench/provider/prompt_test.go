package provider

import (
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTokenRule(t *testing.T) {
	for text, want := range map[string]int64{"": 3, "a": 4, "abcd": 4, "abcde": 5, "äö": 4, strings.Repeat("x", 400): 103} {
		ends, _, _ := measure([]block{{kind: "k", text: []byte(text)}}, 0)
		if ends[0].Tokens != want {
			t.Errorf("a block of %q costs %d tokens, want %d", text, ends[0].Tokens, want)
		}
	}
	if got := string(canonical(object{"b": "<&>", "a": []any{}})); got != `{"a":[],"b":"<&>"}` {
		t.Errorf("canonical JSON is %s, want sorted names and no escapes that need not be", got)
	}
	if _, end, _ := measure([]block{imageBlock("image", "a")}, 0); end.Tokens != headerTokens+imageTokens {
		t.Errorf("an image costs %d tokens, want %d", end.Tokens, headerTokens+imageTokens)
	}
}

func drawBlocks(t *rapid.T, name string) []block {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) block {
		return block{
			kind:   rapid.SampledFrom([]string{"user/text", "tool"}).Draw(t, "kind"),
			text:   rapid.SliceOfN(rapid.ByteRange('a', 'b'), 0, 9).Draw(t, "text"),
			silent: rapid.IntRange(0, 5).Draw(t, "silent") == 0,
		}
	}), 0, 8).Draw(t, name)
}

// Invariant 1: a block's tokens never depend on its neighbours; and prompts are
// alike up to a point exactly if their blocks are.
func TestInvariant1_TokensDependOnTheTextAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks, tail := drawBlocks(t, "blocks"), drawBlocks(t, "tail")
		ends, end, _ := measure(blocks, 0)
		sum := int64(0)
		for _, b := range blocks {
			one, _, _ := measure([]block{b}, 0)
			if !b.silent {
				sum += one[0].Tokens
			}
		}
		if sum != end.Tokens {
			t.Fatalf("blocks alone cost %d, together %d", sum, end.Tokens)
		}
		longer, _, _ := measure(append(append([]block{}, blocks...), tail...), 0)
		for i := range ends {
			if ends[i] != longer[i] {
				t.Fatalf("point %d changed by what follows", i)
			}
		}
	})
}

// The steps of older models lie at every multiple, whatever the blocks.
func TestStepsAreBeginningsOfThePrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := drawBlocks(t, "blocks")
		every := rapid.Int64Range(1, 6).Draw(t, "every")
		_, end, steps := measure(blocks, every)
		if int64(len(steps)) != end.Tokens/every {
			t.Fatalf("%d steps of %d in %d tokens", len(steps), every, end.Tokens)
		}
		_, again, _ := measure(blocks, 0)
		if again != end {
			t.Fatalf("the prompt differs when stepped: %v and %v", end, again)
		}
		for i, s := range steps {
			if s.Tokens != int64(i+1)*every {
				t.Fatalf("step %d lies at %d", i, s.Tokens)
			}
		}
	})
}

// Invariant 3: every input token is in exactly one class.
func TestInvariant3_ClassesAddUp(t *testing.T) {
	clock := newClock()
	p := New(Options{Now: clock.Now})
	rapid.Check(t, func(t *rapid.T) {
		var messages []object
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			m := user("x")
			m["content"] = []object{text(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "letter"), rapid.SampledFrom([]int{10, 600, 1500}).Draw(t, "tokens"),
				rapid.SampledFrom([][]string{nil, {"5m"}}).Draw(t, "mark")...)}
			messages = append(messages, m)
		}
		for dialect, body := range map[string]object{
			Anthropic: ask(sonnet, nil, messages...),
			Chat:      edited(chat(rapid.SampledFrom([]string{sol, gpt5}).Draw(t, "model"), messages...), func(object) {}),
		} {
			q := &request{header: http.Header{}, body: mustJSON(body), tenant: "t", start: p.cache.Arrive(clock.Now())}
			answering := p.answerMessages
			if dialect == Chat {
				answering = p.answerChat
			}
			a, e := answering(q)
			if e != nil {
				t.Fatal(e.message)
			}
			a.begin()
			want := int64(0)
			for _, m := range messages {
				want += textTokens(m["content"].([]object)[0].str("text")) + headerTokens
			}
			if got := a.tokens.Input(); got != want || a.tokens.Fresh < 0 || a.tokens.CacheRead < 0 || a.tokens.Written() < 0 {
				t.Fatalf("%s: input %+v adds up to %d, want %d", dialect, *a.tokens, got, want)
			}
		}
	})
}
