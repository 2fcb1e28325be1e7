// Package panics makes errors of recovered panics.
//
// # Invariants
//
//  1. What was panicked with is not quoted: it may be anything, a prefix or a
//     credential included (I12). Its type and the place are told.
package panics

import (
	"fmt"
	"runtime"
	"strings"
)

// An Error is a panic that was recovered: a fault of whoever's code it was.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Recovered is the error for v, which recover gave. It must be called by the
// deferred function that did so: it looks for the place on the stack.
func Recovered(v any) *Error {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	thrown := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if thrown && !inRuntime {
			return &Error{fmt.Sprintf("panicked with a %T in %s, line %d", v, f.Function, f.Line)}
		}
		thrown = thrown || f.Function == "runtime.gopanic"
		if !more {
			return &Error{fmt.Sprintf("panicked with a %T", v)}
		}
	}
}
