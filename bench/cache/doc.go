// Package cache has the rules by which providers' prompt caches decide what a
// request reads and writes. The simulated provider and the simulator of traces
// both ask it, so that one question has one answer.
//
// [Prompts] is a cache as providers have it: a request arrives, is planned by the
// rules of its provider, and is committed when its answer begins. [Blocks] is a
// strict cache of numbered blocks, as traces have them and engines keep them.
// [Rules] say for each provider which of them applies, with its figures.
//
// # Invariants
//
//  1. It knows tokens, times and names of prompt beginnings; it knows no JSON, no
//     HTTP and no trace format.
//  2. Nothing is random and no clock is read: the same calls give the same answers.
//  3. What is read is a beginning that an earlier prompt had; classes of tokens are
//     disjoint, not negative, and add up to the prompt.
package cache

// A Run is a stretch of numbered blocks: Start, Start+1, ... Start+Count-1. The
// same number is the same text behind the same beginning, within one scope.
type Run struct{ Start, Count int64 }
