// Package logsink is the header log: the durable record of what a model was
// given before its history began, and of every request that was sent with it.
//
// A [Log] keeps four kinds of record (DESIGN.md 6). An [Anchor] freezes one
// epoch: appending it and freezing the prefix are the same act, so a prefix
// that is not in the log cannot be in use. [Header], [Request] and [Response]
// describe the traffic of the epoch's threads; they are small, and refer to
// large values as blobs, which are stored once under their digest.
//
// A backend is one file that registers itself by URL scheme (sqlite.go) and
// passes the suite in logtest.
//
// # Invariants
//
//  1. Freeze is insert-or-read in one atomic step: of all anchors offered for
//     one (tenant, session, epoch), one is stored and every caller gets it (I5).
//  2. When Freeze or Append returns nil, the record survives a crash of the
//     process and, as far as the disk honours fsync, of the machine (I1, I4).
//  3. A write that is tried again stores nothing twice: every record has an id
//     that its maker chose.
//  4. A record never names a blob that is not in the log.
//  5. Nothing is ever updated in place; the anchor of a live epoch is never
//     dropped by retention.
//  6. No record holds a credential (I12), and no read crosses a tenant (I6).
package logsink
