// Package identity finds whose session a request belongs to, and which thread
// of it: a tenant from the credential, a session from what the client says or,
// failing that, from how its conversation began, and a thread from agent ids
// or lineage (DESIGN.md 4.4).
//
// A [Resolver] answers for one request at a time, from any number of
// goroutines. A [Config] says where clients put their ids; [Defaults] knows the
// agents in use. A [Finder] is the log's index of derived sessions, by which a
// restarted process finds conversations again.
//
// # Sessions
//
// The first source with a usable value names the session: the path, then the
// sources of the configuration in order. Such an id is explicit; it is kept as
// the client wrote it and needs neither memory nor log.
//
// Without one the session is derived. A request that begins a conversation
// opens a session "d-<seed>-<random>", the seed being a hash of the tenant, the
// API family and the first prompt. Every later request is found by its history:
// it equals or extends one that was seen, in memory or else in the log. A
// history with answers that neither knows was rewritten by the client (some move
// a reminder to another message), or began before Preface was there. It belongs
// to the one remembered session with its seed, or, if there is none or more than
// one, to "d-<seed>", on which all such requests agree. A request that only
// looks (Input.Peek), has no answers, and finds nothing gets "d-<seed>-side".
//
// The same opening sent again is a retry, and stays in its session, if the try
// before it ended without a whole answer at most 15 minutes ago, or if the
// client says that it retries (x-stainless-retry-count). Otherwise it is a new
// conversation with the same words: also while the first is still in flight,
// since agents do start twins and no agent repeats a request that it waits for.
//
// # Threads
//
// An agent id that the client sends names the thread "agent:<id>". Without one
// a request continues the thread whose last history is the longest beginning of
// its own; otherwise it starts a thread "t-<first message>", or, if a thread
// with this first message has already gone another way, "t-<first message>-<last
// message>". Both are hashes of the history, so that a retry and a restarted
// process name it alike.
//
// # What cannot be told apart
//
// Lineage sees requests, not answers. Conversations that began with the very
// same bytes and all failed, or were all answered and not continued yet, look
// alike: the first to retry or go on gets the newest of their sessions, the next
// another one. They never share while this process remembers them (256 alike);
// after a restart those not yet continued share the newest, as does a fork right
// behind their opening. A retried opening whose first try another process saw is
// only found if the client says that it retries, and this process is not older
// than 15 minutes. A compacted history begins anew: without an explicit id it is
// a new session. After a restart the first of two forks to come back takes the
// name of the thread that they left. Clients that all send one prompt_cache_key
// all have one session; drop that source from the configuration for them.
//
// # Invariants
//
//  1. Ids are scoped to a tenant; two tenants with the same id never meet (I6).
//     The tenant is an HMAC of the credential; the credential itself is never
//     kept, returned or logged (I12).
//  2. A value that is blank, oversized, no UTF-8, or has control characters is
//     no id: the search goes on.
//  3. An explicit id always wins over a derived one. Derivation is a function of
//     the tenant, the API family and the opening of the history, never of
//     process state that a restart would lose without the log finding it again.
//  4. A retried first request gets the session of the first try; a new
//     conversation with the same first words gets its own.
//  5. Two header or body values that differ in any byte are different sessions.
//     The bytes of a body value are those of the string that the JSON means.
//  6. Memory is bounded: by Config.Live over all, by 64 threads in a session, by
//     256 conversations that begin alike. Forgetting costs a look into the log.
package identity
