package prefixstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// composer counts compositions; each has other bytes than the one before, so
// that two can never be taken for one.
type composer struct {
	n     atomic.Int64
	err   error
	empty bool
	wait  chan struct{} // not nil: composing waits for it
}

func (c *composer) compose(ctx context.Context, s contrib.Session) (contrib.Result, error) {
	n := c.n.Add(1)
	if c.wait != nil {
		select {
		case <-c.wait:
		case <-ctx.Done():
			return contrib.Result{}, ctx.Err()
		}
	}
	if c.err != nil || c.empty {
		return contrib.Result{}, c.err
	}
	text := fmt.Sprintf("composition %d for %s", n, s.Session)
	return contrib.Result{Messages: []contrib.Message{{Role: "user", Text: text}}}, nil
}

func (c *composer) recipe() *Recipe {
	return &Recipe{Route: "test", Config: "c1", Compose: c.compose, Render: render}
}

func render(msgs []logsink.Message) ([]logsink.Rendering, error) {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "<%s:%s>", m.Role, m.Text)
	}
	return []logsink.Rendering{logsink.NewRendering("r", []byte(b.String()))}, nil
}

func open(t *testing.T, log logsink.Log, opt Options) *Store {
	t.Helper()
	s, err := New(log, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func want(session string) Want {
	return Want{Key: logsink.Key{Tenant: "t", Session: session}, Source: "test"}
}

func mustFind(t *testing.T, s *Store, w Want, r *Recipe) *Epoch {
	t.Helper()
	e, err := s.Find(t.Context(), w, r)
	if err != nil {
		t.Fatalf("Find(%+v) = %v", w.Key, err)
	}
	return e
}

// TestI5_OneWinner: first requests race in two processes; there is one anchor,
// each process composes at most once at a time, and all use the same bytes.
func TestI5_OneWinner(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := newMemLog(), &composer{}
		stores := []*Store{open(t, log, opt), open(t, log, opt)}
		var wg sync.WaitGroup
		got := make([]*Epoch, 300)
		for i := range got {
			wg.Go(func() {
				e, err := stores[i%2].Find(t.Context(), want("s"), c.recipe())
				if err != nil {
					t.Errorf("Find: %v", err)
					return
				}
				got[i] = e
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		first := string(got[0].Rendering("r"))
		for i, e := range got {
			if string(e.Rendering("r")) != first || e.Number != 1 {
				t.Fatalf("request %d has epoch %d %q, request 0 has %q", i, e.Number, e.Rendering("r"), first)
			}
		}
		if len(log.anchors) != 1 {
			t.Errorf("%d anchors, want 1", len(log.anchors))
		}
		if n := c.n.Load(); n > 2 {
			t.Errorf("composed %d times in 2 processes, want at most 2", n)
		}
	})
}

// TestI2_FrozenOverReloadAndRestart: a new recipe, a new process and a dropping
// cache all leave an epoch's bytes alone.
func TestI2_FrozenOverReloadAndRestart(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := newMemLog(), &composer{}
		s := open(t, log, opt)
		first := mustFind(t, s, want("s"), c.recipe())
		again := mustFind(t, s, want("s"), (&composer{}).recipe())
		restarted := mustFind(t, open(t, log, opt), want("s"), c.recipe())
		for _, e := range []*Epoch{again, restarted} {
			if string(e.Rendering("r")) != string(first.Rendering("r")) || e.Prefix != first.Prefix {
				t.Errorf("bytes changed from %q to %q", first.Rendering("r"), e.Rendering("r"))
			}
		}
		if n := c.n.Load(); n != 1 {
			t.Errorf("composed %d times, want 1", n)
		}
	})
}

// TestI1_NothingWithoutTheLog: both ways in which a write can fail. What was
// stored although the reply was lost is what the next request gets.
func TestI1_NothingWithoutTheLog(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		f := func(name string, fail func(l *memLog), wantComposed int64) {
			t.Run(name, func(t *testing.T) {
				log, c := newMemLog(), &composer{}
				s := open(t, log, opt)
				log.set(func() { fail(log) })
				if e, err := s.Find(t.Context(), want("s"), c.recipe()); !errors.Is(err, logsink.ErrUnavailable) {
					t.Fatalf("Find with a failing log = %v, %v; want ErrUnavailable", e, err)
				}
				log.set(func() { log.down, log.loseReply = false, false })
				e := mustFind(t, s, want("s"), c.recipe())
				if got := string(e.Rendering("r")); !strings.Contains(got, fmt.Sprintf("composition %d ", wantComposed)) {
					t.Errorf("after the fault the session has %q, want composition %d", got, wantComposed)
				}
				if len(log.anchors) != 1 {
					t.Errorf("%d anchors, want 1", len(log.anchors))
				}
			})
		}
		f("failed, but stored", func(l *memLog) { l.loseReply = true }, 1)
		// The look-up fails before anything is composed.
		f("failed, not stored", func(l *memLog) { l.down = true }, 1)
	})
}

// TestI5_FailedCompositionLeavesNoTrace.
func TestI5_FailedCompositionLeavesNoTrace(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := newMemLog(), &composer{err: errors.New("contributor broke")}
		s := open(t, log, opt)
		var ce *ComposeError
		if _, err := s.Find(t.Context(), want("s"), c.recipe()); !errors.As(err, &ce) {
			t.Fatalf("Find = %v, want a ComposeError", err)
		}
		if log.freezes != 0 {
			t.Fatalf("%d writes to the log after a failed composition", log.freezes)
		}
		c.err = nil
		if e := mustFind(t, s, want("s"), c.recipe()); !e.Injects() {
			t.Errorf("decision %s, want inject", label(e))
		}
	})
}

// TestI5_LeaderLeaves: the client whose request composes goes away; the others
// still get the one composition.
func TestI5_LeaderLeaves(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := newMemLog(), &composer{wait: make(chan struct{})}
		s := open(t, log, opt)
		ctx, leave := context.WithCancelCause(t.Context())
		left := make(chan error)
		go func() {
			_, err := s.Find(ctx, want("s"), c.recipe())
			left <- err
		}()
		for c.n.Load() == 0 {
		}
		leave(errors.New("left"))
		if err := <-left; err == nil {
			t.Fatal("Find of a client that left = nil error")
		}
		close(c.wait)
		e := mustFind(t, s, want("s"), c.recipe())
		if n := c.n.Load(); n != 1 || !strings.Contains(string(e.Rendering("r")), "composition 1 ") {
			t.Errorf("composed %d times, got %q; want the first composition", n, e.Rendering("r"))
		}
	})
}

// TestI13_EmptyIsBare: no text means no byte and no list.
func TestI13_EmptyIsBare(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := newMemLog(), &composer{empty: true}
		e := mustFind(t, open(t, log, opt), want("s"), c.recipe())
		if e.Injects() || e.Why != "empty" || e.Rendering("r") != nil || e.Prefix != "" {
			t.Errorf("epoch %+v, want bare because empty", e)
		}
		for _, a := range log.anchors {
			if a.Messages != nil || a.Renderings != nil {
				t.Errorf("anchor holds %v and %v, want nothing", a.Messages, a.Renderings)
			}
		}
	})
}

// TestI2_ForeignHistory: a history signed without our prefix never gets one.
func TestI2_ForeignHistory(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := newMemLog(), &composer{}
		s := open(t, log, opt)
		w := want("s")
		w.SignedHistory = true
		if e := mustFind(t, s, w, c.recipe()); label(e) != "bare; foreign_history" {
			t.Errorf("decision %q, want bare; foreign_history", label(e))
		}
		// A later request without signatures stays bare: the decision is frozen.
		if e := mustFind(t, s, want("s"), c.recipe()); e.Injects() {
			t.Error("the session was injected later")
		}
	})
}

func TestI6_TenantsDoNotMeet(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		s, c := open(t, newMemLog(), opt), &composer{}
		a := mustFind(t, s, Want{Key: logsink.Key{Tenant: "a", Session: "same"}}, c.recipe())
		b := mustFind(t, s, Want{Key: logsink.Key{Tenant: "b", Session: "same"}}, c.recipe())
		if string(a.Rendering("r")) == string(b.Rendering("r")) {
			t.Error("two tenants with one session id share a prefix")
		}
	})
}

// TestPending: what went out bare while the log was down is anchored so once it
// answers, and stays so.
func TestPending(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		synctest.Test(t, func(t *testing.T) {
			log, c := newMemLog(), &composer{}
			s, err := New(log, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			log.set(func() { log.down = true })
			if _, ok := s.Remember(want("s"), c.recipe(), "log_down"); !ok {
				t.Fatal("Remember = false")
			}
			if e := mustFind(t, s, want("s"), c.recipe()); label(e) != "bare; log_down" {
				t.Fatalf("while the log is down the session is %q, want bare; log_down", label(e))
			}
			log.set(func() { log.down = false })
			time.Sleep(1100 * time.Millisecond)
			synctest.Wait()
			if len(log.anchors) != 1 {
				t.Fatalf("%d anchors after the log came back, want 1", len(log.anchors))
			}
			if e := mustFind(t, s, want("s"), c.recipe()); e.Injects() {
				t.Error("the session was injected after it began bare")
			}
			if n := c.n.Load(); n != 0 {
				t.Errorf("composed %d times, want 0", n)
			}
		})
	})
}

func TestI10_PendingIsBounded(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log := newMemLog()
		log.down = true
		s, r := open(t, log, opt), (&composer{}).recipe()
		for i := range maxPending {
			if _, ok := s.Remember(want(fmt.Sprint(i)), r, "log_down"); !ok {
				t.Fatalf("Remember number %d = false", i)
			}
		}
		if _, ok := s.Remember(want("one more"), r, "log_down"); ok {
			t.Errorf("Remember took %d sessions", maxPending+1)
		}
	})
}

func TestIdleLimit(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		now := time.Unix(1_800_000_000, 0)
		log, c := newMemLog(), &composer{}
		opt.IdleLimit, opt.Now = time.Hour, func() time.Time { return now }
		s := open(t, log, opt)
		number := func(s *Store) int { return mustFind(t, s, want("s"), c.recipe()).Number }
		if n := number(s); n != 1 {
			t.Fatalf("epoch %d, want 1", n)
		}
		now = now.Add(59 * time.Minute)
		if n := number(s); n != 1 {
			t.Errorf("epoch %d after 59 minutes, want 1", n)
		}
		now = now.Add(61 * time.Minute)
		if n := number(s); n != 2 {
			t.Errorf("epoch %d after 61 idle minutes, want 2", n)
		}
		// A process that has not seen the session asks the log when it was last used.
		log.active[want("s").Key] = now
		now = now.Add(2 * time.Hour)
		if n := number(open(t, log, opt)); n != 3 {
			t.Errorf("epoch %d in another process after 2 idle hours, want 3", n)
		}
	})
}

// TestPanicStaysInItsSession: a fault while rendering is an error of that
// request, not the end of the process.
func TestPanicStaysInItsSession(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		s := open(t, newMemLog(), opt)
		r := (&composer{}).recipe()
		r.Render = func([]logsink.Message) ([]logsink.Rendering, error) { panic("render") }
		if _, err := s.Find(t.Context(), want("s"), r); err == nil || !strings.Contains(err.Error(), "BUG") {
			t.Errorf("Find = %v, want an error that says BUG", err)
		}
		mustFind(t, s, want("other"), (&composer{}).recipe())
	})
}

// TestSharedBytes: ten thousand sessions with one opener hold its bytes once.
func TestSharedBytes(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		s := open(t, newMemLog(), opt)
		r := &Recipe{Render: render, Compose: func(context.Context, contrib.Session) (contrib.Result, error) {
			return contrib.Result{Messages: []contrib.Message{{Role: "user", Text: "opener"}}}, nil
		}}
		a, b := mustFind(t, s, want("a"), r), mustFind(t, s, want("b"), r)
		if &a.Rendering("r")[0] != &b.Rendering("r")[0] {
			t.Error("two sessions with one opener hold its bytes twice")
		}
	})
}

func BenchmarkFindKnown(b *testing.B) {
	for _, n := range []int{10, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			log := newMemLog()
			s, err := New(log, Options{CacheBytes: int64(n)*epochCost + 1<<20})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			e := &Epoch{Decision: logsink.Bare}
			for i := range n {
				k := want(fmt.Sprint(i)).Key
				own := &Epoch{Key: k, Decision: e.Decision}
				s.cache.Set(s.hash(k), own, epochCost)
			}
			s.cache.Wait()
			r := (&composer{empty: true}).recipe()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := s.Find(b.Context(), want("0"), r); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// label tells what an epoch decided.
func label(e *Epoch) string {
	if e.Injects() {
		return e.Prefix
	}
	return "bare; " + e.Why
}
