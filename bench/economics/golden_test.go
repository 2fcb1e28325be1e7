package economics

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/bench/trace"
)

// shared is the folder of traces that are not in the repository.
const shared = "../../../shared/data"

func open(t testing.TB, name string) *trace.Reader {
	t.Helper()
	path := filepath.Join(shared, name+".jsonl.gz")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skipf("needs the trace %s, which is not here (the README of its folder says where it is from)", path)
	}
	rd, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rd.Close() })
	return rd
}

// golden holds a trace to the figures that must come out of it.
func golden(t *testing.T, name string, n int) Result {
	t.Helper()
	rd := open(t, name)
	st, err := newStage(Options{Trace: name, RowsOnly: true}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	st.addGoldens() // and no studies, which take ten times as long
	pl := player{scenes: st.scenes}
	if err := pl.play(context.Background(), rd.Next, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	res := st.result(&pl)
	if len(res.Goldens) != n {
		t.Errorf("%d figures, want %d", len(res.Goldens), n)
	}
	for _, g := range res.Goldens {
		if !g.OK {
			t.Errorf("%s: %.4f, want %.4f", g.Name, g.Got, g.Want)
		}
		if g.Why == "" || (g.Published == 0) != (g.Source == "") {
			t.Errorf("%s: published %v by %q, differs because %q", g.Name, g.Published, g.Source, g.Why)
		}
	}
	return res
}

// TestGoldenSessions also holds rows to what must come out: they are the recipe's
// at the defaults.
func TestGoldenSessions(t *testing.T) {
	res := golden(t, "cc_traces_rle", 30)
	for _, want := range []struct {
		provider, lifetime, strategy string
		hits, cost                   float64
	}{
		{"anthropic", "5m", Frozen, 0.9164, 0.196},
		{"anthropic", "1h", Frozen, 0.9604, 0.175},
		{"openai", "30m", Frozen, 0.9543, 0.153},
		{"anthropic", "5m", PerRequestBefore, 0.1061, 1.128},
		{"anthropic", "1h", PerRequestBefore, 0.1113, 1.789},
		{"openai", "30m", PerRequestBefore, 0.1106, 1.123},
		{"anthropic", "5m", Bare, 0.9161, 0.196},
		{"anthropic", "1h", Bare, 0.9601, 0.176},
	} {
		r := res.row(t, want.provider, want.lifetime, want.strategy)
		if !near(r.HitRateTokens, want.hits) || !near(r.CostVsNone, want.cost) {
			t.Errorf("%s %s %s: hits %.4f, cost %.4f; want %.4f and %.3f", want.provider, want.lifetime, want.strategy, r.HitRateTokens, r.CostVsNone, want.hits, want.cost)
		}
		if r.Sessions != 710 || r.Requests != 48_658 || r.OpenerTokens != 4000 && r.Strategy != Bare {
			t.Errorf("%d sessions, %d requests, opener %d", r.Sessions, r.Requests, r.OpenerTokens)
		}
	}
}

func near(a, b float64) bool { return a-b <= tight && b-a <= tight }

func TestGoldenMooncake(t *testing.T) {
	golden(t, "mooncake_conversation_trace", 5)
	golden(t, "mooncake_synthetic_trace", 3)
}

// TestSampleTrace runs everywhere: what holds on real sessions holds on generated
// ones.
func TestSampleTrace(t *testing.T) {
	var told int64
	res, err := Run(context.Background(), func() (*trace.Reader, error) { return trace.Open(trace.Sample) }, Options{Trace: trace.Sample}, func(done, _ int64) { told = done })
	if err != nil {
		t.Fatal(err)
	}
	for _, lifetime := range []string{"5m", "1h"} {
		frozen, volatile := res.row(t, "anthropic", lifetime, Frozen), res.row(t, "anthropic", lifetime, PerRequestBefore)
		if frozen.CostVsNone > 0.5 || volatile.CostVsNone < 3*frozen.CostVsNone {
			t.Errorf("%s: frozen costs %.3f of none, composed at each request %.3f", lifetime, frozen.CostVsNone, volatile.CostVsNone)
		}
	}
	if told == 0 || len(res.Goldens) != 0 {
		t.Errorf("progress %d, goldens %v", told, res.Goldens)
	}
}

func TestRunFaults(t *testing.T) {
	opened := false
	open := func() (*trace.Reader, error) { opened = true; return nil, os.ErrNotExist }
	if _, err := Run(context.Background(), open, Options{Providers: []string{"nobody"}}, nil); err == nil || opened {
		t.Errorf("Run with a bad name = %v, trace opened %v", err, opened)
	}
	if _, err := Run(context.Background(), open, Options{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Run without a trace = %v", err)
	}
	bad := func() (*trace.Reader, error) { return trace.NewReader(strings.NewReader("{}"), "x") }
	if _, err := Run(context.Background(), bad, Options{}, nil); err == nil || !strings.Contains(err.Error(), "x:1: ") {
		t.Errorf("Run of an unknown format = %v, want file, line and reason", err)
	}
}

// TestRunInShares: what several readers find is what one does, and none of them
// is left.
func TestRunInShares(t *testing.T) {
	defer goleak.VerifyNone(t)
	o := Options{Trace: trace.Sample, Providers: []string{"anthropic", "openai"}}
	opened := 0
	open := func() (*trace.Reader, error) { opened++; return trace.Open(trace.Sample) }
	got, err := Run(context.Background(), open, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	rd, err := trace.Open(trace.Sample)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Simulate(context.Background(), rd.Next, o, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%d readers find something else than one: %s", opened, d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := Run(ctx, open, o, func(int64, int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("Run after its context's end = %v", err)
	}
}
