//go:build !race

package identity

import (
	"context"
	"testing"
)

// TestExplicitAllocations holds the budget of the path that most agents take.
// The race detector makes pools forget, so it is left out there.
func TestExplicitAllocations(t *testing.T) {
	r := filled(t, 100, explicit)
	for name, in := range map[string]*Input{"Claude Code": explicit(42), "Codex": codex()} {
		got := testing.AllocsPerRun(1000, func() {
			if _, err := r.Resolve(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		})
		if got > 2 {
			t.Errorf("Resolve of a request of %s allocates %v times, want at most 2", name, got)
		}
	}
}
