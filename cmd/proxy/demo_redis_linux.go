package main

import "syscall"

// childAttr has a child end with this program, however that ends, and no earlier:
// an interrupt from the terminal goes to a whole group of processes.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
