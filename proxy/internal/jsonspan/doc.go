// Package jsonspan finds byte ranges in a JSON document without decoding it.
//
// [Doc.Scan] makes one strict pass over a request body. It refuses what parsers
// disagree on, and leaves an index of the values near the root, from which the
// dialects read roles, names and offsets. Nothing is ever written back: the
// proxy splices on the offsets found here, so the scanner that decides is the
// scanner that splices (DESIGN.md 4.10).
//
// # Invariants
//
//  1. A document that Scan accepts is accepted by every strict RFC 8259 parser,
//     and all of them find the same members: no duplicate names (compared after
//     unescaping) in any object, valid UTF-8 throughout, no byte order mark, no
//     trailing data, no lone surrogate escapes in member names. The one freedom
//     left is a lone surrogate escape inside a string value ("\ud800"), which RFC
//     8259 section 8.2 calls unpredictable: agents do send halves of emoji in
//     tool results, most parsers take them, and the members stay the same.
//  2. Names match exactly: no case folding. A name written with escapes is
//     compared by what it means.
//  3. Spans are offsets of the document given to Scan; the document is never
//     changed and never copied.
//  4. Time is linear in the document; memory is linear in the values indexed and
//     in the names of the objects open at one time; nesting is bounded by
//     MaxDepth.
package jsonspan
