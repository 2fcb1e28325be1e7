package main

import (
	"fmt"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// A demoPrice is what a million tokens of each class cost, in USD.
type demoPrice struct {
	input, output, read        float64
	write5m, write1h, write30m float64
}

// demoPrices are the list prices of the models that the demo's agents ask for
// (facts/providers.md 7): Opus 5.5 as of 2026-10-08, GPT-6.2 Sol as of November
// 2026, GPT-6 Luna as of 2026-10-01. They are the demo's alone.
var demoPrices = map[string]demoPrice{
	"claude-opus-5-5": {input: 4, output: 20, read: 0.20, write5m: 5, write1h: 8},
	"gpt-6.2-sol":     {input: 2, output: 10, read: 0.10, write30m: 2.50},
	"gpt-6-luna":      {input: 0.10, output: 0.50, read: 0.01, write30m: 0.125},
}

// costOf is what one answer cost.
func costOf(model string, t provider.Tokens) (float64, error) {
	p, known := demoPrices[model]
	if !known && t != (provider.Tokens{}) {
		return 0, fmt.Errorf("the demo has no price for model %q", model)
	}
	if t.Write12h != 0 {
		return 0, fmt.Errorf("the demo has no price for what model %q wrote for 12 hours", model)
	}
	const million = 1e6
	return (float64(t.Fresh)*p.input + float64(t.Output)*p.output + float64(t.CacheRead)*p.read +
		float64(t.Write5m)*p.write5m + float64(t.Write1h)*p.write1h + float64(t.Write30m)*p.write30m) / million, nil
}
