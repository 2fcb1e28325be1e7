// Package identity finds whose session a request belongs to, and which thread
// of it: a tenant from the credential, a session from what the client says or,
// failing that, from how its conversation began, and a thread from agent ids
// or lineage (DESIGN.md 4.4).
//
// # Invariants
//
//  1. Ids are scoped to a tenant; two tenants with the same id never meet (I6).
//     The tenant is an HMAC of the credential; the credential itself is never
//     kept, returned or logged (I12).
//  2. A blank or oversized value is no id: the search goes on.
//  3. An explicit id always wins over a derived one. Derivation is a function of
//     the tenant, the API family and the opening of the history, never of
//     process state that a restart would lose without the log finding it again.
//  4. A retried first request gets the session of the first try; a new
//     conversation with the same first words gets its own.
//  5. Two header or body values that differ in any byte are different sessions.
package identity
