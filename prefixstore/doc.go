// Package prefixstore gives a session's frozen prefix: it composes one when an
// epoch begins, freezes it by writing its anchor to the header log, and keeps
// copies of anchors in the process.
//
// There is no store beside the log (DESIGN.md 4.1). The order is
//
//	compose → render → log.Freeze → use
//
// and a crash in any gap leaves nothing but an epoch without an anchor, which
// the next request composes anew. After log.Freeze the bytes are whatever
// anchor the log returned, ours or that of a faster replica.
//
// # Invariants
//
//  1. What Find returns is in the log, durably, before it is returned (I1).
//     The one exception has no bytes: an opening request that went out bare
//     while the log was down is remembered as bare until the log has it.
//  2. One epoch has one anchor: compositions may race, but all callers get the
//     one that the log kept (I2, I5).
//  3. A composition that failed or was interrupted leaves no trace (I5).
//  4. The cache is never truth: it may drop or delay anything, and Find gives
//     the same answer, only slower.
//  5. An Epoch is immutable and belongs to the key it was asked for (I6).
//  6. An empty composition is the decision bare (I13).
package prefixstore
