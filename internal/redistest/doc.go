// Package redistest runs real Redis (or Valkey) servers for tests: on loopback
// ports of their own, in temporary folders, in every shape in which they are
// deployed.
//
//	s := redistest.Single(t)                           // shared by all tests of the process
//	s := redistest.Start(t, "appendonly yes")          // one of the test's own
//	master, replicas := redistest.StartReplicas(t, 2)
//	g := redistest.StartSentinel(t)                    // a master, a replica, three sentinels
//	c := redistest.Cluster(t)                          // six nodes, shared
//	c := redistest.StartCluster(t)                     // six nodes of the test's own
//
// A [Server] is killed, stopped, paused and started again on the same port and
// folder; a [Nodes] hands slots to and fro. Tests break only what they started
// themselves, and tell their keys in shared servers apart by a prefix.
//
// A package that uses shared servers stops them at its end:
//
//	func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }
//
// The program is redis-server or valkey-server from the PATH, or what
// PREFACE_REDIS names. A test whose server is not installed fails: a log that was
// tested against nothing is not tested.
//
// Servers are asked through a small client of the package's own ([Server.Do]), so
// that what a test learns from outside does not pass through the client library
// that it tests.
//
// # Invariants
//
//  1. No server outlives its test, shared ones not their process, even if that is
//     killed (on Linux).
//  2. Servers listen on loopback only and write only in their folder.
//  3. What Start and its like return has answered: loaded, linked to its master,
//     agreed upon by all its peers.
//  4. A server keeps its port and its folder for life; a port is below those that
//     the kernel hands out, so that nobody else takes it while the server is down.
package redistest
