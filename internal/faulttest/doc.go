// Package faulttest breaks the program as a whole: real processes on loopback,
// killed, stopped, starved and lied to, while clients that retry as agents do
// talk through them to a simulated provider. Everything in it is a test; what
// breaks inside one process is tested in package proxy.
//
// A [stage] is one log file with a provider and a contributor in this process,
// and any number of proxies in processes of their own, built once with the tag
// failpoint. The contributor never says the same twice, so that the only way for
// a session to keep its bytes is the log. A crew of agents keeps its
// sessions over any number of proxies' lives, gives each try an id, and knows
// where in its body the slot is. The checkers judge what arrived at the
// provider, what the clients saw and what the log says when it is read from
// outside; their messages begin with the promise that was broken:
//
//	I1  what arrives in the slot is in the log at the moment it arrives
//	I2  one value of bytes and place for each session, over all lives
//	I3  what arrives around the slot is the client's body
//	I4  what was used is in the log at the end, and the log verifies
//	I7  a client that left is followed by the provider's connection
//	I8  an answer that ends cleanly has its last event
//	I9  a try arrives at most once
//
// The soak over replicas (make soak) has a jury that counts what it judges of each
// of I1 to I12, and what broke it (soak_counter_test.go).
//
// # Checking the checkers
//
// A harness that finds nothing may be blind. TestMutations builds the program
// with one promise broken at a time (go build -overlay, nothing in the tree
// changes) and requires that the test named for it fails with the message named
// for it:
//
//	go test -tags mutations -run TestMutations -v ./internal/faulttest
//
// It takes a minute or two and is not part of an ordinary run; that each mutation still
// applies to the source is. Whoever adds a checker adds a mutation that it must
// find; whoever moves the code that a mutation changes moves the mutation.
//
// Any test here can be run against another binary, built with -tags failpoint:
//
//	PREFACE_BINARY=/tmp/proxy go test -run TestI1_Kill9 ./internal/faulttest
package faulttest
