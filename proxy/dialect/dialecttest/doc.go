// Package dialecttest is the suite that every dialect passes: [Run] in a test
// and [Fuzz] in a fuzz target.
//
// A dialect's cases are the files testdata/NAME/*.txtar beside its test, one
// request each: a client's body, the facts that are to be read in it, and the
// body with an opener spliced in. The tests of promises start from these bodies
// too, so a case that shows the shape of a client is all that a new client, or a
// new dialect, needs. Facts and spliced bodies are rewritten with -update and
// reviewed as code; the place of the opener is written by hand.
//
// # Invariants
//
//  1. What the suite expects of a spliced body is worked out with two other
//     JSON parsers, never with the scanner that decided where to splice.
//  2. Bodies in cases are made up, and of the shape that a real client was seen
//     to send.
package dialecttest
