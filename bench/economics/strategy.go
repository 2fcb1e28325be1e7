package economics

import (
	"fmt"
	"slices"
	"strings"
)

// Names of strategies: the ways of giving agents an opener.
const (
	None                  = "none"                    // no cache, with the opener
	Bare                  = "bare"                    // a cache, no opener
	Frozen                = "frozen"                  // frozen per session, logged, behind the system prompt
	PerRequestBefore      = "per_request_before"      // composed for each request, before the history
	PerRequestAfter       = "per_request_after"       // composed for each request, behind the history
	PerTurn               = "per_turn"                // composed for each prompt of the user, before the history
	SystemSection         = "system_section"          // rendered into the system prompt, with each request
	DurableHistory        = "durable_history"         // written into the history once
	DecoratorBeforeSystem = "decorator_before_system" // composed for each request, before the system prompt
)

// place is where the opener stands.
type place int

const (
	nowhere place = iota
	beforeSystem
	inSystem
	beforeHistory
	atHead // the history's first message
	atTail
)

// moment is when a strategy composes.
type moment int

const (
	atStart   moment = iota // of a session, a resume or a fork
	firstOnly               // of a session's first request alone
	eachTurn
	eachRequest
)

// A strategy is a way of giving agents an opener.
type strategy struct {
	name     string
	place    place
	composes moment
	known    bool // what was given can be looked up afterwards: in a log, or in the history
	uncached bool
}

var strategies = []strategy{
	{None, beforeHistory, atStart, true, true},                       // no cache; the opener of frozen
	{Bare, nowhere, atStart, true, false},                            // a cache, and no opener
	{Frozen, beforeHistory, atStart, true, false},                    // composed once per session, behind the system prompt, logged
	{PerRequestBefore, beforeHistory, eachRequest, false, false},     // composed for each request, behind the system prompt
	{PerRequestAfter, atTail, eachRequest, false, false},             // composed for each request, behind the history
	{PerTurn, beforeHistory, eachTurn, false, false},                 // composed for each prompt of the user, behind the system prompt
	{SystemSection, inSystem, eachRequest, false, false},             // rendered into the system prompt with each request
	{DurableHistory, atHead, firstOnly, true, false},                 // written once, as the first message of the history
	{DecoratorBeforeSystem, beforeSystem, eachRequest, false, false}, // composed for each request, before the system prompt
}

// Strategies are the names of all, in the order of rows.
func Strategies() []string { return named(strategies, func(s strategy) string { return s.name }) }

func named[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = name(v)
	}
	return out
}

// pick returns those of a list that are asked for, in the list's order; all if
// none is.
func pick[T any](kind string, list []T, name func(T) string, asked []string) ([]T, error) {
	known := named(list, name)
	for _, a := range asked {
		if !slices.Contains(known, a) {
			return nil, fmt.Errorf("unknown %s %q: known are %s", kind, a, strings.Join(known, ", "))
		}
	}
	var out []T
	for _, v := range list {
		if len(asked) == 0 || slices.Contains(asked, name(v)) {
			out = append(out, v)
		}
	}
	return out, nil
}
