package identity

import (
	"time"

	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// retryWindow is how long after a failed opening the same opening is taken for
// its retry. The most patient agent waits ten times a minute.
const retryWindow = 15 * time.Minute

// oneExchange is how many messages an answer and what follows it are at least.
const oneExchange = 2

// A turn is a request as lineage sees it.
type turn struct {
	tenant   tenantID
	history  []lineage.Point
	answered bool
	peek     bool
	retried  bool          // the client says that it sent the request before
	sure     bool          // the log knows of nothing better than what memory has
	now      time.Duration // since the Resolver was made
	seed     uint64        // hash of tenant, family and first prompt
}

// follow finds the derived thread that a turn continues or retries, and moves
// its head. If there is none, or one that should be checked, it moves nothing
// and returns the part of the history that the log should be asked about; found
// tells the two apart.
func (m *memory) follow(t *turn) (p place, ask []lineage.Point, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.best(t)
	if h == nil {
		return place{}, t.unknown(), false
	}
	if ask := t.doubtful(h); len(ask) > 0 {
		return place{}, ask, true
	}
	if t.peek {
		return place{session: h.session.key.name, thread: h.thread, known: true}, nil, true
	}
	m.begin(h, t)
	return h.place(true), nil, true
}

// unknown is what the log is asked about if memory knows nothing. An opening is
// not looked up itself, since the log would find whichever conversation once
// began with the same words; unless it is said to be a retry, and the process is
// so young that the first try may have been before its start.
func (t *turn) unknown() []lineage.Point {
	if t.answered || t.retried && t.now < retryWindow {
		return t.history
	}
	return t.history[:max(0, len(t.history)-1)]
}

// doubtful is what the log is asked about before a turn may continue h. Where h
// is the opening of its session, the same words may have begun another
// conversation, now forgotten, that owns more of this history. If no more than
// one exchange was added, there is no more to own. All of it counts as owned
// only if the client says that it retries: a script that runs again has the same
// answers, and is a conversation of its own.
func (t *turn) doubtful(h *head) []lineage.Point {
	added := t.history[h.count:]
	switch {
	case t.sure || !h.opening:
		return nil
	case t.retried:
		return added
	case len(added) <= oneExchange:
		return nil
	}
	return added[:len(added)-1]
}

// best chooses among the heads that are a beginning of the turn's history:
//
//  1. one with all of it, if the turn is a retry of its request;
//  2. one with less, the longest, and of these one that waits for this turn;
//  3. one with all of it that is no retry, if it moved after that. A mere
//     repetition of an opening is a new conversation instead.
func (m *memory) best(t *turn) *head {
	n := len(t.history)
	if n == 0 {
		return nil
	}
	same := m.index.at(t.tenant, t.history[n-1])
	if h := newest(same, t.asRetry); h != nil {
		return h
	}
	var before *head
	for i := n - 2; i >= 0 && before == nil; i-- {
		before = newest(m.index.at(t.tenant, t.history[i]), asContinuation)
	}
	again := newest(same, t.asRepetition)
	if again != nil && (before == nil || !before.whole || again.moved > before.moved) {
		return again
	}
	return before
}

// newest returns the head of the highest rank above 0, and of these the one that
// moved last.
func newest(heads []*head, rank func(*head) int) (best *head) {
	top := 1
	for _, h := range heads {
		if r := rank(h); r > top || r == top && (best == nil || h.moved > best.moved) {
			best, top = h, r
		}
	}
	return best
}

// asRetry ranks heads for a turn that may be a retry of their request: a failed
// request is the likeliest to be retried, a whole answer the least.
func (t *turn) asRetry(h *head) int {
	failed := h.flights == 0 && !h.whole
	switch {
	case t.now-h.at > retryWindow:
		return 0
	case failed:
		return 3
	case !t.retried:
		return 0
	case h.flights > 0:
		return 2
	}
	return 1
}

// asContinuation ranks heads for a turn that goes on from them: first those
// with an answer to go on from.
func asContinuation(h *head) int {
	switch {
	case h.whole:
		return 3
	case h.flights > 0:
		return 2
	}
	return 1
}

func (t *turn) asRepetition(h *head) int {
	if h.opening && !t.answered && !t.peek {
		return 0
	}
	return 1
}
