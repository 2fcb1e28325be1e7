// Command redis measures what the header log in Redis costs beside the embedded
// one. run.sh starts what it measures; see there for how to run it.
//
//	redis memory -redis ADDR
//	redis proxies -redis ADDR@PID -embedded URL@PID -replica URL@PID …
//
// Each prints a table of what was measured beside its bar, and ends with status
// 1 if a bar was missed. Everything is measured in alternation, so that what
// else the machine does falls on both sides; the ratio is what counts.
package main
