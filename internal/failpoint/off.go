//go:build !failpoint

package failpoint

// Enabled tells code that would write differently so that a point can lie
// between two writes.
const Enabled = false

// Hit does nothing in this build.
func Hit(string) {}
