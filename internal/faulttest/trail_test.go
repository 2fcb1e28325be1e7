package faulttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

// A trail is the evidence of one stage: which tries were sent, what of them
// arrived, and what the log said at that moment.
type trail struct {
	st *stage

	mu      sync.Mutex // guards the following
	tries   []*try
	byID    map[string]*try
	slots   map[string]slotValue       // by session: what its first request carried
	anchors map[string]*logsink.Anchor // by session, as first seen in the log
}

// A slotValue is what a session's requests carry, and where.
type slotValue struct {
	at    int
	bytes string
}

func newTrail(st *stage) *trail {
	return &trail{st: st, byID: map[string]*try{}, slots: map[string]slotValue{}, anchors: map[string]*logsink.Anchor{}}
}

// add notes a try before it is sent.
func (tr *trail) add(t *try) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.tries = append(tr.tries, t)
	tr.byID[t.id] = t
}

// all are the tries of one life, or of all for 0.
func (tr *trail) all(life int) (list []*try) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, t := range tr.tries {
		if life == 0 || t.life == life {
			list = append(list, t)
		}
	}
	return list
}

// tryOf is the try that arrived, or nil if it is nobody's.
func (tr *trail) tryOf(e *provider.Exchange) *try {
	i := slices.IndexFunc(e.Header, func(f provider.Field) bool { return strings.EqualFold(f.Name, tryHeader) })
	if i < 0 {
		return nil
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.byID[e.Header[i].Value]
}

// arrived judges a request when the provider has read it and before anything
// else happens.
func (tr *trail) arrived(e *provider.Exchange) {
	t := tr.tryOf(e)
	if t == nil {
		return
	}
	got, ok := t.inserted(e.Body)
	if !ok {
		tr.st.t.Errorf("I3: without the inserted range %s is not the client's body:\n%s\nwant\n%s", t.id, e.Body, t.body)
		return
	}
	if err := tr.logged(t, got); err != nil {
		tr.st.t.Errorf("I1: when %s of session %s arrived: %v", t.id, t.of.id, err)
	}
	if was, ok := tr.frozen(t, got); !ok {
		tr.st.t.Errorf("I2: %s of session %s carries %q at %d, an earlier one %q at %d", t.id, t.of.id, got, t.slot, was.bytes, was.at)
	}
}

// inserted returns what stands in the slot of a body as it arrived, if the rest
// is the client's.
func (t *try) inserted(body []byte) (string, bool) {
	n := len(body) - len(t.body)
	if n < 0 || !bytes.HasPrefix(body, t.body[:t.slot]) || !bytes.Equal(body[t.slot+n:], t.body[t.slot:]) {
		return "", false
	}
	return string(body[t.slot : t.slot+n]), true
}

// logged checks that the log holds what arrived.
func (tr *trail) logged(t *try, got string) error {
	a, err := tr.anchor(t.of.id)
	if err != nil {
		return err
	}
	return carries(a, got)
}

// carries checks that bytes in a slot are those of an anchor.
func carries(a *logsink.Anchor, got string) error {
	if !a.Injects() {
		if got == "" {
			return nil
		}
		return fmt.Errorf("it carries %q, the log says bare (%s)", got, a.Why)
	}
	for i := range a.Renderings {
		if got == string(a.Renderings[i].Bytes)+"," {
			return nil
		}
	}
	return fmt.Errorf("it carries %q, which is no rendering in the log", got)
}

// frozen checks that a session's slot is as it was, and returns how it was.
func (tr *trail) frozen(t *try, got string) (slotValue, bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	now := slotValue{t.slot, got}
	was, known := tr.slots[t.of.id]
	if !known {
		tr.slots[t.of.id] = now
		return now, true
	}
	return was, was == now
}

// slotValues are the slots of all sessions.
func (tr *trail) slotValues() map[string]slotValue {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return maps.Clone(tr.slots)
}

// anchor reads a session's first anchor from the log, from outside, unless it
// was seen there before: the end checks that nothing was lost since.
func (tr *trail) anchor(session string) (*logsink.Anchor, error) {
	tr.mu.Lock()
	a := tr.anchors[session]
	tr.mu.Unlock()
	if a != nil {
		return a, nil
	}
	var err error
	within(func() bool { // it may be down just now
		a, err = tr.st.readAnchor(session)
		return !errors.Is(err, logsink.ErrUnavailable)
	})
	if err != nil {
		return nil, err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.anchors[session] = a
	return a, nil
}

var errNotLogged = errors.New("the log has no anchor of it")

// readAnchor reads the one anchor of a session. Session ids are unique in tests
// that use it.
func (st *stage) readAnchor(session string) (*logsink.Anchor, error) {
	ctx := context.Background()
	r, err := logsink.OpenReader(ctx, logsink.Config{Path: st.judgedPath()})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return anchorIn(ctx, r, session)
}

func anchorIn(ctx context.Context, r logsink.Reader, session string) (*logsink.Anchor, error) {
	keys, err := keysIn(ctx, r, session)
	if err != nil {
		return nil, err
	}
	return onlyAnchor(ctx, r, keys[session])
}

// keysIn lists the keys of all sessions whose ids begin so.
func keysIn(ctx context.Context, r logsink.Reader, prefix string) (map[string][]logsink.Key, error) {
	keys := map[string][]logsink.Key{}
	return keys, r.Sessions(ctx, "", prefix, func(s logsink.SessionInfo) bool {
		keys[s.Session] = append(keys[s.Session], s.Key)
		return true
	})
}

// onlyAnchor is the one anchor of the one session under an id.
func onlyAnchor(ctx context.Context, r logsink.Reader, keys []logsink.Key) (*logsink.Anchor, error) {
	switch len(keys) {
	case 0:
		return nil, errNotLogged
	case 1:
	default:
		return nil, fmt.Errorf("the log has the session %d times", len(keys))
	}
	list, err := r.Anchors(ctx, keys[0])
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("the log has %d anchors of it, want 1", len(list))
	}
	return list[0], nil
}
