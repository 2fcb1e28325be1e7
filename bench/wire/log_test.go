package wire

import (
	"errors"
	"io"
	"testing"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// TestLogIsATrace: the header log that a run leaves can be played by simulators: its
// sessions, and its tokens as the provider counted them.
func TestLogIsATrace(t *testing.T) {
	r, err := trace.Open("")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Prices: prices(t), Sessions: 3, Turns: 8}
	f, rules, err := o.complete()
	if err != nil {
		t.Fatal(err)
	}
	c := &check{opt: o, format: f, rules: rules, texts: newTexts(0), price: func(cache.Tokens) (paid, plain usage.Money) { return 0, 0 }}
	if c.sessions, err = readSessions(t.Context(), r, o); err != nil {
		t.Fatal(err)
	}
	s, err := openStage(t.Context(), o, f, c.texts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	result := &Result{}
	if _, err := c.play(t.Context(), s, result); err != nil {
		t.Fatal(err)
	}
	if err := s.quiet(); err != nil {
		t.Fatal(err)
	}
	replayed(t, s.logConfig().Path, result)
}

func replayed(t *testing.T, path string, want *Result) {
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
	if got := r.Info().Format; got != "header-log" {
		t.Errorf("format %q, want header-log", got)
	}
	blocks := cache.NewBlocks(cache.BlocksOptions{})
	scopes, sums := map[string]bool{}, cache.Tokens{}
	var again, q trace.Request
	for err = r.Next(&q); err == nil; err = r.Next(&q) {
		if q.First {
			blocks.Reset()
		}
		scopes[q.Scope] = true
		sums.Fresh += q.Input
		sums.Read += q.CacheRead
		again.Input += blocks.Read(q.Runs, q.At)
		blocks.Touch(q.Runs, q.At)
		if q.Tools <= 0 || q.System <= 0 || q.Model != "claude-opus-5" || !q.Reported {
			t.Errorf("request %+v: want tools, a system prompt, a model and what was reported", q)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if n := 3 + want.Requests; len(scopes) != n { // one for each session, and one for each request that is not frozen
		t.Errorf("%d sessions, want %d", len(scopes), n)
	}
	if input, read := want.Frozen.Input+want.Volatile.Input, want.Frozen.Read+want.Volatile.Read; sums.Fresh != input || sums.Read != read {
		t.Errorf("%d tokens, %d of them read; want %d and %d", sums.Fresh, sums.Read, input, read)
	}
	if again.Input < want.Frozen.Read*9/10 || again.Input > want.Frozen.Input {
		t.Errorf("a cache of the log's blocks reads %d tokens, want about the %d that were read within sessions", again.Input, want.Frozen.Read)
	}
}
