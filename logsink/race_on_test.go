//go:build race

package logsink_test

// slower is by how much tests do less that start processes or look at one byte
// after the other: the race detector slows them down and can tell nothing there.
const slower = 10
