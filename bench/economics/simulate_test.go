package economics

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// sessions generates agents' sessions: they grow, pause, and now and then compact.
func sessions(n int, seed uint64) []trace.Request {
	var out []trace.Request
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		var at time.Duration
		number, length := int64(0), 230+r.Int64N(400)
		runs := []cache.Run{{Start: 0, Count: length}}
		number = length
		for i := range 2 + r.IntN(30) {
			q := trace.Request{First: i == 0, At: at, Took: 5 * time.Second, Output: r.Int64N(900), Block: 64, Tools: 12_000, System: 2700, Trigger: "tool_result"}
			if r.IntN(5) == 0 {
				q.Trigger = "user"
			}
			if r.IntN(25) == 0 {
				runs = []cache.Run{{Start: 0, Count: 230}}
			}
			grow := 1 + r.Int64N(60)
			runs = append(slices.Clone(runs), cache.Run{Start: number, Count: grow})
			number += grow
			q.Runs = runs
			for _, run := range runs {
				q.Input += 64 * run.Count
			}
			q.Input += r.Int64N(64)
			out = append(out, q)
			at += time.Duration(math.Exp(r.NormFloat64()*1.7+3)) * time.Second
		}
	}
	return out
}

// from gives requests one after another.
func from(list []trace.Request) func(*trace.Request) error {
	return func(r *trace.Request) error {
		if len(list) == 0 {
			return io.EOF
		}
		*r, list = list[0], list[1:]
		return nil
	}
}

func mustSimulate(t testing.TB, list []trace.Request, o Options) Result {
	t.Helper()
	res, err := Simulate(context.Background(), from(list), o, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (r *Result) row(t testing.TB, provider, lifetime, strategy string) Row {
	t.Helper()
	for _, row := range r.Rows {
		if row.Provider == provider && row.Lifetime == lifetime && row.Strategy == strategy {
			return row
		}
	}
	t.Fatalf("no row of %s %s %s", provider, lifetime, strategy)
	return Row{}
}

// busy is with everything that can happen.
var busy = Options{
	Providers: []string{"anthropic", "openai", "openai-before-5.6"}, Resumes: 0.02, Compactions: 0.02, Forks: 0.01, Subagents: 0.1, Burst: 2, BurstHold: true,
	Warm: 0.3, Shared: 0.5, Keepalive: 2, Change: Change{ChangeDeploy, 3 * time.Hour}, Seed: 7,
}

func TestInvariant1_SameBytes(t *testing.T) {
	list := sessions(10, 1)
	first, err := json.Marshal(mustSimulate(t, list, busy))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again, _ := json.Marshal(mustSimulate(t, list, busy))
		if d := cmp.Diff(string(first), string(again)); d != "" {
			t.Fatal("two runs differ:", d)
		}
	}
	other := busy
	other.Seed++
	if again, _ := json.Marshal(mustSimulate(t, list, other)); string(again) == string(first) {
		t.Error("another seed changes nothing")
	}
}

// TestInvariant2_EveryTokenOnce: classes sum to what was sent, the opener and
// subagents included.
func TestInvariant2_EveryTokenOnce(t *testing.T) {
	list := sessions(15, 2)
	var input, output, requests int64
	for _, r := range list {
		input, output, requests = input+r.Input, output+r.Output, requests+1
	}
	for _, marks := range []Marks{MarksIdeal, MarksClient, MarksOpener} {
		res := mustSimulate(t, list, Options{Providers: Providers(), Marks: marks, RowsOnly: true})
		for _, r := range res.Rows {
			want := input
			if r.Strategy != Bare {
				want += r.OpenerTokens * (requests - r.Absent)
			}
			if got := r.Tokens.Input(); got != want || r.Tokens.Output != output || r.Requests != requests {
				t.Errorf("%s %s %s, marks %s: input %d of %d requests, want %d of %d", r.Provider, r.Lifetime, r.Strategy, marks, got, r.Requests, want, requests)
			}
		}
	}
}

// TestRowsAgree: what must hold between rows, whatever the trace.
func TestRowsAgree(t *testing.T) {
	res := mustSimulate(t, sessions(20, 3), Options{Providers: Providers(), RowsOnly: true})
	for _, r := range res.Rows {
		frozen := res.row(t, r.Provider, r.Lifetime, Frozen)
		switch {
		case r.Strategy == None && (r.CostVsNone != 1 || r.HitRateTokens != 0):
			t.Errorf("%s %s none costs %v, hits %v", r.Provider, r.Lifetime, r.CostVsNone, r.HitRateTokens)
		case r.Strategy == PerRequestBefore && r.CostVsNone < frozen.CostVsNone:
			t.Errorf("%s %s: a new text at each request costs %v, a frozen one %v", r.Provider, r.Lifetime, r.CostVsNone, frozen.CostVsNone)
		case r.Strategy == Frozen && r.Unnamed != 0, r.Strategy == PerRequestBefore && r.Unnamed != r.Requests:
			t.Errorf("%s %s %s: %d of %d unnamed", r.Provider, r.Lifetime, r.Strategy, r.Unnamed, r.Requests)
		case r.CostUSD < 0 || r.HitRateTokens < 0 || r.HitRateTokens > 1 || math.IsNaN(r.CostVsNone+r.HitRateCost+r.HitRateLastHalf+r.CostVsBare):
			t.Errorf("impossible row %+v", r)
		}
	}
}

func TestStalenessAndAbsence(t *testing.T) {
	list := sessions(60, 4)
	res := mustSimulate(t, list, Options{Change: Change{ChangeDeploy, 10 * time.Minute}, RowsOnly: true})
	frozen, fresh, durable := res.row(t, "anthropic", "5m", Frozen), res.row(t, "anthropic", "5m", PerRequestBefore), res.row(t, "anthropic", "5m", DurableHistory)
	if frozen.Stale == 0 || fresh.Stale != 0 || frozen.Absent != 0 || durable.Absent == 0 || durable.Unnamed != durable.Absent {
		t.Errorf("frozen %d stale and %d absent, composed each time %d stale, durable %d absent and %d unnamed", frozen.Stale, frozen.Absent, fresh.Stale, durable.Absent, durable.Unnamed)
	}
	if turn := res.row(t, "anthropic", "5m", PerTurn); turn.Stale == 0 || turn.Stale >= frozen.Stale {
		t.Errorf("composed per turn %d stale, frozen %d", turn.Stale, frozen.Stale)
	}
	if never := mustSimulate(t, list, Options{Change: Change{Kind: ChangeNever}, RowsOnly: true}); never.Rows[2].Stale != 0 || never.Rows[2].ChangeRate != 0 {
		t.Errorf("a text that never changes: %+v", never.Rows[2])
	}
}

// TestSignedHistory: a resume does not change the bytes that a signed history is
// bound to.
func TestSignedHistory(t *testing.T) {
	list := sessions(40, 5)
	o := Options{Resumes: 0.3, RowsOnly: true}
	composed := mustSimulate(t, list, o)
	o.SignedHistory = true
	kept := mustSimulate(t, list, o)
	a, b := composed.row(t, "anthropic", "1h", Frozen), kept.row(t, "anthropic", "1h", Frozen)
	if a.CostVsNone <= b.CostVsNone || a.Stale >= b.Stale {
		t.Errorf("composed anew: cost %v, %d stale; kept: cost %v, %d stale", a.CostVsNone, a.Stale, b.CostVsNone, b.Stale)
	}
}

func TestUnknownNames(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		_, err := Simulate(context.Background(), from(nil), o, func(int64) {})
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("Simulate(%+v) = %v, want an error of one line", o, err)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %q does not say %q", err, w)
			}
		}
	}
	f(Options{Providers: []string{"antropic"}}, `unknown provider "antropic"`, "anthropic, openai, openai-before-5.6")
	f(Options{Providers: []string{"anthropic/gpt-6-sol"}}, "gpt-6-sol", "anthropic")
	f(Options{Providers: []string{"anthropic/claude-opus-9"}}, "claude-opus-9", "claude-opus-5-5")
	f(Options{Strategies: []string{"frosen"}}, `unknown strategy "frosen"`, "none, bare, frozen")
	f(Options{Lifetimes: []string{"5d"}}, `unknown lifetime "5d"`, "5m", "1h", "30m", "none")
	f(Options{Change: Change{Kind: "weekly"}}, `unknown change "weekly"`, "midnight")
	f(Options{Marks: "all"}, `unknown marks "all"`, "client")
	f(Options{Resumes: 1.5}, "resumes is 1.5")
	f(Options{Marks: MarksClient, Keepalive: 1}, "keepalive")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	next := func(r *trace.Request) error {
		*r = trace.Request{First: true, Input: 64, Block: 64, Runs: []cache.Run{{Start: 0, Count: 1}}}
		cancel()
		return nil
	}
	if _, err := Simulate(ctx, next, Options{}, func(int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("Simulate after its context's end = %v", err)
	}
}

func TestDefaultsTwice(t *testing.T) {
	o := Options{OpenerTokens: -1, Shared: -1}.WithDefaults()
	if d := cmp.Diff(o, o.WithDefaults()); d != "" {
		t.Error("defaults of defaults differ:", d)
	}
}
