//go:build !linux

package main

import "syscall"

// childAttr spares a child the interrupt that goes from the terminal to a whole
// group of processes. It cannot have it end with a program that is killed.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
