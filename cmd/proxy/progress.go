package main

import (
	"fmt"
	"io"
	"time"
)

// A progress tells on a terminal how far something is that takes long. Elsewhere it
// is silent.
type progress struct {
	w    io.Writer // nil: no terminal
	next time.Time
	told bool
}

// How long a command takes without a word, and how often it has one then.
const (
	progressAfter = 2 * time.Second
	progressEvery = 200 * time.Millisecond
)

func newProgress(w io.Writer) *progress {
	p := &progress{next: time.Now().Add(progressAfter)}
	if isTerminal(w) {
		p.w = w
	}
	return p
}

// tell replaces the line if it is time for that.
func (p *progress) tell(format string, args ...any) {
	now := time.Now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next, p.told = now.Add(progressEvery), true
	fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
}

// clear takes the line away.
func (p *progress) clear() {
	if p.told {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
