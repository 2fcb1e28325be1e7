package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// say is a call of the words, by a client that names nothing.
func say(messages ...string) call { return call{messages: messages} }

// retry is the same call, by a client that says that it retries.
func (c call) retry() call {
	c.header = headers("x-stainless-retry-count: 1")
	return c
}

func TestInvariant3_FallbackIsAFunctionOfTheOpening(t *testing.T) {
	never := say("u:fix the build", "a:looking", "u:tool result")
	want := newRig(t, Config{}).answer(never)
	if !strings.HasPrefix(want.Session, "d-") || len(want.Session) != len("d-")+16 || want.Source != "opening" {
		t.Fatalf("session never seen = %s from %s, want d-<seed> from opening", want.Session, want.Source)
	}
	f := func(c call, equal bool) {
		t.Helper()
		if id := newRig(t, Config{}).answer(c); (id.Session == want.Session) != equal {
			t.Errorf("session of %+v = %s, equal to %s: want %v", c, id.Session, want.Session, equal)
		}
	}
	f(never, true)
	f(say("u:fix the build", "a:other", "u:words", "a:ok", "u:more"), true)
	f(say("u:fix the tests", "a:looking", "u:tool result"), false)
	f(call{family: "openai", messages: never.messages}, false)
	f(call{credential: "sk-other", messages: never.messages}, false)
	// A named source is not part of it.
	f(call{messages: never.messages, header: headers("user-agent: x\nx-client-request-id: y")}, true)
}

func TestInvariant3_LogFindsItAfterARestart(t *testing.T) {
	g := newRig(t, Config{})
	c := say("u:hello")
	want := g.answer(c)
	for i := range 20 {
		c.messages = append(c.messages, fmt.Sprint("a:", i), fmt.Sprint("u:", i))
		if i%3 == 0 {
			g.restart(Config{})
		}
		if id := g.answer(c); !same(id, want) || id.Source != "lineage" || !id.Known {
			t.Fatalf("turn %d = %+v, want session %s, thread %s", i, id, want.Session, want.Thread)
		}
	}
}

func TestInvariant4_RetryStaysNewConversationDoesNot(t *testing.T) {
	c := say("u:reminder", "u:hello")
	f := func(name string, g *rig, again call, first Identity, stays bool) {
		t.Helper()
		id := g.send(again)
		if (id.Session == first.Session) != stays {
			t.Errorf("%s: session %s after %s, same %v, want %v", name, id.Session, first.Session, !stays, stays)
		}
		if stays && id.Thread != first.Thread {
			t.Errorf("%s: thread %s, want %s", name, id.Thread, first.Thread)
		}
	}
	g := newRig(t, Config{})
	f("completed", g, c, g.answer(c), false)
	g = newRig(t, Config{})
	f("failed", g, c, g.fail(c), true)
	g = newRig(t, Config{})
	f("in flight", g, c, g.send(c), false)
	g = newRig(t, Config{})
	f("in flight, said to be a retry", g, c.retry(), g.send(c), true)
	g = newRig(t, Config{})
	f("completed, said to be a retry", g, c.retry(), g.answer(c), true)
	g = newRig(t, Config{})
	f("failed, other words", g, say("u:reminder", "u:bye"), g.fail(c), false)
	g = newRig(t, Config{})
	f("failed, other reminder", g, say("u:another", "u:hello"), g.fail(c), false)

	g = newRig(t, Config{})
	first := g.fail(c)
	g.restart(Config{})
	f("restarted, said to be a retry", g, c.retry(), first, true)
	g.restart(Config{})
	f("restarted", g, c, first, false)

	// The failed try is the one retried, not the one that is under way.
	g = newRig(t, Config{})
	failed, _ := g.send(c), g.send(c)
	g.done(failed, c, false)
	f("failed beside one in flight", g, c, failed, true)

	// A try is failed only when all tries of it are.
	g = newRig(t, Config{})
	first = g.send(c)
	second := g.send(c.retry())
	g.done(first, c, false)
	f("one of two tries failed", g, c, first, false)
	g.done(second, c, false)
	g = newRig(t, Config{})
	first = g.send(c)
	second = g.send(c.retry())
	g.done(first, c, false)
	g.done(second, c, false)
	f("both tries failed", g, c, first, true)

	// What went on is not retried from the start.
	g = newRig(t, Config{})
	first = g.fail(c)
	g.fail(say("u:reminder", "u:hello", "a:half an answ", "u:go on"))
	f("failed, then continued", g, c, first, false)
}

func TestRetryWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := say("u:hello")
		g := newRig(t, Config{})
		first := g.fail(c)
		time.Sleep(retryWindow)
		if id := g.fail(c); id.Session != first.Session {
			t.Errorf("at the end of the window: session %s, want %s", id.Session, first.Session)
		}
		time.Sleep(retryWindow + time.Second)
		late := g.fail(c)
		if late.Session == first.Session {
			t.Error("the morning after, the same words are a retry")
		}
		// An old process would know of the first try if it had seen it.
		g.log.known, g.r.memory = map[string][2]string{}, newMemory(10)
		g.log.note(first, c.input(t).History)
		if id := g.send(c.retry()); id.Session == first.Session {
			t.Error("a retry of what this process never saw is found in the log")
		}
	})
}

func TestLaterTurns(t *testing.T) {
	g := newRig(t, Config{})
	one := say("u:hello")
	two := say("u:hello", "a:hi", "u:work")
	other := say("u:hello", "a:hi", "u:rest")
	first := g.answer(one)
	f := func(name string, id Identity, known bool) Identity {
		t.Helper()
		if id.Session != first.Session || id.Known != known {
			t.Errorf("%s: session %s, known %v, want %s, known %v", name, id.Session, id.Known, first.Session, known)
		}
		return id
	}
	a := f("second turn", g.fail(two), true)
	b := f("second turn, retried", g.answer(two), true)
	c := f("second turn, repeated", g.answer(two), true)
	if !same(a, first) || !same(b, first) || !same(c, first) {
		t.Errorf("threads of one line: %s %s %s %s", first.Thread, a.Thread, b.Thread, c.Thread)
	}
	fork := f("fork", g.answer(other), true)
	if fork.Thread == a.Thread {
		t.Errorf("the fork is thread %s like the line it left", fork.Thread)
	}
	if again := f("fork, repeated", g.answer(other), true); again.Thread != fork.Thread {
		t.Errorf("the fork's thread = %s, want %s", again.Thread, fork.Thread)
	}
	if next := f("fork, third turn", g.answer(say(append(other.messages, "a:zz", "u:up")...)), true); next.Thread != fork.Thread {
		t.Errorf("the fork's next thread = %s, want %s", next.Thread, fork.Thread)
	}
	if next := f("third turn", g.answer(say(append(two.messages, "a:ok", "u:more")...)), true); next.Thread != a.Thread {
		t.Errorf("the first line's next thread = %s, want %s", next.Thread, a.Thread)
	}
}

// TestExplicitFork is LaterTurns for a session with an id, where no log helps.
func TestExplicitFork(t *testing.T) {
	g := newRig(t, Config{})
	turn := func(messages ...string) string { return g.answer(call{named: "s", messages: messages}).Thread }
	main := turn("u:hello")
	if got := turn("u:hello", "a:hi", "u:work"); got != main {
		t.Errorf("second turn: thread %s, want %s", got, main)
	}
	fork := turn("u:hello", "a:hi", "u:rest")
	if fork == main || !strings.HasPrefix(fork, main+"-") {
		t.Errorf("fork: thread %s beside %s", fork, main)
	}
	for range 3 {
		if got := turn("u:hello", "a:hi", "u:work"); got != main {
			t.Errorf("second turn again: thread %s, want %s", got, main)
		}
		if got := turn("u:hello", "a:hi", "u:rest"); got != fork {
			t.Errorf("fork again: thread %s, want %s", got, fork)
		}
	}
	g.restart(Config{})
	if got := turn("u:hello", "a:hi", "u:work", "a:ok", "u:more"); got != main {
		t.Errorf("after a restart: thread %s, want %s", got, main)
	}
}

// TestUnansweredHistoryGrows: the user says more before there was an answer.
func TestUnansweredHistoryGrows(t *testing.T) {
	g := newRig(t, Config{})
	first := g.fail(say("u:hello"))
	if id := g.fail(say("u:hello", "u:are you there")); !same(id, first) {
		t.Errorf("second message = %+v, want %+v", id, first)
	}
	g.restart(Config{})
	if id := g.answer(say("u:hello", "u:are you there", "u:well")); !same(id, first) {
		t.Errorf("third message after a restart = %+v, want %+v", id, first)
	}
}

func TestRewrittenHistory(t *testing.T) {
	g := newRig(t, Config{})
	rewritten := call{messages: []string{"u:moved hello", "a:hi", "u:work"}, prompt: "u:hello"}
	first := g.answer(say("u:hello"))
	id := g.answer(rewritten)
	if id.Session != first.Session || id.Thread == first.Thread || id.Known {
		t.Errorf("rewritten = %+v, want a new thread of %s", id, first.Session)
	}
	// With two that began so, neither is guessed; all such histories agree.
	g = newRig(t, Config{})
	a, b := g.answer(say("u:hello")), g.answer(say("u:hello"))
	id = g.answer(rewritten)
	if id.Session == a.Session || id.Session == b.Session {
		t.Errorf("rewritten = %s, one of the two that began alike", id.Session)
	}
	rewritten.messages = append(rewritten.messages, "a:ok", "u:more")
	g.restart(Config{})
	if next := g.answer(rewritten); !same(next, id) {
		t.Errorf("its next turn = %+v, want %+v", next, id)
	}
}

func TestPeekLearnsNothing(t *testing.T) {
	g := newRig(t, Config{})
	peek := func(named string, messages ...string) Identity {
		return g.answer(call{named: named, messages: messages, peek: true})
	}
	if id := peek("s", "u:hello"); id.Known || id.Session != "s" || id.Thread == "" {
		t.Errorf("count of an unknown thread = %+v", id)
	}
	turn := g.answer(call{named: "s", messages: []string{"u:hello"}})
	if turn.Known {
		t.Error("the count made the thread known")
	}
	if id := peek("s", "u:hello", "a:hi", "u:draft"); !same(id, turn) || !id.Known {
		t.Errorf("count of a whole turn = %+v, want %+v, known", id, turn)
	}
	if id := g.answer(call{named: "s", messages: []string{"u:hello", "a:hi", "u:final"}}); !same(id, turn) {
		t.Errorf("turn after the count = %+v, want %+v", id, turn)
	}

	// Derived: a routing call goes before each turn.
	side := peek("", "u:begin")
	if !strings.HasSuffix(side.Session, "-side") {
		t.Errorf("side request before the session began = %s, want d-…-side", side.Session)
	}
	first := g.answer(say("u:begin"))
	if first.Session == side.Session {
		t.Error("the session is that of a side request")
	}
	if id := peek("", "u:begin"); !same(id, first) || !id.Known {
		t.Errorf("side request at the opening = %+v, want %+v", id, first)
	}
	if id := peek("", "u:begin", "a:hi", "u:route this"); !same(id, first) {
		t.Errorf("side request before the second turn = %+v, want %+v", id, first)
	}
	if id := g.answer(say("u:begin", "a:hi", "u:work")); !same(id, first) {
		t.Errorf("second turn = %+v, want %+v", id, first)
	}
	g.restart(Config{})
	if id := peek("", "u:begin", "a:hi", "u:work", "a:ok", "u:more"); !same(id, first) || !id.Known {
		t.Errorf("side request after a restart = %+v, want %+v", id, first)
	}
	if id := peek("", "u:never", "a:seen", "u:this"); id.Known || strings.HasSuffix(id.Session, "-side") {
		t.Errorf("count of an unknown history = %+v, want what its turn will be", id)
	}
}

func TestDerivedWithAgentID(t *testing.T) {
	g := newRig(t, Config{})
	c := say("u:hello")
	c.header = headers("thread-id: t1")
	first := g.answer(c)
	c.messages = append(c.messages, "a:hi", "u:work")
	g.restart(Config{})
	if id := g.answer(c); !same(id, first) || id.Thread != "agent:t1" || id.ThreadSource != "header thread-id" {
		t.Errorf("second turn = %+v, want %+v", id, first)
	}
}

func TestLogDown(t *testing.T) {
	g := newRig(t, Config{})
	first := g.answer(say("u:hello"))
	g.log.down = true
	// What memory knows goes on, also where the log would have been asked.
	if id := g.answer(say("u:hello", "a:calls", "a:calls", "u:result", "u:result")); id.Session != first.Session {
		t.Errorf("second turn = %s, want %s", id.Session, first.Session)
	}
	// An opening needs no log.
	if id := g.answer(say("u:reminder", "u:begin")); id.Source != "opening" {
		t.Errorf("opening = %+v, want a new session", id)
	}
	in := say("u:never", "a:seen", "u:this").input(t)
	id, err := g.r.Resolve(context.Background(), in)
	if !errors.Is(err, ErrIndex) || !errors.Is(err, errDown) {
		t.Errorf("Resolve of an unknown history = %v, want ErrIndex and %v", err, errDown)
	}
	if id.Tenant != first.Tenant || id.Session != "" || !id.Derived {
		t.Errorf("identity with an error = %+v, want the tenant alone", id)
	}
	g.r.Done(id, in.History, false) // does nothing
	g.log.down = false
	if _, err := g.r.Resolve(context.Background(), in); err != nil {
		t.Errorf("Resolve with the log back = %v", err)
	}
}

func TestFinderIsAskedForTheNewest(t *testing.T) {
	var asked []string
	r, err := New(Config{}, testKey, func(_ context.Context, tenant string, lineages []string) (string, string, bool, error) {
		asked = lineages
		return "", "", false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	for i := range 300 {
		messages = append(messages, fmt.Sprint("a:", i))
	}
	in := say(messages...).input(t)
	if _, err := r.Resolve(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	if len(asked) != maxAsked || asked[0] != in.History[299].String() || asked[maxAsked-1] != in.History[300-maxAsked].String() {
		t.Errorf("the log was asked for %d lineages from %s, want %d from %s", len(asked), asked[0], maxAsked, in.History[299])
	}
}
