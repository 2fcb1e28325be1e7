package faulttest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// isStopped reports whether the process was stopped by a signal.
func (c *child) isStopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "T")
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory is the most that the process ever had in memory, in bytes.
func (c *child) peakMemory() int64 {
	c.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	m := peakLine.FindSubmatch(status)
	if m == nil {
		c.t.Fatalf("no VmHWM in %s", status)
	}
	kb, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
	return kb << 10
}
