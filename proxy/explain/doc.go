// Package explain says why a provider's prompt cache read less of a request than
// the request before it in its thread had left there: one cause, where it
// stands, whose it is, and how many tokens it concerns.
//
// # Invariants
//
//  1. Nothing here is on a request's way: a Tracker is fed by one goroutine,
//     after the answer.
//  2. What a provider did not report is no miss: without a count of reads there
//     is no verdict (I11).
//  3. A cause is named only if what it rests on was seen: a difference between two
//     requests, a clock, a rule of the provider with its source. What none of
//     them explains is "provider" if nothing on our side changed, else "unknown".
//  4. Texts are kept only as far as the tracker's bound goes; digests suffice for
//     every cause, and what is lost without a text is its detail.
package explain
