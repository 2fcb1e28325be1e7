package prefixstore

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A lossyLog is a memLog that can be emptied.
type lossyLog struct {
	*memLog
	tell func(logsink.EpochRef)
}

func (l *lossyLog) OnLost(f func(logsink.EpochRef)) { l.tell = f }

// lose empties the log, and tells of an epoch as the next record of it would.
func (l *lossyLog) lose(refs ...logsink.EpochRef) {
	l.set(func() { clear(l.anchors); clear(l.last) })
	for _, ref := range refs {
		l.tell(ref)
	}
}

// openLossy opens a store over a log that can be emptied, with one epoch of
// session a in both. A cache that takes late has taken it when the next came.
func openLossy(t *testing.T, opt Options) (*lossyLog, *Store, *composer, *Epoch) {
	t.Helper()
	l, c := &lossyLog{memLog: newMemLog()}, &composer{}
	s := open(t, l, opt)
	e := mustFind(t, s, want("a"), c.recipe())
	if opt.FillCache != nil {
		mustFind(t, s, want("next"), (&composer{}).recipe())
	}
	s.cache.Wait()
	return l, s, c, e
}

// everyHoldingCache runs a test in a bubble over each cache that holds what is
// asked for again: there must be a copy to put back.
func everyHoldingCache(t *testing.T, f func(t *testing.T, opt Options)) {
	for _, name := range []string{"cache", "takes late"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, caches[name]()) })
		})
	}
}

// TestI2_LostAnchorIsPutBack: what the log lost comes back from memory as it
// was, all of it, and nothing is composed anew.
func TestI2_LostAnchorIsPutBack(t *testing.T) {
	everyHoldingCache(t, func(t *testing.T, opt Options) {
		l, s, c, e := openLossy(t, opt)
		ref := logsink.EpochRef{Key: e.Key, Epoch: 1}
		before := *l.anchors[ref]
		l.lose(ref, ref) // two records of it
		synctest.Wait()
		after, ok := l.anchors[ref]
		if !ok {
			t.Fatal("the anchor is not back in the log")
		}
		if d := cmp.Diff(before, *after); d != "" {
			t.Errorf("the anchor that was put back differs (-was +is):\n%s", d)
		}
		if restored, replaced := s.Losses(); restored != 1 || replaced != 0 {
			t.Errorf("Losses = %d, %d; want 1 restored", restored, replaced)
		}
		if n := c.n.Load(); n != 1 {
			t.Errorf("composed %d times, want once", n)
		}
	})
}

// TestI2_LostAnchorWasReplaced: another process was faster. Here the session
// goes on with its bytes, and it is counted.
func TestI2_LostAnchorWasReplaced(t *testing.T) {
	everyHoldingCache(t, func(t *testing.T, opt Options) {
		l, s, c, e := openLossy(t, opt)
		ref := logsink.EpochRef{Key: e.Key, Epoch: 1}
		other := open(t, l.memLog, Options{})
		l.lose()
		mustFind(t, other, want("a"), c.recipe())
		l.tell(ref)
		synctest.Wait()
		if restored, replaced := s.Losses(); restored != 0 || replaced != 1 {
			t.Errorf("Losses = %d, %d; want 1 replaced", restored, replaced)
		}
		if again := mustFind(t, s, want("a"), c.recipe()); again.Prefix != e.Prefix {
			t.Errorf("the session goes on with %s, want its own %s", again.Prefix, e.Prefix)
		}
	})
}

// Of sessions that this process does not know there is nothing to put back, and
// while the log is down it waits for the next record.
func TestLostAnchorsOfOthers(t *testing.T) {
	everyHoldingCache(t, func(t *testing.T, opt Options) {
		l, s, _, e := openLossy(t, opt)
		ref := logsink.EpochRef{Key: e.Key, Epoch: 1}
		l.set(func() { l.down = true })
		l.lose(ref, logsink.EpochRef{Key: want("b").Key, Epoch: 1}, logsink.EpochRef{Key: e.Key, Epoch: 2})
		synctest.Wait()
		l.set(func() { l.down = false })
		l.tell(logsink.EpochRef{Key: e.Key, Epoch: 2}) // which another process has
		synctest.Wait()
		if restored, _ := s.Losses(); restored != 0 {
			t.Errorf("restored %d anchors for an epoch that is not known here", restored)
		}
		if _, err := l.Current(t.Context(), want("b").Key); !errors.Is(err, logsink.ErrNoSession) {
			t.Errorf("Current of an unknown session = %v, want ErrNoSession", err)
		}
		l.tell(ref)
		synctest.Wait()
		if restored, _ := s.Losses(); restored != 1 {
			t.Errorf("restored %d anchors, want the one that is known", restored)
		}
	})
}

// TestLostAnchorWithoutACopy: who has no copy puts nothing back, and makes
// nothing up in its stead.
func TestLostAnchorWithoutACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s, c, e := openLossy(t, caches["drops all"]())
		ref := logsink.EpochRef{Key: e.Key, Epoch: 1}
		l.lose(ref)
		synctest.Wait()
		if restored, replaced := s.Losses(); restored != 0 || replaced != 0 {
			t.Errorf("Losses = %d, %d; want none", restored, replaced)
		}
		if n := c.n.Load(); n != 1 || l.epoch(e) != nil {
			t.Errorf("composed %d times, the log has %+v; want once, and nothing", n, l.epoch(e))
		}
	})
}
