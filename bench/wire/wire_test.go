package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/bench/trace"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// TestMain: no run leaves a goroutine, save those of fasthttp that end by
// themselves.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// run plays a trace, "" for the sample.
func run(t *testing.T, path string, o Options) (*Result, error) {
	t.Helper()
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	o.Prices = prices(t)
	return Run(t.Context(), r, o)
}

func prices(t *testing.T) *usage.Prices {
	t.Helper()
	p, err := usage.NewPrices([]usage.Entry{
		{Models: []string{"claude-opus-5"}, Source: "test", Date: "2026-10-08", Input: "5", Output: "25", Read: "0.50", Write5m: "6.25", Write1h: "10"},
		{Models: []string{"gpt-6-sol"}, Source: "test", Date: "2026-10-08", Input: "2", Output: "10", Read: "0.20", Write30m: "2.5"},
		{Models: []string{"gpt-5.4"}, Source: "test", Date: "2026-10-08", Input: "2.5", Output: "15", Read: "0.25"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// holds checks what every run that agrees has.
func holds(t *testing.T, r *Result) {
	t.Helper()
	if !r.OK() || r.Frozen.Difference != 0 || r.Volatile.Difference != 0 {
		var b strings.Builder
		_ = r.WriteText(&b)
		t.Errorf("measured and model differ:\n%s", &b)
	}
	if want := int64(r.Sessions + r.Requests); r.Openers != want {
		t.Errorf("%d openers were composed, want %d: one for each session that is frozen, and one for each request that is not", r.Openers, want)
	}
	if r.Frozen.Input != r.Volatile.Input || r.Frozen.Read <= r.Volatile.Read || r.Frozen.CostVsNone >= 1 || r.Factor <= 1 {
		t.Errorf("a frozen opener does not pay: %+v", r)
	}
}

// TestSampleAgrees: for each way in which providers cache, the provider charges to
// the token what the model says.
func TestSampleAgrees(t *testing.T) {
	for _, o := range []Options{
		{Dialect: "anthropic"},
		{Dialect: "anthropic", Lifetime: "1h", Shrink: 3},
		{Dialect: "openai-chat"},
		{Dialect: "openai-responses"},
		{Dialect: "openai-chat", Model: "gpt-5.4", Lifetime: "5m", Shrink: 5},
	} {
		t.Run(o.Dialect+o.Model+o.Lifetime, func(t *testing.T) {
			o.Sessions, o.Turns = 5, 12
			r, err := run(t, "", o)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, r)
		})
	}
}

// TestPublishedSessionsAgree: the same with real sessions, which rewind and compact.
func TestPublishedSessionsAgree(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "data", "cc_traces_rle.jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the published traces are not here: %v", err)
	}
	r, err := run(t, path, Options{Sessions: 8, Turns: 25, Shrink: 32})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, r)
}

// TestFindsThaw: where an opener is composed anew for a request in the middle of a
// session, or for all, the check says so.
func TestFindsThaw(t *testing.T) {
	for from, to := range map[int]int{0: 1 << 20, 4: 5} {
		thawed := func(way, session, request int) string {
			if way == volatile || request >= from && request < to {
				return strings.Repeat("x", 1+request) + string(rune('a'+session))
			}
			return string(rune('a' + session))
		}
		r, err := run(t, "", Options{Sessions: 2, Turns: 8, sessionID: thawed})
		if err != nil {
			t.Fatal(err)
		}
		if r.OK() || r.Differs == 0 || r.Frozen.Read >= r.Frozen.ReadByModel {
			t.Errorf("thawed from request %d to %d: the check finds nothing: %+v", from+1, to, r)
		}
		if len(r.Differences) == 0 || r.Differences[0].Way != "frozen" || r.Differences[0].Request <= from {
			t.Errorf("thawed from request %d to %d: the first difference is %+v", from+1, to, r.Differences)
		}
		if r.LogDiffers != 0 {
			t.Errorf("the log differs from what was charged in %d requests", r.LogDiffers)
		}
	}
}

// TestSameAgain: neither the number of workers nor chance shows in a result.
func TestSameAgain(t *testing.T) {
	one := func(workers int) string {
		r, err := run(t, "", Options{Sessions: 5, Turns: 6, Workers: workers, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if d := cmp.Diff(one(1), one(3)); d != "" {
		t.Errorf("results differ (-one worker +three):\n%s", d)
	}
}

// TestStops: a run that is stopped says so, and leaves nothing behind.
func TestStops(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := trace.Open("")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(ctx, r, Options{Prices: prices(t), Tell: func(done, _ int) {
		if done == 20 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was stopped: error %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func TestRefuses(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		_, err := run(t, "", o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("options %+v: error %v, want one with %q", o, err, want)
		}
	}
	f(Options{Dialect: "telepathy"}, `unknown dialect "telepathy": known are anthropic, openai-chat, openai-responses`)
	f(Options{Model: "nobody"}, `"nobody"`)
	f(Options{Model: "gpt-6-sol"}, `model "gpt-6-sol" is not one of dialect anthropic`)
	f(Options{Lifetime: "2h"}, `unknown lifetime "2h" of model claude-opus-5: known are 5m, 1h`)
	f(Options{Turns: -1}, "turns -1")
	f(Options{Opener: 10}, "an opener of 10 tokens")
	long := `{"id":"s","block_size":1048576,"hash_id_scope":"local","requests":[[0,104857600,1,0,[[0,100]],1,0,"m","","text"]]}`
	r, err := trace.NewReader(strings.NewReader(long), "long")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), r, Options{Shrink: 1, Prices: prices(t)}); err == nil || !strings.Contains(err.Error(), `session "s", request 1 has 104857600 tokens`) {
		t.Errorf("a prompt of 100 Mi tokens: error %v", err)
	}
	f(Options{Model: "claude-opus-4-8"}, `no price of model "claude-opus-4-8"`)
}

func TestWriteText(t *testing.T) {
	r, err := run(t, "", Options{Trace: "sample", Sessions: 3, Turns: 5})
	if err != nil {
		t.Fatal(err)
	}
	text := func() string {
		var b bytes.Buffer
		if err := r.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, want := range []string{"trace sample: 3 sessions, 15 requests", "divided by 8", "agree to the token on all 30 requests", "times a frozen one"} {
		if !strings.Contains(text(), want) {
			t.Errorf("no %q in:\n%s", want, text())
		}
	}
	r.Differs, r.Differences = 1, []Difference{{Way: "frozen", Session: "s", Request: 3}}
	for _, want := range []string{`differs: frozen, session "s", request 3`, "of 30 requests the model says 1 otherwise"} {
		if !strings.Contains(text(), want) {
			t.Errorf("no %q in:\n%s", want, text())
		}
	}
}
