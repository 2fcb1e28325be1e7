package prefixstore

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

func TestResume(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		f := func(name string, do func(t *testing.T, s *Store, r *Recipe)) {
			t.Run(name, func(t *testing.T) { do(t, open(t, newMemLog(), opt), (&composer{}).recipe()) })
		}
		resume := func(token string, signed bool) Want {
			w := want("s")
			w.Resume, w.SignedHistory = token, signed
			return w
		}
		expect := func(t *testing.T, e *Epoch, number int, text string) {
			t.Helper()
			if e.Number != number || !strings.Contains(string(e.Rendering("r")), text) {
				t.Errorf("epoch %d with %q, want %d with %q", e.Number, e.Rendering("r"), number, text)
			}
		}
		f("recomposes", func(t *testing.T, s *Store, r *Recipe) {
			expect(t, mustFind(t, s, want("s"), r), 1, "composition 1")
			expect(t, mustFind(t, s, resume("1", false), r), 2, "composition 2")
			expect(t, mustFind(t, s, want("s"), r), 2, "composition 2")
		})
		f("a repeated request is no second resume", func(t *testing.T, s *Store, r *Recipe) {
			mustFind(t, s, want("s"), r)
			e := mustFind(t, s, resume("1", false), r)
			expect(t, mustFind(t, s, resume("1", false), r), 2, "composition 2")
			e.Completed()
			expect(t, mustFind(t, s, resume("1", false), r), 3, "composition 3")
		})
		f("a token resumes once", func(t *testing.T, s *Store, r *Recipe) {
			mustFind(t, s, want("s"), r)
			mustFind(t, s, resume("a", false), r).Completed()
			expect(t, mustFind(t, s, resume("a", false), r), 2, "composition 2")
			expect(t, mustFind(t, s, resume("b", false), r), 3, "composition 3")
		})
		f("keeps the bytes of a signed history", func(t *testing.T, s *Store, r *Recipe) {
			mustFind(t, s, want("s"), r)
			e := mustFind(t, s, resume("1", true), r)
			expect(t, e, 2, "composition 1")
			if e.Why != "signed_history" {
				t.Errorf("why %q, want signed_history", e.Why)
			}
		})
		f("is bare for want of a prefix", func(t *testing.T, s *Store, r *Recipe) {
			mustFind(t, s, want("s"), r)
			e, err := s.Bare(t.Context(), resume("1", false), r, "compose_failed")
			if err != nil || e.Number != 2 || label(e) != "bare; compose_failed" {
				t.Errorf("Bare = epoch %d %q, %v; want 2, bare; compose_failed", e.Number, label(e), err)
			}
		})
		for _, token := range []string{"1", "a"} {
			f("resuming with "+token+" what is not known begins it", func(t *testing.T, s *Store, r *Recipe) {
				expect(t, mustFind(t, s, resume(token, false), r), 1, "composition 1")
				expect(t, mustFind(t, s, resume(token, false), r), 1, "composition 1")
			})
		}
		f("a token that began a session resumes nothing", func(t *testing.T, s *Store, r *Recipe) {
			mustFind(t, s, resume("a", false), r).Completed()
			expect(t, mustFind(t, s, resume("a", false), r), 1, "composition 1")
			expect(t, mustFind(t, s, resume("b", false), r), 2, "composition 2")
		})
	})
}

// A slowLog keeps the first reader of an anchor waiting with what it has read.
type slowLog struct {
	secretive
	first   atomic.Bool   // somebody has read
	reading chan struct{} // closed when it has read
	wait    chan struct{}
}

func (l *slowLog) Current(ctx context.Context, k logsink.Key) (*logsink.Anchor, error) {
	a, err := l.memLog.Current(ctx, k)
	if l.first.CompareAndSwap(false, true) {
		close(l.reading)
		<-l.wait
	}
	return a, err
}

// TestI2_SlowReaderBringsNoOldEpochBack: a request reads epoch 1 from the log
// while another resumes the session; those that follow are of epoch 2.
func TestI2_SlowReaderBringsNoOldEpochBack(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		mem, c := newMemLog(), &composer{}
		mustFind(t, open(t, mem, opt), want("s"), c.recipe())
		log := &slowLog{secretive: secretive{mem}, reading: make(chan struct{}), wait: make(chan struct{})}
		s := open(t, log, opt)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = s.Find(t.Context(), want("s"), c.recipe()) })
		<-log.reading
		resumed := want("s")
		resumed.Resume = "1"
		mustFind(t, s, resumed, c.recipe())
		s.cache.Wait()
		close(log.wait)
		wg.Wait()
		s.cache.Wait()
		if e := mustFind(t, s, want("s"), c.recipe()); e.Number != 2 {
			t.Errorf("after the resume a request is of epoch %d, want 2", e.Number)
		}
	})
}

// TestI2_ResumeReachesOtherProcesses: a client resumes its session at one
// process; within a second the others follow, with the same bytes.
func TestI2_ResumeReachesOtherProcesses(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		synctest.Test(t, func(t *testing.T) {
			log, c := newMemLog(), &composer{}
			var stores [2]*Store
			for i := range stores {
				s, err := New(log, opt)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				stores[i] = s
				mustFind(t, s, want("s"), c.recipe())
			}
			resumed := want("s")
			resumed.Resume = "1"
			e := mustFind(t, stores[1], resumed, c.recipe())
			time.Sleep(1100 * time.Millisecond) // the bubble's clock
			synctest.Wait()
			other := mustFind(t, stores[0], want("s"), c.recipe())
			if other.Number != 2 || string(other.Rendering("r")) != string(e.Rendering("r")) {
				t.Errorf("the other process is at epoch %d with %q, want 2 with %q", other.Number, other.Rendering("r"), e.Rendering("r"))
			}
		})
	})
}

// TestOperatorEndsEpoch: another process ends the epoch; within a second the
// next request starts a new one.
func TestOperatorEndsEpoch(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		synctest.Test(t, func(t *testing.T) {
			log, c := newMemLog(), &composer{}
			s, err := New(log, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			e := mustFind(t, s, want("s"), c.recipe())
			if err := log.EndEpoch(t.Context(), e.Key, e.Number); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1100 * time.Millisecond) // the bubble's clock
			synctest.Wait()
			for range 2 {
				if e := mustFind(t, s, want("s"), c.recipe()); e.Number != 2 || e.Reason != logsink.ReasonResume {
					t.Errorf("epoch %d (%s), want 2 (resume)", e.Number, e.Reason)
				}
			}
		})
	})
}

// TestI2_DroppedSessionBeginsOnce: a session that the log has dropped begins anew,
// once, however many of its epochs had ended before.
func TestI2_DroppedSessionBeginsOnce(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		synctest.Test(t, func(t *testing.T) {
			log := newMemLog()
			s, r := open(t, log, opt), (&composer{}).recipe()
			mustFind(t, s, want("s"), r)
			for _, token := range []string{"x", "y", "z"} {
				w := want("s")
				w.Resume = token
				mustFind(t, s, w, r)
			}
			mustFind(t, s, want("other"), r) // a cache that takes things late has the last epoch now
			synctest.Wait()
			log.set(func() { clear(log.anchors); clear(log.last) })
			s.cache.Clear()
			first := mustFind(t, s, want("s"), r)
			for range 5 {
				s.cache.Wait()
				if e := mustFind(t, s, want("s"), r); e.Number != 1 || string(e.Rendering("r")) != string(first.Rendering("r")) {
					t.Errorf("epoch %d with %q after epoch %d with %q, and nobody resumed", e.Number, e.Rendering("r"), first.Number, first.Rendering("r"))
				}
			}
		})
	})
}

// A ringing log tells when an epoch has ended elsewhere.
type ringing struct {
	*memLog
	bell chan struct{}
}

func (l ringing) Bell() <-chan struct{} { return l.bell }

// TestBell: what another process has ended is known as soon as the log rings,
// long before it would be asked for.
func TestBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := ringing{newMemLog(), make(chan struct{}, 1)}
		here, there := open(t, log, Options{}), open(t, log.memLog, Options{})
		r := (&composer{}).recipe()
		mustFind(t, here, want("s"), r)
		synctest.Wait()
		w := want("s")
		w.Resume = "1"
		mustFind(t, there, w, r)
		log.bell <- struct{}{}
		time.Sleep(2 * bellPause)
		synctest.Wait()
		if e := mustFind(t, here, want("s"), r); e.Number != 2 {
			t.Errorf("%v after the bell a request goes to epoch %d, want 2", 2*bellPause, e.Number)
		}
	})
}
