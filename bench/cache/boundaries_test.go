package cache

import (
	"fmt"
	"testing"
)

// Lookups are only at boundaries of this request: 20 earlier message endings,
// the first 2 and the latest 50 breakpoints, and the end of the developer group.
func TestBoundariesLookups(t *testing.T) {
	b := Boundaries{Implicit: true, Developer: 0}
	for i := range 30 {
		b.Messages = append(b.Messages, i)
	}
	for i := range 60 {
		b.Explicit = append(b.Explicit, 100+i)
	}
	got := fmt.Sprint(b.lookups())
	var want []int
	want = append(want, 100, 101)
	for i := range 50 {
		want = append(want, 110+i)
	}
	for i := 9; i < 30; i++ {
		want = append(want, i)
	}
	want = append(want, 0)
	if got != fmt.Sprint(want) {
		t.Errorf("lookups() = %v, want %v", got, want)
	}
}
