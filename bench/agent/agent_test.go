package agent

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kinds = []Kind{Claude, Codex, Chat}

// start starts a provider and an agent that sends there.
func start(t *testing.T, cfg Config) (*Agent, *provider.Provider) {
	t.Helper()
	// What ids and answers are made from, so that two runs can be compared.
	clock := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p := provider.New(provider.Options{Now: func() time.Time { return clock }})
	if err := p.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	cfg.URL, cfg.Key = p.URL(), "sk-agent-1"
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a, p
}

// received is what the provider has in its ledger once every answer is over.
func received(t *testing.T, p *provider.Provider) []provider.Exchange {
	t.Helper()
	for _, x := range p.Received() {
		over := func(e *provider.Exchange) bool { return e.ID == x.ID && !e.Open() }
		if _, err := p.Await(t.Context(), over); err != nil {
			t.Fatal(err)
		}
	}
	return p.Received()
}

// play takes the agent through a script.
func play(t *testing.T, a *Agent, steps []Step) {
	t.Helper()
	for _, s := range steps {
		if err := a.Turn(t.Context(), s.Prompt, s.Calls); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSessionOfTwelveTurns(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			a, p := start(t, Config{Kind: k, Seed: 7})
			steps := Script(7, 12)
			play(t, a, steps)
			want := len(steps)
			for _, s := range steps {
				want += s.Calls
			}
			if got := len(a.Calls()); got != want {
				t.Errorf("%d requests, want %d: one for each turn and each tool call", got, want)
			}
			_, all := p.Totals()
			if all.Tokens.CacheRead < 3*all.Tokens.Fresh {
				t.Errorf("tokens %+v: a conversation that only grows is read from the cache", all.Tokens)
			}
		})
	}
}

func TestInvariant1_SameConfigSameBytes(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			bodies := func(seed uint64) (all []string) {
				a, _ := start(t, Config{Kind: k, Seed: seed})
				play(t, a, Script(seed, 6))
				for _, c := range a.Calls() {
					all = append(all, c.ID+" "+c.Path+" "+string(c.Body))
				}
				return all
			}
			if diff := cmp.Diff(bodies(3), bodies(3)); diff != "" {
				t.Errorf("two runs of seed 3 differ (-first +second)\n%s", diff)
			}
			if cmp.Equal(bodies(3), bodies(4)) {
				t.Error("seeds 3 and 4 send the same")
			}
		})
	}
}

func TestInvariant4_RetrySendsTheSameBytes(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			a, p := start(t, Config{Kind: k})
			play(t, a, Script(1, 1))
			before := len(a.Calls())
			p.SetFault(provider.Fault{Status: 529})
			var no *StatusError
			if err := a.Turn(t.Context(), "go on", 1); !errors.As(err, &no) || no.Status != 529 {
				t.Fatalf("Turn = %v, want status 529", err)
			}
			if got := len(a.Calls()) - before; got != 1 {
				t.Fatalf("%d requests for one step, want 1", got)
			}
			p.SetFault(provider.Fault{})
			if err := a.Retry(t.Context()); err != nil {
				t.Fatal(err)
			}
			failed, again := a.Calls()[before], a.Calls()[before+1]
			if !bytes.Equal(failed.Body, again.Body) || failed.ID == again.ID {
				t.Errorf("Retry sent %s as %s, want the bytes of %s under a new id", again.Body, again.ID, failed.ID)
			}
		})
	}
}

func TestInvariant5_CutAnswersAreErrors(t *testing.T) {
	for name, test := range map[string]struct {
		fault provider.Fault
		is    func(error) bool
	}{
		"clean end without last event": {provider.Fault{NoTerminal: true}, func(err error) bool { return errors.Is(err, ErrCut) }},
		"cut":                          {provider.Fault{Cut: provider.CutFIN, CutAfter: 300}, func(err error) bool { return err != nil }},
		"error event": {provider.Fault{Error: true, ErrorAfter: 2}, func(err error) bool {
			var e *EventError
			return errors.As(err, &e)
		}},
	} {
		for _, k := range kinds {
			t.Run(name+"/"+string(k), func(t *testing.T) {
				a, p := start(t, Config{Kind: k})
				p.SetFault(test.fault)
				if err := a.Turn(t.Context(), "hello", 0); !test.is(err) {
					t.Fatalf("Turn = %v, want that error", err)
				}
				p.SetFault(provider.Fault{})
				if err := a.Retry(t.Context()); err != nil {
					t.Fatal(err)
				}
				calls := a.Calls()
				if !bytes.Equal(calls[0].Body, calls[1].Body) {
					t.Error("the history changed with an answer that had no end")
				}
			})
		}
	}
}

func TestCallShowsWhatWasOnTheWire(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			var mu sync.Mutex
			sent := map[string][]byte{}
			a, p := start(t, Config{Kind: k, OnSend: func(c *Call) {
				mu.Lock()
				defer mu.Unlock()
				sent[c.ID] = c.Body
			}})
			play(t, a, Script(2, 3))
			for i, x := range received(t, p) {
				c := a.Calls()[i]
				if !bytes.Equal(x.Body, c.Body) || !bytes.Equal(sent[c.ID], c.Body) {
					t.Errorf("request %s: the provider got %d bytes, OnSend %d, the call has %d", c.ID, len(x.Body), len(sent[c.ID]), len(c.Body))
				}
				if !bytes.Equal(x.Answer, c.Answer) {
					t.Errorf("answer of %s: the provider sent %d bytes, the call has %d", c.ID, len(x.Answer), len(c.Answer))
				}
			}
		})
	}
}

func TestTitleBesideTheFirstTurn(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			a, p := start(t, Config{Kind: k})
			var title error
			var beside sync.WaitGroup
			beside.Go(func() { title = a.Title(t.Context(), "hello") })
			play(t, a, []Step{{"hello", 1}})
			beside.Wait()
			if title != nil {
				t.Fatal(title)
			}
			for _, x := range received(t, p) {
				if !strings.Contains(string(x.Head), a.Session()) {
					t.Errorf("a request does not name session %s:\n%s", a.Session(), x.Head)
				}
			}
		})
	}
}

func TestCancel(t *testing.T) {
	a, p := start(t, Config{Kind: Claude})
	p.SetFault(provider.Fault{Stall: true, StallAfter: 2})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Turn(ctx, "hello", 0) }()
	if _, err := p.Await(t.Context(), func(x *provider.Exchange) bool { return x.AnswerSize > 0 }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Turn = %v, want %v", err, context.Canceled)
	}
	if _, err := p.Await(t.Context(), func(x *provider.Exchange) bool { return x.Aborted() }); err != nil {
		t.Error(err)
	}
}

func TestOpenerIsAskedForEachRequest(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			a, p := start(t, Config{Kind: k, Opener: func(int) string { return "the same words <each> time" }})
			play(t, a, Script(5, 4))
			for _, x := range received(t, p) {
				if n := bytes.Count(x.Body, []byte(`"the same words <each> time"`)); n != 1 {
					t.Errorf("the opener is %d times in %s", n, x.Body)
				}
			}
		})
	}
	// Bound to what stood before it, signed thinking does not outlive a change.
	a, _ := start(t, Config{Kind: Claude, Opener: func(n int) string { return strings.Repeat("x", n) }})
	play(t, a, []Step{{"hello", 0}})
	if err := a.Turn(t.Context(), "go on", 0); err == nil || !strings.Contains(err.Error(), "bound to a different conversation") {
		t.Errorf("Turn with another opener = %v, want a refusal of the thinking", err)
	}
}

func TestNewRefusesUnknownKinds(t *testing.T) {
	if _, err := New(Config{Kind: "abacus"}); err == nil {
		t.Error("New of an unknown kind = nil, want an error")
	}
}
