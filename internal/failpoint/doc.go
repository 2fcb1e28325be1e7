// Package failpoint names the places in the program where a crash matters, so
// that tests can make one happen there.
//
// In an ordinary build Hit does nothing and costs nothing. Built with the tag
// failpoint, it obeys the environment variable FAILPOINT,
//
//	FAILPOINT=P4:3:kill      at the third hit of P4, kill -9 this process
//	FAILPOINT=P2:1:panic     panic
//	FAILPOINT=P9:1:stop      SIGSTOP
//	FAILPOINT=P3:1:sleep=2s  sleep
//
// # Invariants
//
//  1. A release build has no way to reach any of this: the tag is not set.
package failpoint

// The points, in the order in which a request passes them.
const (
	Accepted     = "P0"  // request taken up
	BodyRead     = "P1"  // head and body read
	Composed     = "P2"  // contributors have answered
	BeforeLog    = "P3"  // anchor about to be written
	Logged       = "P4"  // anchor committed, writer not yet told
	Acknowledged = "P5"  // writer told, epoch not yet in memory
	BeforeDial   = "P6"  // connection to the provider about to be taken
	HeadSent     = "P7"  // head of the request written
	BodyHalf     = "P8"  // body half written
	AwaitByte    = "P9"  // all written, no answer yet
	FirstRelayed = "P10" // first bytes of the answer passed on
	MidEvent     = "P11" // an event passed on in part
	BeforeRecord = "P12" // answer over, response not yet recorded
	Draining     = "P13" // shutdown has begun
)
