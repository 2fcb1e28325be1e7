package admin

import (
	"slices"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// TestColours: a cause has one colour, whatever a chart counts and what else is
// in it, and no two in one chart have the same.
func TestColours(t *testing.T) {
	many := []string{explain.Cold, explain.Expired, explain.HistoryRewritten, explain.SystemChanged, explain.ToolsChanged, explain.Provider, allOthers}
	alone := map[string]string{}
	for _, name := range many {
		alone[name] = colours([]string{name})[name]
	}
	slices.Reverse(many)
	for _, name := range many {
		if got := colours(many)[name]; got != alone[name] {
			t.Errorf("%s has the colour %s beside others, and %s alone", name, got, alone[name])
		}
	}
	all := causeNames[:]
	for i := range all[causesShown:] {
		names := all[i : i+causesShown]
		seen := map[string]bool{}
		for _, class := range colours(names) {
			seen[class] = true
		}
		if len(seen) != causesShown {
			t.Errorf("colours(%v) = %v, of which two are the same", names, colours(names))
		}
	}
}
