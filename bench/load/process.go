package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A process is one whose CPU and memory Linux tells in /proc.
type process struct{ dir string }

// tick is the unit of CPU times in /proc: USER_HZ is 100 on every platform of Go.
const cpuTick = time.Second / 100

func processOf(pid int) (*process, error) {
	if pid == 0 {
		return nil, nil
	}
	if runtime.GOOS != "linux" {
		return nil, errors.New("CPU and memory of a process are read from /proc, which only Linux has: leave the pid out")
	}
	p := &process{fmt.Sprintf("/proc/%d", pid)}
	if _, err := p.cpu(); err != nil {
		return nil, fmt.Errorf("cannot watch process %d: %w", pid, err)
	}
	return p, nil
}

// cpu returns the CPU time that the process has used, in user and system mode.
func (p *process) cpu() (time.Duration, error) {
	b, err := os.ReadFile(p.dir + "/stat")
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may have spaces and parentheses in it.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%s/stat has %d fields", p.dir, len(fields))
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * cpuTick, errors.Join(err1, err2)
}

// Memory is what a process holds, in bytes.
type Memory struct {
	Resident int64 `json:"resident_bytes"`
	Peak     int64 `json:"peak_bytes"` // since its start
}

func (p *process) memory() (m Memory, err error) {
	b, err := os.ReadFile(p.dir + "/status")
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			m.Resident = kilobytes << 10
		case "VmHWM":
			m.Peak = kilobytes << 10
		}
	}
	return m, nil
}
