package proxy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// A flavor is a dialect with a model of one kind of rules.
type flavor struct{ dialect, model string }

var (
	claudes  = []flavor{{anthropic, "claude-opus-5-5"}}
	haikus   = []flavor{{anthropic, "claude-haiku-4-5"}} // drops thinking, and caches from 4,096 tokens on
	sols     = []flavor{{chat, "gpt-5.6-sol"}, {responses, "gpt-5.6-sol"}}
	olds     = []flavor{{chat, "gpt-5.4"}, {responses, "gpt-5.4"}}
	gpts     = slices.Concat(sols, olds)
	new3     = slices.Concat(claudes, sols) // one of each dialect
	all      = slices.Concat(claudes, gpts)
	haveDiag = []flavor{{anthropic, "claude-opus-5-5"}, {responses, "gpt-5.6-sol"}}
)

// A want is what a case must be called.
type want struct{ cause, owner, section string }

// A cause is one thing that is done to a conversation, and what it must be
// called.
type cause struct {
	name   string
	in     []flavor
	before func(c *talk)                   // what the conversation has from the start
	change func(c *talk)                   // what is injected into its second request
	play   func(s *stand, c *talk) outcome // in place of that course
	want   want
	detail string // stands in the detail
	at     string // stands in the second body where the offset points, or soon after
	gone   bool   // the difference is that something is not there: it has no offset
	nobody bool   // nobody is to blame: it is no waste
	said   string // the provider's word, where it has one; empty: any that goes with the cause
}

func (k *cause) run(t *testing.T, f flavor) outcome {
	s, c := newStand(t), newTalk(f.dialect, f.model)
	if k.before != nil {
		k.before(c)
	}
	if k.play != nil {
		return k.play(s, c)
	}
	return s.twice(c, k.change)
}

// twice is the ordinary course: a request, and the next turn with something
// changed.
func (s *stand) twice(c *talk, change func(c *talk)) outcome {
	s.t.Helper()
	s.ask(c)
	d := c.copy()
	d.turn()
	if change != nil {
		change(d)
	}
	return s.ask(d)
}

// TestInjectedCauses: whatever is done to a conversation is called by its name,
// nothing is unknown, and the provider says the same wherever it says anything.
func TestInjectedCauses(t *testing.T) {
	cases, diagnosed := 0, 0
	for _, k := range slices.Concat(headerCauses, parameterCauses, historyCauses, cacheCauses, knownCauses) {
		for _, f := range k.in {
			cases++
			t.Run(k.name+"/"+f.dialect+"/"+f.model, func(t *testing.T) {
				o := k.run(t, f)
				k.check(t, o)
				if o.asked && o.usage.CacheRead.Known {
					diagnosed++
					agree(t, f.dialect, o)
				}
			})
		}
	}
	t.Logf("%d causes injected, of which the provider diagnosed %d", cases, diagnosed)
	if cases < 120 {
		t.Errorf("only %d causes were injected, want 120", cases)
	}
}

func (k *cause) check(t *testing.T, o outcome) {
	t.Helper()
	v := o.verdict
	if got := (want{v.Cause, v.Owner, v.Section}); got != k.want {
		t.Fatalf("called %+v (%s; %d of %d missed; the provider: %q)\nwant   %+v", got, v.Detail, v.Missed, v.Expected, o.word, k.want)
	}
	if !strings.Contains(v.Detail, k.detail) {
		t.Errorf("detail %q, want %q in it", v.Detail, k.detail)
	}
	if v.Cause == "" {
		return
	}
	if v.Waste == k.nobody {
		t.Errorf("waste %v for %s (%s)", v.Waste, v.Cause, v.Detail)
	}
	if k.said != "" && o.asked && o.word != k.said {
		t.Errorf("the provider says %q, want %q", o.word, k.said)
	}
	k.checkPlace(t, o)
	if v.Missed > 0 && v.Expected-v.Missed != o.usage.CacheRead.N {
		t.Errorf("%d of %d missed, and %d were read", v.Missed, v.Expected, o.usage.CacheRead.N)
	}
}

// changes are the causes that are a difference between two bodies.
var changes = []string{
	explain.ToolsChanged, explain.SystemChanged, explain.HistoryRewritten, explain.ParameterChanged,
	explain.ImageChanged, explain.ThinkingDropped, explain.ModelChanged,
}

// checkPlace: a difference between two bodies is missed tokens and a place.
func (k *cause) checkPlace(t *testing.T, o outcome) {
	t.Helper()
	v := o.verdict
	if !slices.Contains(changes, v.Cause) {
		return
	}
	if v.Missed <= 0 {
		t.Errorf("%s, and nothing was missed", v.Cause)
	}
	if k.gone {
		return
	}
	if v.Offset < 0 || v.Offset >= len(o.body) {
		t.Fatalf("offset %d in a body of %d (%s)", v.Offset, len(o.body), v.Detail)
	}
	const near = 400
	if i := strings.Index(o.body[v.Offset:], k.at); i < 0 || i > near {
		t.Errorf("at offset %d stands %.60q, want %q", v.Offset, o.body[v.Offset:], k.at)
	}
}

// A difference that the provider names, and one that it does not see.
const (
	unasked  = "previous_message_not_found"
	notFound = "comparison_response_not_found"
	unsaid   = "unavailable"
	none     = ""
)

// agree checks our word against the provider's.
func agree(t *testing.T, dialect string, o outcome) {
	t.Helper()
	if !explain.MayCall(dialect, o.verdict.Cause, o.word) {
		t.Errorf("called %s (%s), and the provider says %q", o.verdict.Cause, o.verdict.Detail, o.word)
	}
}
