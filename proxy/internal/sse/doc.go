// Package sse splits a text/event-stream into events while it passes.
//
// A [Splitter] is fed the chunks of a body as they were read and hands back
// each event when its blank line has come. It serves readers of a copy: it
// never fails, and what it cannot hold it says so and lets go.
//
// # Invariants
//
//  1. The events are those of the WHATWG rules, wherever the chunks were cut:
//     lines end in LF, CR or CRLF, a byte order mark counts only at the very
//     start, an event without a data line is none, an event without its blank
//     line is none.
//  2. Memory is bounded by the limit whatever is fed. An event that lies whole
//     in a chunk is handed over without being copied, unless it has several
//     data lines.
//  3. Time is linear in the bytes fed.
package sse
