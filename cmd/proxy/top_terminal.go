package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminalSize is how many columns and lines a terminal has: what it says, else
// what the environment says, else the smallest that everyone has.
func terminalSize(w io.Writer) (columns, lines int) {
	if f, ok := w.(*os.File); ok {
		if s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && s.Col > 0 && s.Row > 0 {
			return int(s.Col), int(s.Row)
		}
	}
	return fromEnvironment("COLUMNS", 80), fromEnvironment("LINES", 24)
}

func fromEnvironment(name string, missing int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return missing
}

// whenResized tells when the terminal has another size, until done is called.
func whenResized() (resized <-chan os.Signal, done func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

// untilInterrupt ends a context at the signals that end a program, so that the
// terminal is left as it was.
func untilInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
