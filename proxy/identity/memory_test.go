package identity

import (
	"fmt"
	"testing"
)

// check looks at what must hold in a memory whatever was done to it.
func (m *memory) check(t interface{ Errorf(string, ...any) }) {
	m.mu.Lock()
	defer m.mu.Unlock()
	threads, derived, listed := 0, 0, 0
	for _, s := range m.sessions.Values() {
		threads += len(s.heads)
		if len(s.heads) == 0 || len(s.heads) > maxThreads {
			t.Errorf("session %q has %d threads", s.key.name, len(s.heads))
		}
		for _, h := range s.heads {
			if h.session != s || s.named(h.thread) != h {
				t.Errorf("thread %q of session %q is not the only one of that name", h.thread, s.key.name)
			}
			if h.derived {
				derived++
			}
		}
		if s.derived && m.index.seeds[seedKey{s.key.tenant, s.seed}].count == 0 {
			t.Errorf("session %q is not counted", s.key.name)
		}
	}
	for k, heads := range m.index.heads {
		listed += len(heads)
		if len(heads) == 0 || len(heads) > maxAlike {
			t.Errorf("%d heads at one point", len(heads))
		}
		for _, h := range heads {
			if h.last != k.point || !h.derived {
				t.Errorf("thread %q is listed where it is not", h.thread)
			}
		}
	}
	if threads != m.threads || threads > m.limit && m.sessions.Len() > 1 || derived != listed {
		t.Errorf("%d threads, counted %d, limit %d; %d derived, listed %d", threads, m.threads, m.limit, derived, listed)
	}
	seeded := 0
	for _, a := range m.index.seeds {
		seeded += a.count
	}
	if seeded > m.sessions.Len() {
		t.Errorf("%d sessions counted by seed, of %d", seeded, m.sessions.Len())
	}
}

func TestInvariant6_LiveBoundsThreads(t *testing.T) {
	for _, limit := range []int{1, 2, 10, 100} {
		g := newRig(t, Config{Live: limit})
		for i := range 300 {
			g.answer(call{named: fmt.Sprint("s", i%7), messages: []string{fmt.Sprint("u:", i)}})
			g.answer(say(fmt.Sprint("u:own ", i)))
			g.answer(say(fmt.Sprint("u:own ", i/2), "a:hi", fmt.Sprint("u:", i)))
			g.r.memory.check(t)
		}
		if m := g.r.memory; m.threads > limit {
			t.Errorf("Live %d: %d threads remembered", limit, m.threads)
		}
	}
}

func TestInvariant6_ForgottenSessionsAreFoundInTheLog(t *testing.T) {
	g := newRig(t, Config{Live: 3})
	var first []Identity
	for i := range 20 {
		first = append(first, g.answer(say(fmt.Sprint("u:", i))))
	}
	for i, want := range first {
		if id := g.answer(say(fmt.Sprint("u:", i), "a:hi", "u:work")); !same(id, want) {
			t.Errorf("conversation %d = %+v, want %+v", i, id, want)
		}
	}
}

func TestInvariant6_TheActiveAreNotForgotten(t *testing.T) {
	g := newRig(t, Config{Live: 3})
	g.log.down = true
	own, named := say("u:main"), call{named: "s", messages: []string{"u:main"}}
	first := g.answer(own)
	g.answer(named)
	for i := range 20 {
		g.answer(say(fmt.Sprint("u:other ", i)))
		own.messages = append(own.messages, fmt.Sprint("a:", i), "u:more")
		named.messages = own.messages
		if id := g.answer(own); !same(id, first) {
			t.Fatalf("turn %d = %+v, want %+v", i, id, first)
		}
		if id := g.answer(named); !id.Known {
			t.Fatalf("turn %d of the explicit session: thread forgotten", i)
		}
	}
}

func TestLongest(t *testing.T) {
	history, _ := historyOf(worked)
	s := &session{}
	for _, n := range []int{1, 3, 2} {
		s.heads = append(s.heads, &head{count: n, last: history[n-1]})
	}
	s.heads = append(s.heads, &head{count: 1, last: history[3]}, &head{count: 9, last: history[3]})
	if h := s.longest(history); h != s.heads[1] {
		t.Errorf("longest(%d messages) = %+v, want that of 3", len(history), h)
	}
	if h := s.longest(history[1:]); h != nil {
		t.Errorf("longest of another history = %+v, want none", h)
	}
}

func TestInvariant6_ThreadsOfASession(t *testing.T) {
	g := newRig(t, Config{})
	main := []string{"u:main"}
	want := g.answer(call{named: "s", messages: main})
	for i := range 300 {
		g.answer(call{named: "s", messages: []string{fmt.Sprint("u:side ", i)}})
		if i%50 == 0 { // the one in use is not forgotten
			main = append(main, "a:ok", "u:more")
			if id := g.answer(call{named: "s", messages: main}); !same(id, want) || !id.Known {
				t.Fatalf("after %d side threads: %+v, want %+v, known", i, id, want)
			}
		}
	}
	g.r.memory.check(t)
}

// TestInvariant6_OneOpeningForEver is a health check that sends one prompt for
// ever and never goes on.
func TestInvariant6_OneOpeningForEver(t *testing.T) {
	g := newRig(t, Config{})
	seen := map[string]bool{}
	for range 2 * maxAlike {
		seen[g.answer(say("u:ping")).Session] = true
	}
	g.r.memory.check(t)
	if len(seen) != 2*maxAlike || g.r.memory.threads != maxAlike {
		t.Errorf("%d sessions, %d remembered, want %d and %d", len(seen), g.r.memory.threads, 2*maxAlike, maxAlike)
	}
}

func TestDoneForWhatIsForgotten(t *testing.T) {
	g := newRig(t, Config{Live: 1})
	c := say("u:one")
	id := g.send(c)
	g.answer(say("u:two"))
	g.done(id, c, true)
	g.done(Identity{}, c, true)
	g.done(id, say(), true)
	g.r.memory.check(t)
}
