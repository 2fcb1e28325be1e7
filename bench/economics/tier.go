package economics

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A tier is a provider's cache at one lifetime, with its price.
type tier struct {
	provider string
	model    string
	lifetime time.Duration // 0 is for ever
	rules    cache.Rules
	tariff   tariff
	note     string
}

// A seller is a provider that can be simulated without naming a model.
type seller struct {
	name  string
	model string // "": the price table has none of its models
	// write and read are multipliers in thousandths where there is no model.
	write, read usage.Money
}

var sellers = []seller{
	{name: "anthropic", model: "claude-opus-5"},
	{name: "openai", model: "gpt-6-sol"},
	{name: "openai-before-5.6", model: "gpt-5.4"},
	{name: "gemini", model: "gemini-4-argon"},
	{name: "deepseek", model: "deepseek-flash"},
	{name: "kimi", model: "kimi-k3.1-pro"},
	{name: "xai", model: "grok-4.7"},
	{name: "qwen", write: 1250, read: 100},
	{name: "mistral", write: 1000, read: 100},
	{name: "groq", write: 1000, read: 500},
	{name: "vllm", write: 1000},
	{name: "blocks-64", write: 1000},
	{name: "blocks-128", write: 1000},
}

// Providers are the names of all providers.
func Providers() []string { return named(sellers, func(s seller) string { return s.name }) }

// tiersOf are the providers of o at their lifetimes.
func tiersOf(o Options, prices *usage.Prices) ([]tier, error) {
	var out []tier
	var sold []string
	for _, name := range o.Providers {
		t, all, err := tiersOfOne(name, o, prices)
		if err != nil {
			return nil, err
		}
		out, sold = append(out, t...), append(sold, all...)
	}
	for _, l := range o.Lifetimes {
		if l != "none" && !slices.Contains(sold, l) {
			slices.Sort(sold)
			return nil, fmt.Errorf("unknown lifetime %q of provider %s: known are %s", l, strings.Join(o.Providers, ", "), strings.Join(append(slices.Compact(sold), "none"), ", "))
		}
	}
	return out, nil
}

func tiersOfOne(name string, o Options, prices *usage.Prices) (tiers []tier, sold []string, err error) {
	name, model, _ := strings.Cut(name, "/")
	picked, err := pick("provider", sellers, func(s seller) string { return s.name }, []string{name})
	if err != nil {
		return nil, nil, err
	}
	s := picked[0]
	if model == "" {
		model = s.model
	}
	rules, err := cache.RulesOf(name, model)
	if err != nil {
		return nil, nil, err
	}
	lifetimes := rules.Lifetimes
	if slices.Contains(o.Lifetimes, "none") && !slices.Contains(lifetimes, 0) {
		lifetimes = append(slices.Clone(lifetimes), 0)
	}
	for _, d := range lifetimes {
		l := cache.LifetimeName(d)
		sold = append(sold, l)
		if len(o.Lifetimes) > 0 && !slices.Contains(o.Lifetimes, l) {
			continue
		}
		t := tier{provider: name, model: model, lifetime: d, rules: rules}
		if err := t.price(s, o, prices); err != nil {
			return nil, nil, err
		}
		tiers = append(tiers, t)
	}
	return tiers, sold, nil
}

// price finds the tier's tariff. Entries that never expire cost what those of
// the longest lifetime do.
func (t *tier) price(s seller, o Options, prices *usage.Prices) error {
	if t.model == "" {
		t.tariff = multipliers(s.write, s.read)
		t.note = fmt.Sprintf("no price in the table: multipliers of a published or assumed kind, write %v, read %v", float64(s.write)/1000, float64(s.read)/1000)
		return nil
	}
	q := usage.Query{Model: t.model, At: o.PriceDate}
	if t.rules.PaidWrites {
		q.Lifetime = cache.LifetimeName(t.written())
	}
	var ok bool
	if t.tariff, ok = tariffOf(prices, q); !ok {
		return fmt.Errorf("no price of model %q on %s: known are %s", t.model, o.PriceDate.Format(time.DateOnly), strings.Join(prices.Models(), ", "))
	}
	return nil
}

// written is the lifetime that is paid for.
func (t *tier) written() time.Duration {
	if t.lifetime == 0 && t.rules.PaidWrites {
		return slices.Max(t.rules.Lifetimes)
	}
	return t.lifetime
}
