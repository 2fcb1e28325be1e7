// Package report writes down what package economics found: a folder with a
// Markdown page, a CSV table, JSON, and plots as SVG.
//
// # Invariants
//
//  1. The same results give the same bytes: nothing in a report tells the time, the
//     machine or the order of a map.
//  2. A folder is there whole or not at all, and nothing is replaced but a report
//     that this package wrote ([Folder]).
//  3. A name that a trace's owner chose is text wherever it stands: no markup, no
//     formula of a spreadsheet, no file name.
//  4. Each sentence about numbers is made from them.
package report
