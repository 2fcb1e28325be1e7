package identity

import (
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// maxThreads is how many threads of a session are remembered.
const maxThreads = 64

// memory knows the heads of running conversations. It forgets the sessions
// that were quiet longest. mu guards everything; it is held for a few map
// accesses and never over a call to the log.
type memory struct {
	limit int // of threads; immutable

	mu       sync.Mutex
	sessions *simplelru.LRU[sessionKey, *session]
	threads  int    // heads in sessions
	clock    uint64 // counts moves
	index    index  // of the derived ones
}

type sessionKey struct {
	tenant tenantID
	name   string
}

type session struct {
	key   sessionKey
	heads []*head // at most maxThreads

	// Of derived sessions only.
	derived bool   // index has it
	seed    uint64 // as turn.seed
}

// A head is a thread at the history of its latest request.
type head struct {
	session *session
	thread  string
	count   int // messages
	last    lineage.Point
	moved   uint64 // memory.clock at its latest request

	// Of threads of derived requests only.
	derived bool          // index has it
	opening bool          // its latest request opened the session
	whole   bool          // a request at last got its whole answer
	flights int32         // requests at last that have not ended
	at      time.Duration // of its latest request, as turn.now
}

func newMemory(limit int) *memory {
	m := &memory{limit: limit, index: newIndex()}
	m.sessions, _ = simplelru.NewLRU(limit, m.forgotten) // fails only for a limit below 1
	return m
}

// forgotten clears up after a session that the LRU dropped.
func (m *memory) forgotten(_ sessionKey, s *session) {
	m.threads -= len(s.heads)
	for _, h := range s.heads {
		m.index.remove(h)
	}
	m.index.removeSession(s)
}

// thread finds or starts the thread of a turn in an explicit session.
func (m *memory) thread(t *turn, name string) (thread string, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(t, name)
	h := s.longest(t.history)
	switch {
	case h != nil && t.peek:
		return h.thread, true
	case h != nil:
		m.move(h, t)
		return h.thread, true
	case t.peek:
		return s.newThread(t.history), false
	}
	return m.add(s, s.newThread(t.history), t).thread, false
}

// session returns the session with a name, an empty one if it is not known.
func (m *memory) session(t *turn, name string) *session {
	k := sessionKey{t.tenant, name}
	if s, ok := m.sessions.Get(k); ok {
		return s
	}
	return &session{key: k}
}

// longest returns the head whose history is the longest beginning of this one,
// nil if none is.
func (s *session) longest(history []lineage.Point) (best *head) {
	for _, h := range s.heads {
		if h.count <= len(history) && h.last == history[h.count-1] && (best == nil || h.count > best.count) {
			best = h
		}
	}
	return best
}

func (s *session) named(thread string) *head {
	for _, h := range s.heads {
		if h.thread == thread {
			return h
		}
	}
	return nil
}

// newThread names the thread of a history that continues none of the session.
func (s *session) newThread(history []lineage.Point) string {
	name := threadName(history)
	if s.named(name) == nil {
		return name
	}
	last := history[len(history)-1]
	return name + "-" + hex.EncodeToString(last[:6])
}

// threadName is the name of the first thread that begins with the first message.
func threadName(history []lineage.Point) string {
	if len(history) == 0 {
		return "main"
	}
	return "t-" + hex.EncodeToString(history[0][:6])
}

// add puts a thread at the turn's history. If the session has one of that name,
// that is moved there.
func (m *memory) add(s *session, thread string, t *turn) *head {
	if h := s.named(thread); h != nil {
		m.move(h, t)
		return h
	}
	if len(s.heads) >= min(maxThreads, m.limit) {
		m.drop(slices.MinFunc(s.heads, byMove))
	}
	h := &head{session: s, thread: thread}
	s.heads = append(s.heads, h)
	m.threads++
	m.move(h, t)
	m.sessions.Add(s.key, s)
	for m.threads > m.limit && m.sessions.Len() > 1 {
		m.sessions.RemoveOldest()
	}
	return h
}

func byMove(a, b *head) int { return int(int64(a.moved - b.moved)) }

// move sets a head to the turn's history and makes it the newest.
func (m *memory) move(h *head, t *turn) {
	m.clock++
	h.moved = m.clock
	last := t.history[len(t.history)-1]
	if h.count == len(t.history) && h.last == last {
		return
	}
	derived := h.derived
	m.index.remove(h)
	h.count, h.last = len(t.history), last
	h.opening, h.whole, h.flights = false, false, 0
	if derived {
		m.list(h)
	}
}

// begin moves a head for a derived request that now is in flight.
func (m *memory) begin(h *head, t *turn) {
	m.move(h, t)
	if !h.derived {
		m.list(h)
	}
	m.index.addSession(h.session, t.seed)
	h.flights++
	h.at = t.now
	m.sessions.Get(h.session.key) // keeps it young
}

// list puts a head into the index. Of too many alike the one that is there
// longest is forgotten, and its session if it had no other.
func (m *memory) list(h *head) {
	old := m.index.add(h)
	switch {
	case old == nil:
	case len(old.session.heads) == 1:
		m.sessions.Remove(old.session.key)
	default:
		m.drop(old)
	}
}

// drop forgets a head that is not the only one of its session, or is to be
// replaced.
func (m *memory) drop(h *head) {
	m.index.remove(h)
	h.session.heads = slices.DeleteFunc(h.session.heads, func(o *head) bool { return o == h })
	m.threads--
}

// settle records how a request at a history ended. A head that has moved on is
// left alone.
func (m *memory) settle(h *head, last lineage.Point, completed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.last != last {
		return
	}
	h.flights = max(0, h.flights-1)
	h.whole = h.whole || completed
}
