// Package plot draws charts as SVG: [Bars], [Lines], [Dots] and [Grid]. It knows
// numbers and names, and not what they stand for.
//
// # Invariants
//
//  1. The same chart gives the same bytes.
//  2. Whatever a name holds, the file is one well-formed document without a script,
//     a link or anything from elsewhere.
//  3. Colours are chosen by the reader's own light or dark setting, and no
//     difference is told by colour alone.
//  4. No text stands over another: room is made by the length of what is written.
package plot
