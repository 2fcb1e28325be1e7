package identity

import (
	"crypto/rand"
	"fmt"
)

// A place is where a turn belongs.
type place struct {
	session, thread string
	known           bool  // the thread had the beginning of its history, or all
	head            *head // nil if nothing was learnt
}

func (h *head) place(known bool) place { return place{h.session.key.name, h.thread, known, h} }

// adopt places a turn in the session and thread that the log found. A thread
// that memory knows at another history has gone another way since.
func (m *memory) adopt(t *turn, name, thread string) place {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(t, name)
	switch h := s.longest(t.history); {
	case h != nil:
		thread = h.thread
	case thread == "" || s.named(thread) != nil:
		thread = s.newThread(t.history)
	}
	return m.settleIn(s, thread, true, t)
}

// begun places a turn that neither memory nor log knows by how its conversation
// began.
func (m *memory) begun(t *turn) place {
	name := fmt.Sprintf("d-%016x", t.seed)
	switch {
	case len(t.history) == 0:
		return place{session: name, thread: threadName(nil)}
	case t.answered:
		return m.join(t, name)
	case t.peek:
		return place{session: name + "-side", thread: threadName(t.history)}
	}
	return m.open(t, name)
}

// join places a turn whose history was rewritten, or never seen, by its first
// prompt: in the one remembered session that began with it, or else in the one
// with the given name, on which all turns with that prompt agree.
func (m *memory) join(t *turn, name string) place {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.index.only(t)
	if s == nil {
		s = m.session(t, name)
	}
	if h := s.longest(t.history); h != nil {
		return m.settleIn(s, h.thread, true, t)
	}
	return m.settleIn(s, s.newThread(t.history), false, t)
}

// open places a turn in a session of its own.
func (m *memory) open(t *turn, name string) place {
	var b [8]byte
	rand.Read(b[:]) // never fails
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.settleIn(m.session(t, fmt.Sprintf("%s-%x", name, b)), threadName(t.history), false, t)
	p.head.opening = true
	return p
}

// settleIn begins a turn in a session's thread, unless it only looks.
func (m *memory) settleIn(s *session, thread string, known bool, t *turn) place {
	if t.peek {
		return place{session: s.key.name, thread: thread, known: known}
	}
	h := m.add(s, thread, t)
	m.begin(h, t)
	return h.place(known)
}
