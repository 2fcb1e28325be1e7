//go:build !linux

package faulttest

func (c *child) isStopped() bool {
	c.t.Skip("only Linux tells whether a process is stopped")
	return false
}

func (c *child) peakMemory() int64 {
	c.t.Skip("only Linux tells how much memory a process had")
	return 0
}
