// Package agent is scripted coding agents: they speak to a provider, or to a
// proxy in front of one, as real agents were seen to do (facts/clients.md), with
// nobody behind them. Demo, fault tests and benches drive them.
//
// An [Agent] of kind [Claude] is like Claude Code, one of kind [Codex] like
// Codex CLI, one of kind [Chat] like opencode. [Agent.Turn] is one prompt of the
// user with all the tool calls that follow; the simulated provider calls the
// tools that a prompt names. [Agent.Title] is the request that real agents send
// beside their first, [Agent.Subagent] a helper in the same session,
// [Agent.Resume] a new start of the program on an old session. A [Call] shows
// one request and its answer byte for byte.
//
// # Invariants
//
//  1. What an agent sends is a function of its Config, of the calls of its
//     methods, and of the answers: never of time, map order or chance.
//  2. An agent sends what it said before again, unchanged but for what real ones
//     change between turns: Claude moves its cache marks, and writes a lone text
//     as a string once it is not the last.
//  3. What the model said goes back as it came: signed and encrypted parts
//     unchanged.
//  4. One step is one request. An agent never tries again by itself; Retry sends
//     the same bytes under a new id.
//  5. An answer without its own end is an error, whatever its status, and leaves
//     the history as it was.
//  6. After Close no goroutine and no connection is left.
package agent
