// Package cache has the rules by which providers' prompt caches decide what a
// request reads and writes. The simulated provider and the simulator of traces
// both ask it, so that one question has one answer.
//
// # Invariants
//
//   - It knows tokens, times and names of prompt beginnings; it knows no JSON, no
//     HTTP and no trace format.
//   - Nothing is random and no clock is read: the same calls give the same answers.
package cache

// A Run is a stretch of numbered blocks: Start, Start+1, ... Start+Count-1. The
// same number is the same text behind the same beginning, within one scope.
type Run struct{ Start, Count int64 }
