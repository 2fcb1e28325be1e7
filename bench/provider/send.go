package provider

import (
	"errors"
	"time"
)

var (
	errGone = errors.New("client left")
	errCut  = errors.New("cut on purpose")
)

// wait pauses; it ends early when the client leaves or the provider closes.
func (x *exchange) wait(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-x.tap.gone:
		return errGone
	}
}

// send sends the answer with its faults, and reports whether the connection is
// left in good order.
func (x *exchange) send(a *answer) bool {
	if x.wait(x.fault.Delay) != nil {
		return false
	}
	events, then := shape(a, x.fault, x.at.format)
	s := &sender{x: x, stream: a.stream, out: x.transport(a.stream), cut: -1}
	if x.fault.Cut != CutNone {
		s.cut = x.fault.CutAfter
	}
	if a.begin != nil {
		a.begin()
	}
	x.begin(a)
	err := s.head(a)
	if x.method == "HEAD" {
		events = nil
	}
	for i, data := range events {
		if err == nil && i > 0 {
			err = s.silence(x.fault.Gap)
		}
		if err == nil {
			err = s.event(data)
		}
	}
	return s.end(err, then)
}

// begin notes that the answer begins.
func (x *exchange) begin(a *answer) {
	x.note(func(e *Exchange) {
		e.AnswerAt, e.Status, e.Model = time.Now(), a.status, a.model
		if a.tokens != nil {
			e.Tokens = *a.tokens
		}
	})
	if a.tokens != nil {
		x.p.tally(x.tenant, *a.tokens)
	}
}

// An ending is what comes after the events.
type ending byte

const (
	endWell ending = iota
	endStall
)

// shape applies the faults that choose and spell events.
func shape(a *answer, f Fault, in *format) (events [][]byte, then ending) {
	for _, e := range a.events {
		if f.NoTerminal && a.stream && e.terminal {
			break
		}
		events = append(events, e.data)
	}
	if f.Error && a.stream {
		events = append(events[:min(f.ErrorAfter, len(events))], in.errorEvent)
	}
	if f.Stall {
		events, then = events[:min(f.StallAfter, len(events))], endStall
	}
	if a.stream {
		for i := range events {
			events[i] = lineEnds(events[i], f.LineEnd)
		}
	}
	return events, then
}
