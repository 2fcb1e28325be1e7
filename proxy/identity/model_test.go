package identity

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A talk is a conversation of the model: what a client believes.
type talk struct {
	c         call
	session   string // "" until it is certain
	thread    string
	first     Identity // of the opening
	inFlight  *Identity
	failed    bool
	continued bool
	turns     int  // with answers that no other has
	old       bool // memory may not know it
}

// A world is any number of talks over one proxy. Its rules are doc.go's: a talk
// never changes its session and two never share one. What cannot be told apart
// is spelt out where it is allowed for.
type world struct {
	g     *rig
	talks []*talk
	owner map[string]*talk // of sessions that are certain
	count int              // of messages made
}

var words = []string{"u:hello", "u:fix the build", "u:ping"}

func (w *world) make(kind string) string {
	w.count++
	return fmt.Sprint(kind, ":", w.count)
}

// pick draws a talk that the condition holds for.
func (w *world) pick(t *rapid.T, ok func(*talk) bool) *talk {
	var fit []*talk
	for _, k := range w.talks {
		if ok(k) {
			fit = append(fit, k)
		}
	}
	if len(fit) == 0 {
		t.Skip("no such conversation")
	}
	return rapid.SampledFrom(fit).Draw(t, "conversation")
}

// twins are the other talks with the same opening that have not gone on.
func (w *world) twins(k *talk) []*talk {
	var twins []*talk
	for _, o := range w.talks {
		if o != k && !o.continued && !k.continued && o.c.messages[0] == k.c.messages[0] {
			twins = append(twins, o)
		}
	}
	return twins
}

func (w *world) send(k *talk) Identity { return w.sendAs(k, k.c) }

func (w *world) sendAs(k *talk, c call) Identity {
	id := w.g.send(c)
	k.inFlight, k.failed, k.old = &id, false, false
	return id
}

// claim says that a talk is in a session for good.
func (w *world) claim(t *rapid.T, k *talk, id Identity) {
	if o := w.owner[id.Session]; o != nil && o != k {
		t.Fatalf("conversations %q and %q share session %s", o.c.messages, k.c.messages, id.Session)
	}
	if k.session != "" && k.session != id.Session {
		t.Fatalf("conversation %q went from session %s to %s", k.c.messages, k.session, id.Session)
	}
	w.owner[id.Session], k.session = k, id.Session
}

// open begins a conversation, often in words that others began with. After a
// failed opening the same words are a retry, which is not for this action. After
// a restart they hide an older opening that has not gone on.
func (w *world) open(t *rapid.T) {
	word := rapid.SampledFrom(words).Draw(t, "words")
	for _, o := range w.talks {
		if !o.continued && o.failed && o.c.messages[0] == word {
			t.Skip("would be a retry")
		}
	}
	w.drop(func(o *talk) bool { return o.old && !o.continued && o.c.messages[0] == word })
	k := &talk{c: say(word)}
	k.first = w.send(k)
	for _, o := range w.talks {
		if o.first.Session == k.first.Session || o.session == k.first.Session {
			t.Fatalf("a new conversation %q begins in the session %s of %q", word, k.first.Session, o.c.messages)
		}
	}
	w.talks = append(w.talks, k)
}

func (w *world) done(t *rapid.T) {
	k := w.pick(t, func(k *talk) bool { return k.inFlight != nil })
	completed := rapid.Bool().Draw(t, "completed")
	w.g.done(*k.inFlight, k.c, completed)
	k.inFlight, k.failed = nil, !completed
}

func (w *world) retry(t *rapid.T) {
	k := w.pick(t, func(k *talk) bool { return k.failed })
	c := k.c
	if k.old {
		c = c.retry() // memory does not know that it failed
	}
	failed := slices.DeleteFunc(w.twins(k), func(o *talk) bool { return !o.failed })
	id := w.sendAs(k, c)
	if k.continued {
		w.claim(t, k, id)
		return
	}
	w.match(t, k, failed, id)
}

// match checks that a talk that has not gone on stays in the session that it
// opened, or swaps it with one of the others.
func (w *world) match(t *rapid.T, k *talk, others []*talk, id Identity) {
	if id.Session == k.first.Session {
		return
	}
	i := slices.IndexFunc(others, func(o *talk) bool { return o.first.Session == id.Session })
	if i < 0 {
		t.Fatalf("conversation %q opened session %s and is in %s, which none of its twins has", k.c.messages, k.first.Session, id.Session)
	}
	k.first, others[i].first = others[i].first, k.first
}

// goOn sends the next turn. The first time, twins may swap sessions: nobody
// could know.
func (w *world) goOn(t *rapid.T) {
	k := w.pick(t, func(k *talk) bool { return k.inFlight == nil && !k.failed })
	twins := w.twins(k)
	k.c.messages = append(slices.Clip(k.c.messages), w.make("a"), w.make("u"))
	if rapid.Bool().Draw(t, "tools") {
		k.c.messages = append(k.c.messages, w.make("u"), w.make("u"))
	}
	id := w.send(k)
	k.turns++
	if k.continued {
		w.claim(t, k, id)
		if id.Thread != k.thread && k.thread != "" {
			t.Fatalf("conversation %q went from thread %s to %s", k.c.messages, k.thread, id.Thread)
		}
		k.thread = id.Thread
		return
	}
	w.match(t, k, twins, id)
	k.continued, k.thread = true, id.Thread
	w.claim(t, k, id)
}

// fork says something else than before, behind an answer that only this
// conversation has.
func (w *world) fork(t *rapid.T) {
	k := w.pick(t, func(k *talk) bool { return k.turns > 1 && k.inFlight == nil })
	c := k.c
	c.messages = append(slices.Clip(c.messages[:len(c.messages)-1]), w.make("u"))
	id := w.g.answer(c)
	if id.Session != k.session {
		t.Fatalf("fork %q of session %s is in %s", c.messages, k.session, id.Session)
	}
	if k.old {
		k.thread = "" // the fork, which came first, may have taken it
	}
	next := c
	next.messages = append(slices.Clip(c.messages), w.make("a"), w.make("u"))
	if again := w.g.answer(next); !same(again, id) {
		t.Fatalf("the fork went from %s %s to %s %s", id.Session, id.Thread, again.Session, again.Thread)
	}
}

// compact begins the history anew, after which it is another session.
func (w *world) compact(t *rapid.T) {
	k := w.pick(t, func(k *talk) bool { return k.continued && k.inFlight == nil })
	w.drop(func(o *talk) bool { return o == k })
	n := &talk{c: say(w.make("u"), w.make("a"), w.make("u")), continued: true, turns: 1}
	id := w.send(n)
	n.first, n.thread = id, id.Thread
	w.claim(t, n, id)
	w.talks = append(w.talks, n)
}

// side asks for something about a conversation, which must not disturb it.
func (w *world) side(t *rapid.T) {
	k := w.pick(t, func(k *talk) bool { return k.continued })
	c := k.c
	c.peek, c.messages = true, append(slices.Clip(c.messages), w.make("a"), w.make("u"))
	if id := w.g.send(c); id.Session != k.session {
		t.Fatalf("side request of %s is in %s", k.session, id.Session)
	}
}

func (w *world) drop(gone func(*talk) bool) { w.talks = slices.DeleteFunc(w.talks, gone) }

// restart loses what was under way. Of twins that have not gone on only the
// newest keeps its session; failed openings are not retried.
func (w *world) restart(*rapid.T) {
	w.g.restart(Config{})
	for _, k := range w.talks {
		k.failed, k.inFlight, k.old = k.failed || k.inFlight != nil, nil, true
	}
	w.drop(func(k *talk) bool {
		history, _ := historyOf(k.c.messages)
		newest := w.g.log.known[k.first.Tenant+history[0].String()]
		return !k.continued && (k.failed || newest[0] != k.first.Session)
	})
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{g: newRig(t, Config{}), owner: map[string]*talk{}}
		rt.Repeat(map[string]func(*rapid.T){
			"open": w.open, "done": w.done, "retry": w.retry, "goOn": w.goOn, "fork": w.fork,
			"compact": w.compact, "side": w.side, "restart": w.restart,
			"": func(*rapid.T) { w.g.r.memory.check(rt) },
		})
	})
}
