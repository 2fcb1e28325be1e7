// Package dialect knows the wire formats of providers: which paths they use,
// where in a body the system slot ends, how opening messages are written, how
// usage is reported and what an error looks like.
//
// A dialect is one file that registers itself by name and passes the suite in
// dialecttest. It sees bytes and offsets; it knows no session, no log and no
// HTTP server. A body is scanned with the dialect's Depth, read into a [Request],
// and spliced at its [Slot] with one of the dialect's renderings:
//
//	err := doc.Scan(body, d.Depth)
//	err = d.Read(&doc, endpoint, &request)
//	splices := request.Slot.Splices(frozen[request.Rendering])
//
// # Invariants
//
//  1. Read only looks: it returns offsets into the scanned document and never
//     changes or re-encodes a byte of it (I3).
//  2. The prefix goes after the whole system slot and before the whole history
//     (DESIGN.md 4.7). Where it may not go, Read says Never and why. What Read
//     does not understand is passed over: only the place is looked for.
//  3. Renderings is a pure function of the messages: same messages, same bytes.
//  4. A lineage ignores what clients change between turns: cache marks, and
//     whether a text is a string or one block. Two API families have none in
//     common. Its bytes are the same in every release, for the log holds them.
//  5. A Meter never fails and never delays: it is fed a copy, and what it does
//     not understand leaves counts unknown.
//  6. Reading takes time linear in the document and, into a used Request, no
//     allocation.
package dialect
