package netfault

import (
	"slices"
	"strings"
	"sync"
)

// A flight is the commands of one connection that await their replies. Its up
// side is used by the goroutine that passes commands on, its down side by the one
// that passes replies on.
type flight struct {
	p *Proxy // immutable

	mu sync.Mutex
	// blind is set for good once it cannot be told which reply answers what.
	blind bool
	// commands are the start of one that is not complete.
	commands []byte
	// waiting has one entry for each command that is not yet answered, and says
	// whether its reply is to be lost.
	waiting []bool

	// reply is the start of one that is not complete, of which sent bytes have
	// been passed on already.
	reply []byte
	sent  int
	fate  fate
	held  []byte // a reply that is to change places with the next
}

// A fate is what becomes of the present reply. It is decided at its first byte.
type fate int

const (
	undecided fate = iota
	pass
	swallow
	holdBack // until the next one is passed on
	overtake // the one that is held back
)

// depart takes note of commands in bytes that are about to be passed on. It comes
// before their passing, since a reply may be back at once.
func (f *flight) depart(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blind {
		return
	}
	f.commands = append(f.commands, b...)
	for {
		words, end, err := command(f.commands)
		if err == errShort {
			return
		}
		if err != nil || unanswerable(words) {
			f.blind, f.commands, f.waiting = true, nil, nil
			return
		}
		f.commands = f.commands[end:]
		if len(words) > 0 {
			f.waiting = append(f.waiting, f.p.toLose(words))
		}
	}
}

// unanswerable tells commands after which replies come unasked or not at all.
func unanswerable(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch strings.ToLower(words[0]) {
	case "subscribe", "psubscribe", "ssubscribe", "monitor", "sync", "psync":
		return true
	case "client":
		return len(words) > 1 && strings.EqualFold(words[1], "reply")
	}
	return false
}

// arrive returns what is to be passed on now that b has come, and whether the
// connection is to be cut behind it.
func (f *flight) arrive(b []byte) (out []byte, cut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reply = append(f.reply, b...)
	for len(f.reply) > 0 && !f.blind {
		f.decide()
		end, err := element(f.reply, 0)
		if err == errShort {
			return f.passPart(out), false
		}
		if err != nil {
			f.blind = true
			break
		}
		if f.fate == swallow {
			f.p.count(func(c *Counts) { c.Swallowed++ })
			return out, true
		}
		out = f.passWhole(out, end)
	}
	if f.blind {
		out = append(append(out, f.reply[f.sent:]...), f.held...)
		f.reply, f.sent, f.held, f.waiting = nil, 0, nil, nil
	}
	return out, false
}

// decide gives the reply its fate if it has none. Pushes and replies to nothing,
// such as that there are too many clients, are passed on.
func (f *flight) decide() {
	switch {
	case f.fate != undecided:
		return
	case f.reply[0] == '>' || len(f.waiting) == 0:
		f.fate = pass
		return
	}
	lose := f.waiting[0]
	f.waiting = f.waiting[1:]
	switch {
	case lose && f.p.losing():
		f.fate = swallow
	case f.held != nil:
		f.fate = overtake
	case len(f.waiting) > 0 && !f.waiting[0] && f.p.takeSwap():
		f.fate = holdBack
	default:
		f.fate = pass
	}
}

// passPart appends what came of an incomplete reply, unless its fate needs all.
func (f *flight) passPart(out []byte) []byte {
	if f.fate == pass {
		out = append(out, f.reply[f.sent:]...)
		f.sent = len(f.reply)
	}
	return out
}

// passWhole appends the rest of a complete reply, or keeps it.
func (f *flight) passWhole(out []byte, end int) []byte {
	switch f.fate {
	case holdBack:
		f.held = slices.Clone(f.reply[:end])
	case overtake:
		out = append(append(out, f.reply[:end]...), f.held...)
		f.held = nil
		f.p.count(func(c *Counts) { c.Swapped++ })
	default:
		out = append(out, f.reply[f.sent:end]...)
	}
	f.reply, f.sent, f.fate = f.reply[end:], 0, undecided
	return out
}
