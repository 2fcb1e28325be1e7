// Package economics says what an opener costs: it plays recorded traffic against
// providers' prompt caches, once for each way of giving agents the opener.
//
// [Run] plays a trace, and [Simulate] requests from anybody; both return a
// [Result]: a [Row] for each provider, lifetime and strategy, where one strategy
// overtakes another ([BreakEven]), the conditions under which a frozen opener does
// not win ([Condition]), and the figures that others published beside its own
// ([Golden]).
//
// One look at a prompt gives what any lifetime and any version of an opener would
// read of it, since the blocks of a scope carry the request that touched them last
// (ages). Where entries stand at marks or boundaries only ([MarksClient]), the
// provider's own rules in bench/cache are asked instead, request by request.
//
// # Invariants
//
//  1. The same trace, [Options] and seed give the same [Result], bit for bit.
//  2. Every token of input is in one class: fresh, read, or written for one
//     lifetime; they sum to the input of the row.
//  3. What is read is what [cache] says; prices are those of proxy/usage.
//  4. Memory does not grow with the number of scopes in a trace.
//  5. Nothing is claimed that was not simulated: an answer in words is made from
//     the numbers beside it.
package economics
