package dialect_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/dialect/dialecttest"
)

func get(tb testing.TB, name string) dialect.Dialect {
	tb.Helper()
	d, err := dialect.Get(name)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestAnthropic(t *testing.T)       { dialecttest.Run(t, get(t, "anthropic")) }
func TestOpenAIChat(t *testing.T)      { dialecttest.Run(t, get(t, "openai-chat")) }
func TestOpenAIResponses(t *testing.T) { dialecttest.Run(t, get(t, "openai-responses")) }

func FuzzReadAnthropic(f *testing.F)       { dialecttest.Fuzz(f, get(f, "anthropic")) }
func FuzzReadOpenAIChat(f *testing.F)      { dialecttest.Fuzz(f, get(f, "openai-chat")) }
func FuzzReadOpenAIResponses(f *testing.F) { dialecttest.Fuzz(f, get(f, "openai-responses")) }

// TestNames: a dialect cannot appear or vanish unseen.
func TestNames(t *testing.T) {
	const file = "testdata/names.golden"
	got := strings.Join(dialect.Names(), "\n") + "\n"
	if dialecttest.Update() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("Names() = %q, want %q", got, want)
	}
}
