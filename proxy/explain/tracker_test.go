package explain

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// nonced is a with another nonce in its system prompt.

func nonced(a ask, nonce string) ask {
	replace(&a.system, "36ee5", nonce)
	return a
}

// A drift that goes on is explained against the original each time.

func TestDriftIsExplainedAgainstTheOriginal(t *testing.T) {
	tr := NewTracker(Options{})
	a := opened(anthropic, opus)
	tr.Observe("t", a.made())
	for i := range 20 { // longer than the original lives
		a = a.next()
		a.r.ID = fmt.Sprintf("r%d", i+2)
		b := nonced(a, fmt.Sprintf("%05x", 0xbbb1+i)).short(0)
		v, _ := tr.Observe("t", b.made())
		if v.Cause != SystemChanged || v.Against != "r1" {
			t.Fatalf("request %d: %s against %q, want system_changed against r1 (%s)", i+2, v.Cause, v.Against, v.Detail)
		}
	}
}

// A change that stays is explained once.

func TestChangeThatStaysIsExplainedOnce(t *testing.T) {
	a := opened(anthropic, opus)
	b := nonced(a.next(), "aaaa1").short(0)
	c := b.next()
	if v := observe(t, a, b, c); v != none {
		t.Errorf("the second request with the change: %+v, want nothing", v)
	}
	d := nonced(a.next().next().next(), "aaaa2").short(0)
	if v := observe(t, a, b, c, d); v.Cause != SystemChanged || v.Against != c.r.ID {
		t.Errorf("the next change: %s against %q, want system_changed against %q", v.Cause, v.Against, c.r.ID)
	}
}

func TestOriginalIsFoundAgain(t *testing.T) {
	a := opened(anthropic, opus)
	b := nonced(a.next(), "aaaa1").short(0)
	back := a.next()
	back.r.Start, back.r.ID = noon.Add(time.Minute), "r3"
	if v := observe(t, a, b, back); v != none {
		t.Errorf("A after A, B reads what A left, got %+v", v)
	}
	v := observe(t, a, b, back.short(0))
	if v.Cause != Provider || v.Against != "r1" || v.Expected != 10_000 {
		t.Errorf("A after A, B reads nothing: %+v, want provider against r1", v)
	}
	late := back.short(0)
	late.r.Start = noon.Add(6 * time.Minute)
	if v := observe(t, a, b, late); v.Cause != Expired || v.Against != "r1" {
		t.Errorf("A after its lifetime: %+v, want expired against r1", v)
	}
}

// After a pause longer than the lifetime nothing was there to be lost by a change.

// Lifetimes count as granted, from start to start.

// The lifetime is that of the last mark, where both are granted, and what the

// request before the pause asked for.

// Two lines with one past do not write into each other's history.

func TestLinesDoNotShareTheirEnds(t *testing.T) {
	a := opened(anthropic, opus)
	tr := NewTracker(Options{})
	other := nonced(a, "0aaa9").short(0)
	tr.Observe("t", a.made())
	tr.Observe("t", other.made())
	mine, theirs := a.next(), other.next()
	theirs.says[3].text, theirs.says[4].text = "something else", "and more"
	for i := range 5 {
		for _, x := range []*ask{&mine, &theirs} {
			x.r.Start = noon.Add(time.Duration(i+1) * time.Minute)
			v, _ := tr.Observe("t", x.short(100).made())
			want{Provider, ByProvider, "", "nothing on our side", false}.check(t, v)
			*x = x.next()
		}
	}
}

// A reminder that moves along with the last message: what was behind the edit was

// said again, so it is missed.

func TestEditOfTheLastMessageIsNoFork(t *testing.T) {
	for _, f := range families {
		a := opened(f.dialect, f.model)
		b := a.next()
		c := b.next()
		c.says[4].text = "without the reminder"
		c = c.short(b.read)
		v := observe(t, a, b, c)
		want{HistoryRewritten, ByClient, SectionHistory, "message 4: edited", true}.check(t, v)
	}
}

// Without its text a system prompt that differs may do so in its marks only.

// How far a mark is looked back from, and a boundary, to the block.

func TestReachOfMarksAndBoundaries(t *testing.T) {
	f := func(f family, added int, cause string) {
		t.Helper()
		a := opened(f.dialect, f.model)
		b := a.next()
		b.says = append(slices.Clone(a.says), talk(added)...)
		last(&b)
		if v := observe(t, a, b.short(4000)); v.Cause != cause {
			t.Errorf("%v, %d messages added: %s (%s), want %s", f, added, v.Cause, v.Detail, cause)
		}
	}
	for _, m := range byMark {
		f(m, 19, Provider)
		f(m, 20, LookbackExceeded)
	}
	for _, m := range newer {
		f(m, 40, Provider) // 20 of the user's
		f(m, 41, LookbackExceeded)
	}
}

// Going back to an earlier end, by one that edits a prompt or by threads that

// fork, misses nothing of what it left behind.

func TestForkReadsTheEarlierEnd(t *testing.T) {
	for _, f := range families {
		a := opened(f.dialect, f.model)
		b := a.next()
		c := b.next()
		fork := a.next()
		fork.r.ID, fork.r.Start = "r9", c.r.Start.Add(10*time.Second)
		fork.says[4].text = "asked otherwise"
		if v := observe(t, a, b, c, fork); v != none {
			t.Errorf("%v: a fork that read what its own past left: %+v", f, v)
		}
		if v := observe(t, a, b, c, fork.short(0)); v.Cause != HistoryRewritten || v.Waste {
			t.Errorf("%v: a fork that read nothing: %+v, want history_rewritten", f, v)
		}
		if v := observe(t, a, b, c, fork, fork.next()); v != none && v.Cause != PartialBlock {
			t.Errorf("%v: after a fork: %+v", f, v)
		}
		again := a.next() // the last answer once more
		again.r.ID, again.r.Start = "r9", c.r.Start.Add(10*time.Second)
		again.read, again.written = b.read+b.written, 0
		if v := observe(t, a, b, c, again); v != none {
			t.Errorf("%v: an answer asked for once more: %+v", f, v)
		}
	}
}

// Two threads with one opening.

// Digests are enough for causes: at the capture level prefix there are no texts.

// A section may come without its bytes if it is as before.

// Marks move from turn to turn, in the texts too; nothing comes of it.

func TestOlderModelsDropThinking(t *testing.T) {
	for model, cause := range map[string]string{"claude-sonnet-4-5": ThinkingDropped, "claude-haiku-4-5": ThinkingDropped, "claude-opus-4-1": ThinkingDropped,
		"claude-3-7-sonnet-20250219": ThinkingDropped, "claude-opus-4-5": Provider, "claude-sonnet-4-6": Provider, opus: Provider} {
		a := opened(anthropic, model)
		a.says = []say{user("do"), {Assistant, "thinks", HoldsThinking, ""}, {User, "result", HoldsToolResult, ""}}
		v := observe(t, a, a.next().short(4000))
		if v.Cause != cause || v.Owner != ByProvider || v.Waste {
			t.Errorf("%s: %+v, want %s by the provider", model, v, cause)
		}
		b := a.next().short(4000)
		b.says[4].holds = HoldsToolResult // the turn goes on
		if v := observe(t, a, b); v.Cause != Provider {
			t.Errorf("%s in a tool's turn: %+v, want provider", model, v)
		}
	}
}

// A history that is at the provider is not compared.

func TestContinuedResponse(t *testing.T) {
	a := opened(responses, sol)
	b := a.next()
	b.says, b.r.Continues = []say{user("only this is new")}, true
	if v := observe(t, a, b, b.next()); v != none {
		t.Errorf("a continued response that read all: %+v", v)
	}
	want{Provider, ByProvider, "", "", false}.check(t, observe(t, a, b.short(0)))
}

// A request that was sent before all that was seen is compared with nothing.

func TestLateAnswerOfAnEarlierRequest(t *testing.T) {
	a := opened(anthropic, opus)
	b := a.next().short(0)
	if v := observe(t, b, a); v != none {
		t.Errorf("the earlier request, after the later one: %+v", v)
	}
}

// Tools that run at the provider make one count of several calls.

func TestCountOfSeveralCalls(t *testing.T) {
	a := opened(anthropic, opus)
	a.read = 260_000
	b := a.next().short(0)
	b.read, b.written = 60_000, 500
	if v := observe(t, a, b); v != none {
		t.Errorf("after a sum of calls: %+v", v)
	}
}

func TestThreadsAreForgotten(t *testing.T) {
	tr := NewTracker(Options{Threads: 3, Texts: 1000, Openings: 2})
	for i := range 50 {
		a := opened(anthropic, opus)
		a.system = fmt.Sprintf(`"%0100d"`, i)
		tr.Observe(fmt.Sprint(i), a.made())
	}
	if len(tr.threads) != 3 || tr.order.Len() != 3 || tr.texts.used > 1000 || len(tr.texts.by) != tr.texts.order.Len() || len(tr.openings.by) > 2 {
		t.Errorf("kept: %d threads, %d bytes of texts, %d openings", len(tr.threads), tr.texts.used, len(tr.openings.by))
	}
	tr = NewTracker(Options{Messages: 1000})
	for i := range 50 {
		a := opened(anthropic, opus)
		a.says = talk(101)
		tr.Observe(fmt.Sprint(i), a.made())
	}
	if tr.messages > 1000 || len(tr.threads) > 10 || len(tr.threads) < 5 {
		t.Errorf("kept: %d threads, %d messages", len(tr.threads), tr.messages)
	}
}
