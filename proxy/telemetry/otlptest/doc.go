// Package otlptest is a receiver of OTLP over HTTP for tests: it decodes what a
// collector would get, and can fail as one does.
//
// # Invariants
//
//  1. What it shows is what came over the wire, and nothing else.
//  2. Golden text is the same from run to run: ids are numbered, times and what a
//     test calls volatile are left out.
package otlptest
