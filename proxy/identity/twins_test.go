package identity

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// TestTwins is about conversations that begin with the same bytes.
func TestTwins(t *testing.T) {
	const n = 5
	hello := say("u:hello")
	f := func(t *testing.T, g *rig, ids []Identity) {
		t.Helper()
		var sessions []string
		for i := range ids {
			c := say("u:hello", fmt.Sprint("a:", i), "u:work")
			second := g.answer(c)
			c.messages = append(c.messages, "a:ok", "u:more")
			if third := g.answer(c); third.Session != second.Session {
				t.Errorf("conversation %d went from %s to %s", i, second.Session, third.Session)
			}
			sessions = append(sessions, second.Session)
		}
		var opened []string
		for _, id := range ids {
			opened = append(opened, id.Session)
		}
		slices.Sort(sessions)
		slices.Sort(opened)
		if !slices.Equal(sessions, opened) {
			t.Errorf("sessions of the second turns %v, want each of %v once", sessions, opened)
		}
	}
	t.Run("one after the other", func(t *testing.T) {
		g := newRig(t, Config{})
		var ids []Identity
		for range n {
			ids = append(ids, g.answer(hello))
		}
		f(t, g, ids)
	})
	t.Run("at once", func(t *testing.T) {
		g := newRig(t, Config{})
		var ids []Identity
		for range n {
			ids = append(ids, g.send(hello))
		}
		for _, id := range ids {
			g.done(id, hello, true)
		}
		f(t, g, ids)
	})
	t.Run("whole before those under way", func(t *testing.T) {
		g := newRig(t, Config{})
		whole := g.answer(hello)
		g.send(hello)
		if id := g.answer(say("u:hello", "a:hi", "u:work")); id.Session != whole.Session {
			t.Errorf("second turn = %s, want %s, which has an answer", id.Session, whole.Session)
		}
	})
	t.Run("the newest first", func(t *testing.T) {
		g := newRig(t, Config{})
		g.answer(hello) // and never went on
		second := g.answer(hello)
		if id := g.answer(say("u:hello", "a:hi", "u:work")); id.Session != second.Session {
			t.Errorf("second turn = %s, want %s", id.Session, second.Session)
		}
	})
}

// TestTwinsRace opens and continues many conversations at once that begin with
// the same bytes.
func TestTwinsRace(t *testing.T) {
	g := newRig(t, Config{})
	var seen sync.Map
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			g.answer(say("u:hello"))
			c := say("u:hello", fmt.Sprint("a:", i), "u:work")
			second := g.answer(c)
			if other, taken := seen.LoadOrStore(second.Session, i); taken {
				t.Errorf("conversations %d and %d share session %s", i, other, second.Session)
			}
			for k := range 20 {
				c.messages = append(c.messages, fmt.Sprint("a:", i, k), "u:more")
				if id := g.answer(c); !same(id, second) {
					t.Errorf("conversation %d went from %s to %s", i, second.Session, id.Session)
				}
			}
		})
	}
	wg.Wait()
	g.r.memory.check(t)
}

// TestReplay runs one script again and again, as tests, benches and agents at
// temperature 0 do: the answers, too, are the same.
func TestReplay(t *testing.T) {
	replay := func(script []string, turns ...int) {
		t.Helper()
		g := newRig(t, Config{})
		seen := map[string]bool{}
		for run := range 9 {
			if run > 3 {
				g.restart(Config{})
			}
			first := g.answer(say(script[0]))
			if seen[first.Session] {
				t.Fatalf("run %d begins in the session of an earlier one", run)
			}
			seen[first.Session] = true
			for _, n := range turns[:len(turns)-run%2] {
				if run%3 == 2 {
					if id := g.fail(say(script[:n]...)); id.Session != first.Session {
						t.Errorf("run %d, try of %d messages: session %s, want %s", run, n, id.Session, first.Session)
					}
				}
				if id := g.answer(say(script[:n]...)); id.Session != first.Session {
					t.Errorf("run %d, %d messages: session %s, want %s", run, n, id.Session, first.Session)
				}
			}
		}
	}
	replay([]string{"u:hello", "a:hi", "u:work", "a:ok", "u:more", "a:sure", "u:bye"}, 3, 5, 7)
	replay([]string{"u:hello", "a:calls", "a:calls", "u:result", "u:result", "a:call", "u:result"}, 5, 7)
}

// TestRepetition sends a later turn again that was not seen to fail, beside a
// twin that never went on.
func TestRepetition(t *testing.T) {
	g := newRig(t, Config{})
	hello, turn := say("u:hello"), say("u:hello", "a:hi", "u:work")
	g.answer(hello)
	first := g.answer(hello)
	for _, name := range []string{"second turn", "in flight", "in flight twice"} {
		if id := g.send(turn); !same(id, first) {
			t.Errorf("%s: session %s, want %s", name, id.Session, first.Session)
		}
	}
	if id := g.answer(turn); !same(id, first) {
		t.Errorf("and again: session %s, want %s", id.Session, first.Session)
	}
}

// TestLateDone ends a request after the next one of its thread began.
func TestLateDone(t *testing.T) {
	g := newRig(t, Config{})
	hello := say("u:hello")
	first := g.send(hello)
	second := g.send(say("u:hello", "a:hi", "u:work"))
	g.done(first, hello, true)
	if h := second.head; h.whole || h.flights != 1 {
		t.Errorf("second turn: whole %v, %d in flight, want false, 1", h.whole, h.flights)
	}
}

// TestForgottenTwin: an old conversation goes on after a restart, while a new
// one with the same first words waits for its second turn.
func TestForgottenTwin(t *testing.T) {
	g := newRig(t, Config{})
	hello := say("u:hello")
	old := g.answer(hello)
	g.answer(say("u:hello", "a:hi", "u:work"))
	g.restart(Config{})
	young := g.answer(hello)
	if id := g.answer(say("u:hello", "a:hi", "u:work", "a:ok", "u:more")); id.Session != old.Session {
		t.Errorf("the old conversation is in session %s, want %s", id.Session, old.Session)
	}
	if id := g.answer(say("u:hello", "a:calls", "a:calls", "u:result", "u:result")); id.Session != young.Session {
		t.Errorf("the young conversation is in session %s, want %s", id.Session, young.Session)
	}
}
