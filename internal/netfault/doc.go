// Package netfault is a network that fails on demand: a TCP proxy for tests
// between a client and a server, whose faults are switched while traffic runs.
//
//	p := netfault.New(t, server.Addr)   // clients dial p.Addr()
//	p.Delay(netfault.Down, time.Second) // each answer comes a second late
//	p.Mute(netfault.Up)                 // commands are taken and go nowhere
//	p.Throttle(netfault.Down, 1)        // one byte a second
//	p.CutAfter(netfault.Down, 5)        // five more bytes, then the end
//	p.CutAll()                          // now
//	p.RefuseNew()                       // until p.Accept()
//	p.SwallowReply(match)               // carried out, and its reply lost
//	p.SwapReplies(1)                    // each gets the other's
//	p.Heal()                            // all well again
//
// A fault of a direction holds for every connection, open or to come, until
// another value or Heal. What was held back when Heal is called is passed on then,
// as a network that recovers does.
//
// The last two know where commands and replies of RESP begin and end, so they need
// a connection on which the n-th reply answers the n-th command. One that
// subscribes, replicates or switches replies off is none from then on, nor is one
// that talks another protocol: all other faults work there, these two don't.
//
// # Invariants
//
//  1. Without a fault, what arrives is what was sent, in both directions, up to and
//     including the end of each.
//  2. A fault that ends a connection has passed on what came before it, and nothing
//     else.
//  3. No goroutine and no connection outlives the test; no wait outlasts Heal.
package netfault
