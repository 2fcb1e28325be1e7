// Package load measures what a proxy adds on the machine where it runs: the same
// load goes straight to a provider and through the proxy, in turns.
//
// [Run] measures three loads: closed (each connection as fast as it goes), open
// (at fixed times) and stream (closed, with event streams as answers). Its
// [Result] has medians over rounds, and for what the proxy adds the median of the
// differences within a round, so that what else the machine does falls on both.
//
// # Invariants
//
//  1. A latency of the open load counts from when the request was due, not from
//     when a connection was free for it.
//  2. It ends by itself, and soon after its context does; nothing of it stays.
//  3. No credential is in a result or an error, whatever a server answers.
//  4. An answer counts only if it is whole: status 200, and a stream with its end.
package load
