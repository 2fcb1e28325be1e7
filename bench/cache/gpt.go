package cache

import (
	"regexp"
	"strings"
)

// A GPT is a model of OpenAI by its name. What nobody knows counts as older than
// GPT-5.6.
type GPT struct {
	Name         string
	Major, Minor int
}

var gptName = regexp.MustCompile(`gpt-(\d{1,2})(?:\.(\d{1,2}))?`)

// GPTOf reads a model name such as gpt-5.6-sol.
func GPTOf(name string) GPT {
	m := gptName.FindStringSubmatch(name)
	if m == nil {
		return GPT{Name: name}
	}
	return GPT{name, atoi(m[1]), atoi(m[2])}
}

// Breakpoints reports whether the rules since GPT-5.6 apply (facts/providers.md
// 2.4).
func (g GPT) Breakpoints() bool { return g.Major > 5 || g.Major == 5 && g.Minor >= 6 }

// Interval is how many tokens lie between the steps of models before GPT-5.6
// (2.5). It is a multiple of 128, which makes the count of cached tokens one
// too; where the facts name no number it is 128.
func (g GPT) Interval() int64 {
	if g.Major == 5 && g.Minor == 5 {
		return 2048
	}
	return countStep
}

// DayOnly reports whether prompt_cache_retention knows only 24h (2.5).
func (g GPT) DayOnly() bool { return g.Major == 5 && g.Minor == 5 }

// HalfDay reports whether a cache lifetime of 12h may be asked for (2.4).
func (g GPT) HalfDay() bool {
	return strings.HasPrefix(g.Name, "gpt-6.1-terra") || strings.HasPrefix(g.Name, "gpt-6.2")
}

// Minimum is the smallest prompt that is cached, in tokens: the older guides
// give the number for models before GPT-5.6 too (2.4, 2.5).
func (g GPT) Minimum() int64 { return minimumVisible }
