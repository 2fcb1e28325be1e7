// Package proxy is one HTTP exchange from its first byte to its last: it takes
// an agent's request, puts the session's frozen prefix right after the system
// slot, and relays the provider's answer.
//
// A request goes one way:
//
//	receive → match dialect → scan → identify → freeze (or find) → splice →
//	record → hold → forward → relay + meter → record → account
//
// No step reaches back. Each step has a file of that name, but that match dialect
// is in route.go, freeze in identify.go, hold in burst.go, and the record of the
// answer in ending.go.
//
// # Invariants
//
// These are the promises I1 to I13 of the design; tests name them.
//
//	I1  logged before wire: no upstream byte of a request that carries a prefix is
//	    written before the anchor that holds it is durable in the log.
//	I2  frozen: in one epoch the inserted bytes, where they stand, and whether
//	    anything is inserted never change: not over requests, retries, replicas,
//	    restarts, reloads or releases.
//	I3  insert only: take the inserted ranges out of what was sent and you have
//	    the client's body, bit for bit.
//	I4  reconstructable: the log has the prefix, the header snapshots and the
//	    digest of every body that was sent.
//	I5  one winner: however many first requests race, one composition is frozen
//	    and all use it; a failed or interrupted one leaves no trace.
//	I6  no leak: nothing of one tenant appears in another's traffic or records.
//	I7  cancel: client gone, upstream connection closed within 250 ms, in every
//	    phase.
//	I8  no false success: a cut stream never looks complete; the provider's status,
//	    headers, errors and events arrive as they were.
//	I9  at most one send: a POST reaches a provider at most once per client
//	    request, unless nothing of the first try was written.
//	I10 bounded: memory, goroutines, queues, waits and disk have limits.
//	I11 honest numbers: token classes are disjoint; "not reported" is not 0.
//	I12 no secret: no credential in a log, record, metric, error or panic.
//	I13 absence is canonical: an empty composition is the decision bare.
package proxy
