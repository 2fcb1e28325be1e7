// Package wire checks the model of caches against the wire: it plays agents of the
// shape of a recorded trace through the real proxy to a simulated provider, and
// compares what the provider read from its cache with what the model says, to the
// token.
//
// [Run] makes each request of a trace twice, with the same bytes. Once it carries
// the id of its session, so that Preface freezes the opener; once it carries an id
// of its own, so that an opener is composed for it alone: that is freezing switched
// off, without a switch in the proxy. What composes is the same service both times,
// and never says the same twice.
//
// The provider counts tokens of the bytes that it gets; the model knows the trace's
// counts and where requests part, and sees no byte. Both ask package cache what of
// that is read. The trace's pauses pass by a clock of the provider.
//
// # Invariants
//
//  1. The same trace, options and seed give the same result.
//  2. What was measured is compared request by request and class by class, in the
//     provider's ledger and in Preface's log.
//  3. The proxy has no setting or code for this: it is served requests.
//  4. When Run returns, no server runs, no goroutine is left, and the folder of its
//     log is gone.
package wire
