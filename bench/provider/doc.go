// Package provider is a simulated LLM provider: it speaks Anthropic Messages,
// OpenAI Chat Completions and OpenAI Responses over HTTP, streamed or not, with
// a prompt cache that charges what the real ones would, the providers' own
// diagnosis of what it missed, their errors, and the check that binds signed
// thinking to everything sent before it.
//
// [New] and [Provider.Start] run one on loopback; [Options] and the request
// header x-provider-fault choose what goes wrong ([Fault]); [Provider.Received]
// tells what arrived, byte for byte, and what was sent back.
//
// What is read and written is decided by bench/cache, which simulations of traces
// ask too. It judges the proxy, so it shares no code with it: requests are read with
// encoding/json, not with the proxy's scanner.
//
// # Invariants
//
//  1. Token counts are a function of the text alone: a block's tokens never
//     depend on its neighbours, the clock, or the shape it was written in.
//  2. A cache entry is written only where the dialect's rules put one, can be
//     read only after the first byte of its writer's answer was sent, never
//     across organizations or models, and lives from the start of the request
//     that wrote or last read it.
//  3. Every input token of a request is counted in exactly one class: fresh,
//     read, or written.
//  4. The same request answered streamed and whole has the same content and
//     the same usage.
//  5. The ledger shows what was on the wire: heads, bodies and answers are
//     never re-encoded.
//  6. Memory is bounded by Options, and after Close no goroutine and no
//     connection is left.
package provider
