package cache

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-9236c7ca/preface/configs"
)

func TestProviders(t *testing.T) {
	want := []string{"anthropic", "openai", "openai-before-5.6", "gemini", "deepseek", "kimi", "qwen", "xai", "mistral", "groq", "vllm", "blocks-64", "blocks-128"}
	if diff := cmp.Diff(want, Providers()); diff != "" {
		t.Errorf("Providers() (-want +got)\n%s", diff)
	}
}

// TestRules holds the figures of facts/providers.md.
func TestRules(t *testing.T) {
	type times = []time.Duration
	for _, test := range []struct {
		provider, model string
		kind            Kind
		minimum, step   int64
		lifetimes       times
		paid            bool
	}{
		{"anthropic", "", ByMarks, 1024, 1, times{Lifetime5m, Lifetime1h}, true},
		{"anthropic", "claude-fable-5-2", ByMarks, 512, 1, times{Lifetime5m, Lifetime1h}, true},
		{"anthropic", "claude-opus-5-5-20261001", ByMarks, 512, 1, times{Lifetime5m, Lifetime1h}, true},
		{"anthropic", "claude-opus-4-8", ByMarks, 1024, 1, times{Lifetime5m, Lifetime1h}, true},
		{"anthropic", "claude-opus-4-7", ByMarks, 2048, 1, times{Lifetime5m, Lifetime1h}, true},
		{"anthropic", "claude-3-5-haiku-20241022", ByMarks, 2048, 1, times{Lifetime5m, Lifetime1h}, true},
		{"anthropic", "claude-haiku-4-5", ByMarks, 4096, 1, times{Lifetime5m, Lifetime1h}, true},
		{"openai", "", ByBoundaries, 1024, 1, times{Lifetime30m}, true},
		{"openai", "gpt-6.1-terra", ByBoundaries, 1024, 1, times{Lifetime30m, Lifetime12h}, true},
		{"openai", "gpt-6.1-sol", ByBoundaries, 1024, 1, times{Lifetime30m}, true},
		{"openai-before-5.6", "", BySteps, 1024, 128, times{Lifetime24h, LifetimeInMemory}, false},
		{"openai-before-5.6", "gpt-4.1", BySteps, 1024, 128, times{Lifetime24h, LifetimeInMemory}, false},
		{"openai-before-5.6", "gpt-5.5", BySteps, 2048, 2048, times{Lifetime24h}, false},
		{"gemini", "gemini-4-argon", BySteps, 4096, 1, times{Lifetime5m, Lifetime24h}, false},
		{"gemini", "gemini-2.5-flash", BySteps, 2048, 1, times{Lifetime5m, Lifetime24h}, false},
		{"deepseek", "deepseek-v4-pro", ByUnits, 64, 1, times{Lifetime24h}, false},
		{"kimi", "kimi-k3.1-pro", ByMarks, 1024, 1, times{Lifetime5m, Lifetime1h}, true},
		{"kimi", "kimi-k3", BySteps, 1024, 1, times{Lifetime5m}, false},
		{"qwen", "qwen3-max", ByMarks, 1024, 1, times{Lifetime5m}, true},
		{"qwen", "qwen4-plus", ByMarks, 1024, 1, times{Lifetime5m, Lifetime1h}, true},
		{"xai", "grok-4.7", BySteps, 128, 128, times{Lifetime5m}, false},
		{"mistral", "mistral-large", BySteps, 64, 64, times{Lifetime5m}, false},
		{"groq", "any", BySteps, 1024, 1, times{2 * time.Hour}, false},
		{"vllm", "any", ByBlocks, 16, 16, times{0}, false},
		{"blocks-64", "any", ByBlocks, 64, 64, times{0}, false},
		{"blocks-128", "any", ByBlocks, 128, 128, times{0}, false},
	} {
		r, err := RulesOf(test.provider, test.model)
		if err != nil {
			t.Errorf("RulesOf(%q, %q): %v", test.provider, test.model, err)
			continue
		}
		if r.Kind != test.kind || r.Minimum != test.minimum || r.Step != test.step || !slices.Equal(r.Lifetimes, test.lifetimes) || r.PaidWrites != test.paid {
			t.Errorf("RulesOf(%q, %q) = %+v, want %+v", test.provider, test.model, r, test)
		}
	}
}

func TestRulesAreWhole(t *testing.T) {
	for _, name := range Providers() {
		r, err := RulesOf(name, "")
		if err != nil || r.Provider != name || r.About == "" || r.Minimum < 1 || r.Step < 1 || len(r.Lifetimes) == 0 {
			t.Errorf("RulesOf(%q, \"\") = %+v, %v: something is missing", name, r, err)
		}
		if byMarks := r.Kind == ByMarks; byMarks && (r.Writes != 4 || r.LookBack != 20) {
			t.Errorf("%s: %d marks that look back %d positions, want 4 and 20", name, r.Writes, r.LookBack)
		}
	}
}

func TestRulesUnknown(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
	_, err := RulesOf("antropic", "")
	f(err, `unknown provider "antropic": known are anthropic, openai,`)
	_, err = RulesOf("anthropic", "gpt-5.6-sol")
	f(err, `model "gpt-5.6-sol" is not known to be of provider "anthropic"`)
	_, err = RulesOfModel("somebodys-model")
	f(err, `no provider is known for model "somebodys-model": known are anthropic,`)
	_, err = RulesOf("openai-before-5.6", "gpt-6-sol")
	f(err, `model "gpt-6-sol" is not known to be of provider "openai-before-5.6"`)
}

// TestRulesOfPricedModels: each model of the price table has rules, and each
// lifetime that it has a write price for can be had.
func TestRulesOfPricedModels(t *testing.T) {
	var models []string
	written := map[string]time.Duration{"write_5m": Lifetime5m, "write_1h": Lifetime1h, "write_30m": Lifetime30m, "write_12h": Lifetime12h}
	found := 0
	for line := range strings.Lines(string(configs.Prices)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "- models" {
			models = strings.Split(strings.Trim(value, " []"), ", ")
			found += len(models)
		}
		lifetime, priced := written[name]
		for _, m := range models {
			r, err := RulesOfModel(m)
			if err != nil {
				t.Errorf("RulesOfModel(%q): %v", m, err)
			}
			if priced && (!slices.Contains(r.Lifetimes, lifetime) || !r.PaidWrites) {
				t.Errorf("%s has a price for %s, and lifetimes %v, paid writes %v", m, name, r.Lifetimes, r.PaidWrites)
			}
		}
	}
	if found < 40 {
		t.Errorf("read %d models from the price table, want at least 40", found)
	}
}

func TestCounted(t *testing.T) {
	f := func(provider, model string, warm, want int64) {
		t.Helper()
		r, err := RulesOf(provider, model)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Counted(warm); got != want {
			t.Errorf("%s %s: Counted(%d) = %d, want %d", provider, model, warm, got, want)
		}
	}
	f("anthropic", "claude-haiku-4-5", 4095, 0)
	f("anthropic", "claude-haiku-4-5", 4097, 4097)
	f("openai", "", 1023, 0)
	f("openai", "", 1025, 1025)
	f("openai-before-5.6", "", 3000, 2944)
	f("openai-before-5.6", "gpt-5.5", 3000, 2048)
	f("openai-before-5.6", "gpt-5.5", 2000, 0)
	f("vllm", "", 3015, 3008)
	f("blocks-64", "", 63, 0)
	f("blocks-128", "", 300, 256)
}

func TestLifetimeName(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "none", Lifetime5m: "5m", Lifetime30m: "30m", Lifetime1h: "1h", Lifetime12h: "12h", Lifetime24h: "24h", 90 * time.Minute: "90m", time.Second: "1s"} {
		if got := LifetimeName(d); got != want {
			t.Errorf("LifetimeName(%d) = %q, want %q", d, got, want)
		}
	}
}
