// Package account sums what the header log has of a span of time: what the
// openers cost, what caching saved, and which cache reads fell short and why.
// Read walks through a log and returns a Report, which can be written as
// Markdown, as JSON and as one HTML file.
//
// # Invariants
//
//  1. Money is exact: sums of picodollars in whole numbers. One that leaves their
//     range stays at its end and the report says so; it never wraps around.
//  2. What was not reported is told apart from 0, and what has no price is
//     counted by reason and model and adds nothing to any sum of money (I11).
//  3. The same log, span and tenant give the same bytes.
//  4. Memory does not grow with the number of records: it is bounded but for eight
//     bytes, and their place in a map, for each session.
//  5. No text of the log can speak to a terminal, close a table's cell, or become
//     markup or a link.
package account
