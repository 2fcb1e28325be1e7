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
func TestChangeAfterAPauseIsExpired(t *testing.T) {
	a := opened(anthropic, opus)
	b := nonced(a.next(), "aaaa1").short(0)
	b.r.Start = noon.Add(time.Hour)
	want{Expired, ByClient, "", "1h0m0s from start to start; the lifetime granted is 5m0s", false}.check(t, observe(t, a, b))
}

// Lifetimes count as granted, from start to start.
func TestLifetimeIsTheGrantedOne(t *testing.T) {
	hour := opened(anthropic, opus)
	hour.r.Marks[0].TTL, hour.r.Marks[1].TTL = "1h", "1h"
	after := func(a ask, d time.Duration) ask {
		b := a.next().short(0)
		b.r.Start = noon.Add(d)
		return b
	}
	want{Provider, ByProvider, "", "", false}.check(t, observe(t, hour, after(hour, 59*time.Minute)))
	want{Expired, ByClient, "", "lifetime granted is 1h0m0s", false}.check(t, observe(t, hour, after(hour, time.Hour)))
	denied := hour
	denied.fiveTold = true
	want{Expired, ByClient, "", "granted is 5m0s, 1h0m0s were asked for", false}.check(t, observe(t, denied, after(denied, 6*time.Minute)))
	// A long answer does not prolong it.
	slow := opened(anthropic, opus)
	slow.r.FirstByte = noon.Add(4 * time.Minute)
	want{Expired, ByClient, "", "5m1s", false}.check(t, observe(t, slow, after(slow, 5*time.Minute+time.Second)))
	for _, f := range []struct {
		model, params string
		gap           time.Duration
		cause         string
	}{
		{sol, ``, 29 * time.Minute, Provider},
		{sol, ``, 30 * time.Minute, Expired},
		{"gpt-6.2-sol", `,"prompt_cache_options":{"ttl":"12h"}`, 11 * time.Hour, Provider},
		{"gpt-6.2-sol", `,"prompt_cache_options":{"ttl":"12h"}`, 12 * time.Hour, Expired},
		{gpt5, ``, 4 * time.Minute, Provider},
		{gpt5, ``, 6 * time.Minute, Expired},
		{gpt5, `,"prompt_cache_retention":"24h"`, 23 * time.Hour, Provider},
		{"gpt-5.5", ``, 23 * time.Hour, Provider},
		{"gpt-5.5", ``, 24 * time.Hour, Expired},
		{"qwen3-coder", ``, 24 * time.Hour, Provider},
	} {
		a := opened(responses, f.model)
		a.params += f.params
		if v := observe(t, a, after(a, f.gap)); v.Cause != f.cause {
			t.Errorf("%s after %v: %s (%s), want %s", f.model, f.gap, v.Cause, v.Detail, f.cause)
		}
	}
}

// The lifetime is that of the last mark, where both are granted, and what the
// request before the pause asked for.
func TestLifetimeOfSeveral(t *testing.T) {
	both := opened(anthropic, opus)
	both.r.Marks[0].TTL, both.r.Marks[1].TTL = "1h", "5m"
	r, late := both.made(), both.next().short(0)
	r.Usage.Write1h = r.Usage.Write5m
	late.r.Start = noon.Add(6 * time.Minute)
	tr := NewTracker(Options{})
	tr.Observe("t", r)
	v, _ := tr.Observe("t", late.made())
	want{Expired, ByClient, "", "granted is 5m0s", false}.check(t, v)

	r.Marks = []Mark{{InSystem, 1, 0, "1h"}, {InMessages, 2, 0, "1h"}} // the other class is a server tool's
	tr = NewTracker(Options{})
	tr.Observe("t", r)
	v, _ = tr.Observe("t", late.made())
	want{Provider, ByProvider, "", "", false}.check(t, v)

	a := opened(responses, "gpt-6.2-sol")
	b := a.next()
	b.params += `,"prompt_cache_options":{"ttl":"12h"}`
	c := b.next().short(0)
	c.r.Start = noon.Add(2 * time.Hour)
	want{Provider, ByProvider, "", "", false}.check(t, observe(t, a, b, c))
}

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
func TestMarksHideInDigests(t *testing.T) {
	a := opened(anthropic, opus)
	a.bare = true
	b := a.next()
	b.system += " "
	b.r.Marks[0].TTL = "1h"
	b.says[0].text = "edited"
	want{HistoryRewritten, ByClient, SectionHistory, "message 0", true}.check(t, observe(t, a, b.short(4000)))
	b.says[0].text = a.says[0].text
	want{SystemChanged, ByClient, SectionSystem, "not kept", true}.check(t, observe(t, a, b.short(4000)))
}

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

func TestFirstRequestIsCold(t *testing.T) {
	for _, f := range families {
		a := opened(f.dialect, f.model)
		want{Cold, ByClient, "", "first request of its thread", false}.check(t, observe(t, a))
		a.read = 5000 // others have been there
		if v := observe(t, a); v != none {
			t.Errorf("%v: a first request that read something: %+v", f, v)
		}
	}
}

// Two threads with one opening.
func TestFirstRequestBesideItsLike(t *testing.T) {
	pair := func(f family, start time.Duration, change func(*ask)) Verdict {
		a := opened(f.dialect, f.model)
		b := opened(f.dialect, f.model)
		b.r.ID, b.r.Start, b.r.FirstByte = "r2", noon.Add(start), noon.Add(start+2*time.Second)
		b.says[0].text = "another task"
		change(&b)
		tr := NewTracker(Options{})
		tr.Observe("one", a.made())
		v, _ := tr.Observe("two", b.made())
		return v
	}
	same := func(*ask) {}
	want{ConcurrentCold, ByClient, "", "1s before the answer to r1, with the same opening, began", false}.check(t, pair(claudes[0], time.Second, same))
	want{Provider, ByProvider, "", "diagnosis would tell", false}.check(t, pair(claudes[0], 3*time.Second, same))
	want{Cold, ByClient, "", "last used 6m0s ago and lives for 5m0s", false}.check(t, pair(claudes[0], 6*time.Minute, same))
	want{Cold, ByClient, "", "same tools and another system prompt (volatile token in system[1]", false}.
		check(t, pair(claudes[0], 3*time.Second, func(a *ask) { *a = nonced(*a, "0aaa9") }))
	want{ConcurrentCold, ByClient, "", "", false}.check(t, pair(older[0], time.Second, same))
	// Boundaries end at the latest user message, which is another.
	want{Cold, ByClient, "", "no mark ends on it", false}.check(t, pair(newer[0], time.Second, same))
	want{Cold, ByClient, "", "no mark ends on it", false}.check(t, pair(newer[0], 3*time.Second, same))
	want{ConcurrentCold, ByClient, "", "", false}.check(t, pair(newer[0], time.Second, func(a *ask) { a.says = talk(3) }))
	for _, change := range []func(*ask){
		func(a *ask) { a.r.Account = "beta" }, func(a *ask) { a.r.Model = "claude-opus-5" }, func(a *ask) { a.r.Prefix = "" },
	} {
		want{Cold, ByClient, "", "first request", false}.check(t, pair(claudes[0], time.Second, change))
	}
}

// Digests are enough for causes: at the capture level prefix there are no texts.
func TestCausesWithoutTexts(t *testing.T) {
	for _, test := range changes {
		for _, f := range test.in {
			a := opened(f.dialect, f.model)
			a.bare = true
			if test.before != nil {
				test.before(&a)
			}
			b := a.next().short(test.read)
			if test.after != nil {
				test.after(&b)
			}
			want := test.want.cause
			switch test.name {
			case "other settings", "explicit without a breakpoint", "breakpoint moved":
				continue // what is in the parameters cannot be told
			}
			if got := observe(t, a, b); got.Cause != want || got.Owner != test.want.owner {
				t.Errorf("%s in %v without texts: %s by %s (%s), want %s by %s", test.name, f, got.Cause, got.Owner, got.Detail, want, test.want.owner)
			}
		}
	}
}

// A section may come without its bytes if it is as before.
func TestUnchangedSectionsComeWithoutBytes(t *testing.T) {
	a := opened(anthropic, opus)
	b, c := a.next(), a.next().next()
	d := nonced(c.next(), "0aaa9").short(0)
	tr := NewTracker(Options{})
	tr.Observe("t", a.made())
	for _, a := range []ask{b, c} {
		a.bare = true
		if v, _ := tr.Observe("t", a.made()); v != none {
			t.Errorf("unchanged: %+v", v)
		}
	}
	v, _ := tr.Observe("t", d.made())
	want{SystemChanged, ByClient, SectionSystem, "36ee5 → 0aaa9", true}.check(t, v)
}

func TestOffsetsAreOfTheBody(t *testing.T) {
	f := func(name, at string, change func(*ask)) {
		t.Helper()
		a := opened(anthropic, opus)
		b := a.next().short(0)
		change(&b)
		v := observe(t, a, b)
		body := b.body()
		if v.Offset < 0 || v.Offset+len(at) > len(body) || body[v.Offset:v.Offset+len(at)] != at {
			t.Errorf("%s: offset %d of %s, want that of %s", name, v.Offset, body, at)
		}
	}
	f("nonce", "0aaa9", func(a *ask) { *a = nonced(*a, "0aaa9") })
	f("system", "helper", func(a *ask) { replace(&a.system, "agent", "helper") })
	f("tool", "s.\"}", func(a *ask) { replace(&a.tools, "Writes a file.", "Writes a files.") })
	f("added tool", `{"name":"new"}`, func(a *ask) { replace(&a.tools, `{"name":"write"`, `{"name":"new"},{"name":"write"`) })
	f("parameter", `"speed":"fast"`, func(a *ask) { a.params += `,"speed":"fast"` })
	f("model", `"claude-x"`, func(a *ask) { a.r.Model = "claude-x"; replace(&a.params, opus, "claude-x") })
	// Marks before the difference are not in the text that is compared.
	f("behind a mark", "0aaa9", func(a *ask) {
		replace(&a.system, `{"type":"text","text":"You`, `{"type":"text","cache_control":{"type":"ephemeral"},"text":"You`)
		replace(&a.system, `{"type":"text","text":"Session`, `{"cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text","text":"Session`)
		*a = nonced(*a, "0aaa9")
	})
	a := opened(anthropic, opus)
	b := a.next().short(0)
	b.says[1].text = "other"
	if v, at := observe(t, a, b), int(b.made().Messages[1].At); v.Offset != at || v.Index != 1 {
		t.Errorf("message: offset %d, index %d, want %d, 1", v.Offset, v.Index, at)
	}
}

// Marks move from turn to turn, in the texts too; nothing comes of it.
func TestMovedMarksAreNoChange(t *testing.T) {
	a := opened(anthropic, opus)
	replace(&a.system, `"text":"Session 36ee5 of today."`, `"text":"Session 36ee5 of today.","cache_control":{"type":"ephemeral"}`)
	b := a.next()
	b.system = opened(anthropic, opus).system
	replace(&b.tools, `{"name":"run"}`, `{"name":"run","cache_control":{"type":"ephemeral"}}`)
	want{Provider, ByProvider, "", "nothing on our side", false}.check(t, observe(t, a, b.short(0)))
	c := a.next() // nor of a system prompt as a string or as one block
	a.system, c.system = `"You are."`, `[{"type":"text","text":"You are."}]`
	want{Provider, ByProvider, "", "nothing on our side", false}.check(t, observe(t, a, c.short(0)))
}

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

func TestAlarms(t *testing.T) {
	f := func(name string, want []string, asks ...ask) {
		t.Helper()
		_, alarms := alarmed(asks...)
		var got []string
		for _, a := range alarms {
			got = append(got, a.Name+" "+a.Request)
			if a.Thread != "t" || a.Detail == "" {
				t.Errorf("%s: alarm %+v", name, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	a := opened(anthropic, opus)
	cold := func(a ask) ask { return a.short(0) }
	b := cold(a.next())
	f("none", nil, a, a.next(), a.next().next())
	f("unread", []string{"writes_unread r2"}, a, b)
	f("unread, doubled", []string{"writes_unread r2", "writes_unread r4"}, a, b, cold(b.next()), cold(b.next().next()), cold(b.next().next().next()))
	f("read between", nil, a, a.next(), cold(a.next().next()))
	pause := b
	pause.r.Start = noon.Add(time.Hour)
	f("after a pause", nil, a, pause)
	f("prefix", []string{"prefix_drift r2"}, a, a.next().with(func(a *ask) { a.r.Prefix = "sha256:bb" }))
	f("prefix gone", []string{"prefix_drift r2"}, a, a.next().with(func(a *ask) { a.r.Prefix = "" }))
	f("new epoch", nil, a, a.next().with(func(a *ask) { a.r.Prefix, a.r.Epoch = "sha256:bb", 2 }))
	untold := a.with(func(a *ask) { a.untold = true })
	f("usage missing", []string{"usage_missing r1", "usage_missing r2"}, untold, untold.next(), untold.next().next())
	f("usage not asked for", nil, untold.with(func(a *ask) { a.r.WantsUsage = false }))
	f("answer cut", nil, untold.with(func(a *ask) { a.r.Complete = false }))
	hour := a.with(func(a *ask) {
		a.r.Marks = []Mark{{InSystem, 1, 0, "1h"}, {InMessages, 2, 0, "1h"}}
		a.fiveTold = true
	})
	f("1h for 5m", []string{"marks_not_granted r1", "marks_not_granted r2"}, hour, hour.next(), hour.next().next())
	f("1h granted", nil, hour.with(func(a *ask) { a.fiveTold = false }))
	f("server tool", nil, hour.with(func(a *ask) {
		replace(&a.tools, `{"name":"run"}`, `{"type":"web_search_20250305","name":"web_search"}`)
	}))
	f("mixed", nil, hour.with(func(a *ask) { a.r.Marks = []Mark{{InSystem, 1, 0, "1h"}, {InMessages, 2, 0, "5m"}} }))
	f("nothing written", []string{"marks_not_granted r1"}, a.with(func(a *ask) { a.written, a.fresh = 0, 9000 }))
	f("too small", nil, a.with(func(a *ask) { a.written, a.fresh = 0, 300 }))
}
