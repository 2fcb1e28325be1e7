package economics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// TestStudiesHaveShape: whoever draws them finds a value for each label.
func TestStudiesHaveShape(t *testing.T) {
	res := mustSimulate(t, sessions(8, 6), Options{})
	names := map[string]bool{}
	for _, b := range res.BreakEvens {
		names[b.Name] = true
		if b.Answer == "" || b.Question == "" || len(b.X.Labels) != len(b.X.Values) || b.Provider == "" {
			t.Errorf("%s: answer %q, %d labels of %d values", b.Name, b.Answer, len(b.X.Labels), len(b.X.Values))
		}
		for _, s := range b.Series {
			if len(s.Values) != len(b.X.Values) || slices.ContainsFunc(s.Values, math.IsNaN) {
				t.Errorf("%s, %s: %v at %v", b.Name, s.Name, s.Values, b.X.Values)
			}
		}
		if b.Y != nil && (len(b.Winner) != len(b.Y.Values) || len(b.Winner[0]) != len(b.X.Values)) {
			t.Errorf("%s: winners %v", b.Name, b.Winner)
		}
	}
	want := []string{"burst_hold", "change_rate", "hit_rate", "keepalive", "length_by_change", "length_by_change_fresh", "lifetime_by_gaps", "opener_size", "pauses", "resumes", "session_length", "staleness"}
	if d := cmp.Diff(want, sorted(names)); d != "" {
		t.Error(d)
	}
	if n := len(res.Sensitivity); n != 3*len(circumstances) {
		t.Errorf("%d conditions at 3 tiers, want %d each", n, len(circumstances))
	}
}

func sorted(set map[string]bool) []string {
	var out []string
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// pair is a session of two requests of so many tokens, some time apart.
func pair(gap time.Duration) []trace.Request {
	r := trace.Request{First: true, Input: 20_000, Block: 1000, Tools: 3000, System: 2000, Runs: []cache.Run{{Start: 0, Count: 20}}}
	next := r
	next.First, next.At = false, gap
	return append([]trace.Request{r, next}, r, next)
}

func (r *Result) breakEven(t *testing.T, name, lifetime string) BreakEven {
	t.Helper()
	for _, b := range r.BreakEvens {
		if b.Name == name && b.Lifetime == lifetime {
			return b
		}
	}
	t.Fatalf("no break-even %s %s", name, lifetime)
	return BreakEven{}
}

// TestBreakEvens: sessions so small that the answers can be worked out.
func TestBreakEvens(t *testing.T) {
	o := Options{Providers: []string{"anthropic"}, OpenerTokens: 4000, Change: Change{Kind: ChangeNever}}
	res := mustSimulate(t, pair(4*time.Minute), o)
	// One request costs 1.25 of none, two cost (1.25 + 0.1) / 2; with 2 for writes
	// (2 + 0.1) / 2 is still more than none.
	short, long := res.breakEven(t, "session_length", "5m"), res.breakEven(t, "session_length", "1h")
	if short.At == nil || *short.At != 2 || long.At != nil {
		t.Errorf("5m pays from %v, 1h from %v; want 2 and never", short.At, long.At)
	}
	if got := short.of(Frozen)[:2]; got[0] != 1.25 || got[1] != 0.675 {
		t.Errorf("costs of one and two requests %v, want 1.25 and 0.675", got)
	}
	// At twice the pauses entries of 5m are gone.
	if p := res.breakEven(t, "pauses", "5m"); p.At == nil || *p.At != 2 {
		t.Errorf("5m stops paying at %v, want 2", p.At)
	}
	// A keepalive in the pause and one at the end are 0.2 against 1.15 saved.
	res = mustSimulate(t, pair(8*time.Minute), o)
	if k := res.breakEven(t, "keepalive", "5m"); *k.At != 1 || math.Abs(k.of(Frozen)[1]-(1.25+0.1+0.1+0.1)/2) > 1e-9 {
		t.Errorf("best are %v keepalives, at a cost of %v", *k.At, k.of(Frozen))
	}
}

// TestConditionsWhereFrozenLoses: the finding that a frozen opener wins comes with
// the conditions under which it does not.
func TestConditionsWhereFrozenLoses(t *testing.T) {
	res := mustSimulate(t, sessions(20, 7), Options{Providers: []string{"anthropic"}})
	wins := map[string]Condition{}
	for _, c := range res.Sensitivity {
		wins[c.Name+" "+c.Lifetime] = c
	}
	for name, best := range map[string]string{"as_asked 5m": Frozen, "one_request 5m": None, "two_requests 1h": None, "each_fresh 5m": PerRequestAfter, "never_changes 5m": Frozen, "resumes_signed 5m": Frozen} {
		if c := wins[name]; c.Best != best || c.FrozenWins != (best == Frozen) {
			t.Errorf("%s: best %q, frozen wins %v; want %q (%s)", name, c.Best, c.FrozenWins, best, c.Finding)
		}
	}
	if c := wins["each_fresh 5m"]; c.FrozenStale < 0.9 || c.BestStale != 0 {
		t.Errorf("stale %v and %v", c.FrozenStale, c.BestStale)
	}
}
