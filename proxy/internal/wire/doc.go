// Package wire holds what the proxy needs of connections beyond net.Conn: idle
// deadlines, several buffers in one write, a watcher that notices the peer
// leaving while nobody reads, and the decoding of chunked bodies in place.
//
// # Invariants
//
//  1. A deadline of a [Conn] is an idle deadline: it fires after a silence of
//     at least the configured time, never because a healthy stream lasts long.
//  2. When the peer closes or resets its side, [Conn.Gone] turns true and the
//     function set by [Conn.OnGone] is called once, without anyone reading from
//     the connection: within milliseconds on Linux (epoll), within PollEvery
//     elsewhere (I7).
//  3. A closed Conn is out of the watcher before its descriptor can be used
//     again, so news of one connection never reaches another.
//  4. [Dechunker] never passes framing on as data and never reports the end of a
//     body that was cut (I8).
package wire
