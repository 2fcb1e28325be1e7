package main

import (
	"fmt"
	"io"
	"time"

	"github.com/seed-9236c7ca/preface/internal/account"
	"github.com/seed-9236c7ca/preface/internal/legible"
)

// A reportProgress tells on a terminal how far a report is that takes long.
type reportProgress struct {
	w    io.Writer
	next time.Time
	told bool
}

// How long a report takes without a word, and how often it has one then.
const (
	progressAfter = 2 * time.Second
	progressEvery = 200 * time.Millisecond
)

func (p *reportProgress) tell(far account.Progress) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.told = now.Add(progressEvery), true
	fmt.Fprintf(p.w, "\r\x1b[Kreport: %s sessions, %s records read", legible.Grouped(far.Sessions), legible.Grouped(far.Records))
}

func (p *reportProgress) clear() {
	if p.told {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
