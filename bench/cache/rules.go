package cache

import (
	"fmt"
	"strings"
	"time"
)

// A Kind is how a provider decides what can be read.
type Kind string

const (
	ByMarks      Kind = "marks"      // the request marks where entries end: [Prompts.PlanMarks]
	ByBoundaries Kind = "boundaries" // ends of messages, and marks: [Prompts.PlanBoundaries]
	BySteps      Kind = "steps"      // every so many tokens: [Prompts.PlanSteps]
	ByUnits      Kind = "units"      // ends of prompts, and what prompts share: [Prompts.PlanUnits]
	ByBlocks     Kind = "blocks"     // full blocks while there is room: [Blocks] with a capacity
)

// Rules are how the prompt cache for a model works.
type Rules struct {
	Provider string
	About    string // in a few words, for people
	Kind     Kind

	Minimum   int64           // tokens of the smallest prompt that is cached
	Step      int64           // what is read is a multiple of so many tokens; 1 is any number
	Lifetimes []time.Duration // that can be had, the default first; 0 is until there is no room
	Writes    int             // places at most that one request writes at; 0: the provider chooses
	LookBack  int             // places at most before each of its own that a request looks at; 0: all
	Key       string          // what of a request routes it, or parts its cache from others'

	// AfterFirstByte says that what a request writes can be read only by those that
	// arrive after its answer began.
	AfterFirstByte bool
	// PaidWrites says that writing costs more than plain input.
	PaidWrites bool

	// Assumed says what no source tells and is taken for granted here.
	Assumed string
}

// Counted is how much of a prompt's warm beginning is read: none below the
// minimum, and whole steps.
func (r Rules) Counted(warm int64) int64 {
	if warm < r.Minimum {
		return 0
	}
	return warm - warm%r.Step
}

// Providers are the names that [RulesOf] knows.
func Providers() []string {
	names := make([]string, len(providers))
	for i, p := range providers {
		names[i] = p.Provider
	}
	return names
}

// RulesOf returns the rules of a provider, for one of its models or, with "",
// for what is usual there.
func RulesOf(name, model string) (Rules, error) {
	for _, p := range providers {
		if p.Provider != name {
			continue
		}
		if model != "" && p.serves != nil && !p.serves(model) {
			return Rules{}, fmt.Errorf("model %q is not known to be of provider %q", model, name)
		}
		return p.of(model), nil
	}
	return Rules{}, fmt.Errorf("unknown provider %q: known are %s", name, strings.Join(Providers(), ", "))
}

// RulesOfModel returns the rules for a model by its name alone, as the price
// table writes it.
func RulesOfModel(model string) (Rules, error) {
	for _, p := range providers {
		if p.serves != nil && p.serves(model) {
			return p.of(model), nil
		}
	}
	return Rules{}, fmt.Errorf("no provider is known for model %q: known are %s", model, strings.Join(Providers(), ", "))
}

func (p provider) of(model string) Rules {
	r := p.Rules
	if p.fit != nil && model != "" {
		p.fit(&r, model)
	}
	return r
}

// LifetimeName writes a lifetime as providers do: "5m", "1h"; "none" is no end.
func LifetimeName(d time.Duration) string {
	switch {
	case d == 0:
		return "none"
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
