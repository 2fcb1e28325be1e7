package economics

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 60).Draw(t, "numbers")
		h := newHistogram(10_000, 1)
		var sum float64
		for _, v := range list {
			h.add(v)
			sum += v
		}
		slices.Sort(list)
		got := h.spread()
		want := Spread{sum / float64(len(list)), list[(len(list)-1)/2], list[0], list[int(0.9*float64(len(list)-1))]}
		if math.Abs(got.Median-want.Median) > 1e-4 || math.Abs(got.P90-want.P90) > 1e-4 || got.Min != want.Min || math.Abs(got.Mean-want.Mean) > 1e-9 {
			t.Fatalf("spread of %v = %+v, want %+v", list, got, want)
		}
	})
}

// TestHalves: what was thinned out says the same as all of it.
func TestHalves(t *testing.T) {
	for _, n := range []int{2, 3, 1000, maxSamples, maxSamples + 1, 12_031, 48_658} {
		var h halves
		var input, read int64
		for i := range n {
			in, r := int64(1000+i%97*50), int64(i%1000)
			if i >= n/2 {
				input, read = input+in, read+r
			}
			h.add(in, r)
		}
		if got, want := h.last(), float64(read)/float64(input); math.Abs(got-want) > 1e-4 {
			t.Errorf("last half of %d requests = %v, want %v", n, got, want)
		}
	}
}

// TestTariff holds what is asked of a rate to the table's own numbers.
func TestTariff(t *testing.T) {
	prices, err := builtinPrices()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	f := func(model, lifetime string, over int64, want ...usage.Money) {
		t.Helper()
		got, ok := tariffOf(prices, usage.Query{Model: model, At: at, Lifetime: lifetime})
		if !ok || got.over != over {
			t.Errorf("tariffOf(%s) over %d, %v; want over %d", model, got.over, ok, over)
		}
		b := got.band
		all := []usage.Money{b[0].input, b[0].read, b[0].write, b[0].output, b[1].input, b[1].read, b[1].write, b[1].output}
		if over == 0 {
			all = all[:4]
		}
		for i := range all {
			if all[i] != want[i]*10_000 { // cents per million tokens
				t.Errorf("tariffOf(%s %s) = %v, want %v", model, lifetime, all, want)
				break
			}
		}
	}
	f("claude-opus-5", "5m", 0, 500, 50, 625, 2500)
	f("claude-opus-5", "1h", 0, 500, 50, 1000, 2500)
	f("gpt-6-sol", "30m", 272_000, 200, 20, 250, 1000, 400, 40, 500, 1500)
	f("gpt-5.4", "", 0, 250, 25, 250, 1500)
	if _, ok := tariffOf(prices, usage.Query{Model: "gpt-6-sol-mini", At: at}); ok {
		t.Error("a model that nobody sells has a price")
	}
}

func TestPricesByBand(t *testing.T) {
	r := trace.Request{First: true, Input: 300_000, Output: 1000, Block: 1000, Runs: []cache.Run{{Start: 0, Count: 300}}}
	res := mustSimulate(t, []trace.Request{r}, Options{Providers: []string{"openai"}, OpenerTokens: -1, RowsOnly: true})
	row := res.row(t, "openai", "30m", Bare)
	if want := 300_000*5e-6 + 1000*15e-6; math.Abs(row.CostUSD-want) > 1e-9 {
		t.Errorf("a long prompt costs $%v, want $%v", row.CostUSD, want)
	}
	if row.CostVsNone != 1.25 || row.Tokens.Write30m != 300_000 {
		t.Errorf("relative cost %v, written %d", row.CostVsNone, row.Tokens.Write30m)
	}
}

// TestKeepalive: a pause of 12 minutes is bridged by two requests, at 4:30 and
// 9:00, and the end of the session gets as many as are allowed.
func TestKeepalive(t *testing.T) {
	r := trace.Request{First: true, Input: 10_000, Output: 10, Block: 1000, Runs: []cache.Run{{Start: 0, Count: 10}}}
	next := r
	next.First, next.At = false, 12*time.Minute
	for most, want := range []struct{ reads, keepalives int64 }{{0, 0}, {10_000 + 0, 2}, {10_000*(2+2) + 10_000, 4}, {10_000*(2+3) + 10_000, 5}} {
		if most == 1 {
			want.reads = 2 * 10_000 // one in the pause, too few, and one at the end
		}
		res := mustSimulate(t, []trace.Request{r, next}, Options{Lifetimes: []string{"5m"}, Providers: []string{"anthropic"}, OpenerTokens: -1, Keepalive: most, RowsOnly: true})
		row := res.row(t, "anthropic", "5m", Bare)
		if row.Tokens.Read != want.reads || row.Keepalives != want.keepalives {
			t.Errorf("at most %d keepalives: %d read, %d sent; want %+v", most, row.Tokens.Read, row.Keepalives, want)
		}
	}
}

// TestBurst: four subagents at once write tools, system and opener four times, or
// once if three are held; two minutes later all of them read it.
func TestBurst(t *testing.T) {
	r := trace.Request{First: true, Input: 10_000, Block: 1000, Tools: 3000, System: 2000, Runs: []cache.Run{{Start: 0, Count: 10}}}
	next := r
	next.First, next.At = false, 2*time.Minute
	for _, held := range []bool{false, true} {
		o := Options{Providers: []string{"anthropic"}, Lifetimes: []string{"5m"}, OpenerTokens: 1000, Change: Change{Kind: ChangeNever}, Subagents: 4, Burst: 4, BurstHold: held, RowsOnly: true}
		res := mustSimulate(t, []trace.Request{r, next}, o)
		want := map[string]int64{Frozen: 11_000 + 4*6000, Bare: 10_000 + 4*5000}
		if held {
			want[Frozen], want[Bare] = want[Frozen]+3*6000, want[Bare]+3*5000
		}
		for name, reads := range want {
			if row := res.row(t, "anthropic", "5m", name); row.Tokens.Read != reads || row.Requests != 10 {
				t.Errorf("held %v: %s reads %d in %d requests, want %d in 10", held, name, row.Tokens.Read, row.Requests, reads)
			}
		}
	}
}

// TestWarm: a session's first request finds tools, system and a shared opener
// warm, and an opener of its own cold.
func TestWarm(t *testing.T) {
	r := trace.Request{First: true, Input: 10_000, Block: 1000, Tools: 3000, System: 2000, Runs: []cache.Run{{Start: 0, Count: 10}}}
	f := func(shared float64, want map[string]int64) {
		t.Helper()
		res := mustSimulate(t, []trace.Request{r}, Options{Providers: []string{"anthropic"}, OpenerTokens: 1000, Change: Change{Kind: ChangeNever}, Warm: 1, Shared: shared, RowsOnly: true})
		for name, reads := range want {
			if row := res.row(t, "anthropic", "5m", name); row.Tokens.Read != reads {
				t.Errorf("shared %v: %s reads %d, want %d", shared, name, row.Tokens.Read, reads)
			}
		}
	}
	f(1, map[string]int64{Frozen: 6000, Bare: 5000, DecoratorBeforeSystem: 6000, PerRequestAfter: 5000})
	f(-1, map[string]int64{Frozen: 5000, Bare: 5000, DecoratorBeforeSystem: 3000, PerRequestAfter: 5000})
}
