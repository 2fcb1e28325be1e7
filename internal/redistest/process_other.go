//go:build !linux

package redistest

import "syscall"

// dieWithParent has nothing to ask for here: a killed test leaves its servers.
func dieWithParent() *syscall.SysProcAttr { return nil }
