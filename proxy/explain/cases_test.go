package explain

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The nonce in an agent's billing line, which Anthropic takes out and other
// hosts read.
func TestCaseA17_VolatileTokenInFirstSystemBlock(t *testing.T) {
	line := `[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332.abc; cch=36ee5;"},{"type":"text","text":"You are an agent."}]`
	a := opened(anthropic, opus)
	a.system = line
	b := a.next()
	replace(&b.system, "36ee5", "0aaa9")
	if v := observe(t, a, b); v != none {
		t.Errorf("where the provider takes the line out: %+v", v)
	}
	v := observe(t, a, b.short(0))
	want{SystemChanged, ByClient, SectionSystem, "volatile token in system[0]: a nonce, cch=36ee5 → cch=0aaa9", true}.check(t, v)
	if !strings.Contains(v.Detail, "CLAUDE_CODE_ATTRIBUTION_HEADER=0") || v.Index != 0 || b.body()[v.Offset:v.Offset+5] != "0aaa9" {
		t.Errorf("index %d, offset %d, remedy in %q", v.Index, v.Offset, v.Detail)
	}
	// Another change counts first, if there is one.
	c := b.short(0)
	c.says[1].text = "another answer"
	want{HistoryRewritten, ByClient, SectionHistory, "message 1: edited", true}.check(t, observe(t, a, c))
}

func TestCaseC12_UpstreamAddedBreakpoints(t *testing.T) {
	a := opened(anthropic, opus)
	a.r.Marks = nil
	_, alarms := alarmed(a)
	if len(alarms) != 1 || alarms[0].Name != AlarmMarksNotAsked || !strings.Contains(alarms[0].Detail, "10000 tokens") {
		t.Errorf("alarms = %+v, want marks_not_asked", alarms)
	}
	want{Provider, ByUpstream, SectionMarks, "the upstream sets marks of its own", false}.check(t, observe(t, a, a.next().short(0)))
}

func TestCaseC14_HourAskedMinutesGranted(t *testing.T) {
	a := opened(anthropic, opus)
	a.r.Marks, a.fiveTold = []Mark{{InMessages, 2, 0, "1h"}}, true
	_, alarms := alarmed(a)
	if len(alarms) != 1 || alarms[0].Name != AlarmMarksNotGranted || !strings.Contains(alarms[0].Detail, "1h") {
		t.Errorf("alarms = %+v, want marks_not_granted", alarms)
	}
}

func TestCaseC15_BelowTheMinimumOrUnsupported(t *testing.T) {
	for _, f := range []struct {
		model        string
		size         int64
		cause, owner string
		detail       string
	}{
		{"claude-opus-4-6", 900, BelowMinimum, ByClient, "claude-opus-4-6 caches from 4096 tokens on; the prompt has 900"},
		{"claude-opus-4-6", 4095, BelowMinimum, ByClient, "4096"},
		{"claude-opus-4-6", 4096, Provider, ByUpstream, "may not cache"},
		{"claude-haiku-4-5", 4000, BelowMinimum, ByClient, "4096"},
		{"claude-opus-4-7", 2047, BelowMinimum, ByClient, "2048"},
		{"claude-3-5-haiku", 2047, BelowMinimum, ByClient, "2048"},
		{"claude-opus-4-8", 1023, BelowMinimum, ByClient, "1024"},
		{"claude-opus-5", 511, BelowMinimum, ByClient, "512"},
		{"claude-opus-5-5", 511, BelowMinimum, ByClient, "512"},
		{"claude-fable-5-2", 511, BelowMinimum, ByClient, "512"},
		{"claude-sonnet-5", 1023, BelowMinimum, ByClient, "1024"},
		{"claude-sonnet-4-6", 1023, BelowMinimum, ByClient, "1024"},
		{"gpt-5.6-sol", 1023, BelowMinimum, ByClient, "1024"},
		{"gpt-5.4", 1023, BelowMinimum, ByClient, "1024"},
	} {
		dialect := anthropic
		if strings.HasPrefix(f.model, "gpt") {
			dialect = chat
		}
		a := opened(dialect, f.model)
		a.written, a.fresh = 0, f.size
		v := observe(t, a)
		want{f.cause, f.owner, v.Section, f.detail, false}.check(t, v)
	}
	// Only a part of the prompt is marked, and that is too small.
	a := opened(anthropic, "claude-opus-4-6")
	a.r.Marks, a.written, a.fresh = a.r.Marks[:1], 0, 9000
	a.says[2].text = strings.Repeat("long ", 2000)
	want{BelowMinimum, ByClient, "", "to its last mark has about", false}.check(t, observe(t, a))
}

func TestCaseC17_NoBreakpointForAProviderThatNeedsOne(t *testing.T) {
	for _, f := range byMark {
		a := opened(f.dialect, f.model)
		a.r.Marks, a.written, a.fresh, a.r.Key = nil, 0, 10_000, "session"
		b := a.next()
		b.read, b.written, b.fresh = 0, 0, 10_500
		v := observe(t, a, b)
		want{NoMark, ByClient, SectionMarks, "no breakpoint, for a provider that needs one", true}.check(t, v)
		if v.Missed != 10_000 {
			t.Errorf("%v: missed %d, want what a mark had left", f, v.Missed)
		}
		if v := observe(t, a); !strings.Contains(v.Detail, "the next one will find nothing") {
			t.Errorf("%v: first request: %+v", f, v)
		}
	}
}

func TestCaseE12_UpstreamSwitched(t *testing.T) {
	a := opened(chat, sol)
	b := a.next().short(0)
	b.r.Host = "api.other.example:8443"
	want{UpstreamChanged, ByUpstream, SectionHost, "host api.example → api.other.example:8443", true}.check(t, observe(t, a, b))
}

func TestCaseE14_WritesOnEachRequestAndReadsNone(t *testing.T) {
	a := opened(anthropic, opus)
	a.written = 4409
	b, c := a, a
	b.r.ID, b.r.Start, b.r.FirstByte = "r2", noon.Add(10*time.Second), noon.Add(12*time.Second)
	c.r.ID, c.r.Start, c.r.FirstByte = "r3", noon.Add(20*time.Second), noon.Add(22*time.Second)
	v, alarms := alarmed(a, b, c)
	want{Provider, ByProvider, "", "nothing on our side changed", false}.check(t, v)
	if len(alarms) != 1 || alarms[0].Name != AlarmWritesUnread || alarms[0].Request != "r2" {
		t.Errorf("alarms = %+v, want writes_unread at r2", alarms)
	}
}

// The skill listing leaves messages[0] on a resume, and comes back later.
func TestCaseG1_ReminderLeavesTheOpening(t *testing.T) {
	for _, f := range families {
		a := opened(f.dialect, f.model)
		a.says[0].text = "<system-reminder>skills</system-reminder> do it"
		b := a.next().short(4000)
		b.says[0].text = "do it"
		v := observe(t, a, b)
		want{HistoryRewritten, ByClient, SectionHistory, "message 0", true}.check(t, v)
		if v.Index != 0 {
			t.Errorf("%v: index %d, want 0", f, v.Index)
		}
		back := a.next().next()
		back.r.Start = noon.Add(time.Minute)
		back = back.short(back.read - 500)
		if v := observe(t, a, b, back); v.Cause != "" && v.Cause != HistoryRewritten && v.Cause != Provider && v.Cause != PartialBlock {
			t.Errorf("%v: when it is back: %+v", f, v)
		}
	}
}

func TestCaseG4_ColdByLayout(t *testing.T) {
	a, b := opened(anthropic, opus), opened(anthropic, opus)
	b.r.ID, b.r.Start, b.r.FirstByte = "r2", noon.Add(time.Minute), noon.Add(62*time.Second)
	replace(&b.system, "an agent", "an agent in /home/b")
	tr := NewTracker(Options{})
	tr.Observe("one", a.made())
	v, _ := tr.Observe("two", b.made())
	want{Cold, ByClient, "", "into an opener", false}.check(t, v)
}

func TestCaseG6_StableKeyAndNothingCached(t *testing.T) {
	for _, f := range gpts {
		a := opened(f.dialect, f.model)
		a.r.Key = "session"
		asks := []ask{a}
		for range 4 {
			asks = append(asks, asks[len(asks)-1].next().short(0))
		}
		want{Provider, ByProvider, "", "nothing on our side changed", false}.check(t, observe(t, asks...))
	}
}

func TestCaseG7_SubagentStartsAtNothing(t *testing.T) {
	main, sub := opened(anthropic, opus), opened(anthropic, opus)
	sub.r.ID, sub.says = "r2", []say{user("a task")}
	sub.r.Marks = []Mark{{InSystem, 1, 0, ""}, {InMessages, 0, 0, ""}}
	f := func(start time.Duration) Verdict {
		tr := NewTracker(Options{})
		sub := sub
		sub.r.Start, sub.r.FirstByte = noon.Add(start), noon.Add(start+time.Second)
		tr.Observe("main", main.made())
		v, _ := tr.Observe("sub", sub.made())
		return v
	}
	want{ConcurrentCold, ByClient, "", "before the answer", false}.check(t, f(time.Second))
	v := f(10 * time.Second)
	want{Provider, ByProvider, "", "diagnosis", false}.check(t, v)
	if v.Missed <= 0 {
		t.Errorf("missed %d, want an estimate of the opening", v.Missed)
	}
}

func TestCaseG9_NotReportedIsNoMiss(t *testing.T) {
	for _, f := range families {
		a := opened(f.dialect, f.model)
		b := a.next()
		b.untold = true
		b.says[0].text = "other"
		if v := observe(t, a, b); v != none {
			t.Errorf("%v: usage not reported: %+v", f, v)
		}
		// It is no reference either.
		if v := observe(t, a, b, a.next()); v != none && v.Cause != PartialBlock {
			t.Errorf("%v: after one that was not reported: %+v", f, v)
		}
	}
}

// Writes that are not reported: a guess, so only a read of nothing is a miss.
func TestWritesNotReported(t *testing.T) {
	for _, f := range slices.Concat(byMark, newer) {
		a := opened(f.dialect, f.model)
		a.unsplit = true
		b := a.next()
		b.read, b.fresh = 9000, 3000
		if v := observe(t, a, b); v != none {
			t.Errorf("%v: some was read: %+v", f, v)
		}
		if v := observe(t, a, b.short(0)); v.Cause != Provider {
			t.Errorf("%v: nothing was read: %+v", f, v)
		}
	}
}

// What may be a credential is not quoted.
func TestI12_DetailsQuoteNoCredential(t *testing.T) {
	const secret = "sk-live-8a7b6c5d4e3f2a1b"
	for name, change := range map[string]func(a, b *ask){
		"mcp_servers":       func(_, b *ask) { b.params += `,"mcp_servers":[{"authorization_token":"` + secret + `"}]` },
		"unknown parameter": func(_, b *ask) { b.params += `,"api_key":"` + secret + `"` },
		"system": func(a, b *ask) {
			replace(&a.system, "36ee5", "sk-live-000000000000000a")
			replace(&b.system, "36ee5", secret)
		},
		"tool": func(_, b *ask) {
			replace(&b.tools, `{"name":"run"}`, `{"name":"run","headers":{"authorization":"`+secret+`"}}`)
		},
	} {
		a := opened(anthropic, opus)
		b := a.next().short(0)
		change(&a, &b)
		v := observe(t, a, b)
		if v.Cause == "" || v.Cause == Provider || strings.Contains(v.Detail, secret[8:]) || strings.Contains(v.Detail, secret) {
			t.Errorf("%s: %s %q, want a change without the secret", name, v.Cause, v.Detail)
		}
	}
}
