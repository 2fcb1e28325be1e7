package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal opens a terminal of the kernel's: what is written to tty, screen
// gives to read.
func openTerminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return screen, tty
}

// readPage reads what is drawn next, to its end.
func readPage(t *testing.T, r *bufio.Reader) (lines []string) {
	t.Helper()
	var b strings.Builder
	for !strings.HasSuffix(b.String(), ansiRest) {
		c, err := r.ReadByte()
		if err != nil {
			t.Fatalf("the terminal ends after %q: %v", b.String(), err)
		}
		b.WriteByte(c)
	}
	page := strings.TrimPrefix(strings.TrimPrefix(b.String(), ansiEnter), ansiHome)
	// The terminal itself puts a carriage return before each line's end.
	page = strings.TrimSuffix(strings.ReplaceAll(page, "\r\r\n", "\r\n"), ansiLine+ansiRest)
	return strings.Split(page, ansiLine)
}

// TestTopOnATerminal: on one of the kernel's, what is drawn fits it, also when it
// was made smaller, a number is there whole or not at all, and nothing speaks to it.
func TestTopOnATerminal(t *testing.T) {
	screen, tty := openTerminal(t)
	resize := func(columns, lines uint16) {
		if err := unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
			t.Fatal(err)
		}
	}
	resize(120, 50)
	t.Setenv("TERM", "xterm")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- top(ctx, []string{"-admin", overviewServer(t, "", hostile()), "-every", "1h"}, tty, io.Discard)
	}()
	r := bufio.NewReader(screen)
	const paid = "$1234567.00"
	check := func(columns, height, shown int) {
		t.Helper()
		lines := readPage(t, r)
		if len(lines) > height {
			t.Errorf("%d columns: %d lines are drawn on %d", columns, len(lines), height)
		}
		for _, l := range lines {
			if clipTo(l, columns) != l || strings.ContainsAny(l, "\x1b\r\n\a") {
				t.Errorf("%d columns: the line %q does not fit, or speaks", columns, l)
			}
			if strings.HasPrefix(l, "paid") && (strings.Count(l, paid) != shown || strings.Count(l, "$") != shown) {
				t.Errorf("%d columns: the line %q has not %s %d times", columns, l, paid, shown)
			}
		}
	}
	check(120, 49, 3)
	for _, size := range []struct{ columns, lines, shown int }{{80, 24, 3}, {74, 24, 2}, {40, 24, 1}, {20, 5, 1}, {100, 50, 3}} {
		resize(uint16(size.columns), uint16(size.lines))
		if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil { // it is not our terminal
			t.Fatal(err)
		}
		check(size.columns, size.lines-1, size.shown)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("top ended with %v", err)
	}
	left := make([]byte, len(ansiLeave))
	if err := screen.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Logf("no deadline: %v", err)
	}
	if _, err := io.ReadFull(r, left); err != nil || string(left) != ansiLeave {
		t.Errorf("the terminal is left with %q, %v; want %q", left, err, ansiLeave)
	}
}

// On a terminal that knows no signs of control top prints once.
func TestTopOnADumbTerminal(t *testing.T) {
	screen, tty := openTerminal(t)
	t.Setenv("TERM", "dumb")
	if err := top(t.Context(), []string{"-admin", overviewServer(t, "", hostile())}, tty, io.Discard); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	text, _ := io.ReadAll(screen) // a terminal whose other side is closed ends with EIO
	if !strings.Contains(string(text), "hit rate") || strings.Contains(string(text), "\x1b") {
		t.Errorf("top wrote %q on a dumb terminal", text)
	}
}
