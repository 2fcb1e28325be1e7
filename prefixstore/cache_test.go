package prefixstore

import (
	"fmt"
	"sync"
	"testing"
)

// caches are how a store's cache may behave: as one hopes; refuse everything, as
// ristretto does with what is larger than all of it; or take everything late.
var caches = map[string]func() Options{
	"cache":      func() Options { return Options{} },
	"drops all":  func() Options { return Options{CacheBytes: 1} },
	"takes late": func() Options { return Options{FillCache: new(late).fill} },
}

// everyCache runs a test over each of them.
func everyCache(t *testing.T, f func(t *testing.T, opt Options)) {
	for name, opt := range caches {
		t.Run(name, func(t *testing.T) { f(t, opt()) })
	}
}

// late puts into a cache what it was handed the time before: when a session is
// at its second epoch, the first comes into the cache.
type late struct {
	mu   sync.Mutex // guards last
	last func()
}

func (l *late) fill(put func()) {
	l.mu.Lock()
	last := l.last
	l.last = put
	l.mu.Unlock()
	if last != nil {
		last()
	}
}

// TestCachesDiffer: what the tests over every cache run over is what it says.
func TestCachesDiffer(t *testing.T) {
	f := func(cache string, atOnce, later bool) {
		t.Helper()
		s, r := open(t, newMemLog(), caches[cache]()), (&composer{}).recipe()
		holds := func() bool { s.cache.Wait(); return s.known(want("s").Key) != nil }
		mustFind(t, s, want("s"), r)
		if holds() != atOnce {
			t.Errorf("%s: holds a session at once = %v, want %v", cache, !atOnce, atOnce)
		}
		mustFind(t, s, want("another"), r)
		if holds() != later {
			t.Errorf("%s: holds a session after another = %v, want %v", cache, !later, later)
		}
	}
	f("cache", true, true)
	f("drops all", false, false)
	f("takes late", false, true)
}

// TestI2_LateCacheBringsNoOldEpochBack: another process resumed the session, and
// this one has learnt of it from the log. An earlier epoch that comes into the
// cache only now is over, and no request goes back to it.
func TestI2_LateCacheBringsNoOldEpochBack(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := secretive{newMemLog()}, &composer{}
		s := open(t, log, opt)
		mustFind(t, s, want("s"), c.recipe())
		resumed := want("s")
		resumed.Resume = "token"
		mustFind(t, open(t, log, Options{}), resumed, c.recipe())
		for _, w := range []Want{resumed, want("s"), want("s")} {
			if e := mustFind(t, s, w, c.recipe()); e.Number != 2 {
				t.Errorf("after the resume a request is of epoch %d, want 2", e.Number)
			}
			s.cache.Wait()
		}
		if n := c.n.Load(); n != 2 {
			t.Errorf("composed %d times for 2 epochs", n)
		}
	})
}

// TestInvariant4_TwoStores: sessions begin, go on and are resumed at two stores
// over one log at once. What a request gets is what the log has; no agent is sent
// back to an epoch before the one it had; and nothing is composed for requests
// that begin no epoch.
func TestInvariant4_TwoStores(t *testing.T) {
	everyCache(t, func(t *testing.T, opt Options) {
		log, c := newMemLog(), &composer{}
		stores := []*Store{open(t, log, opt), open(t, log, opt)}
		const sessions, resumes = 20, 4
		var agents sync.WaitGroup
		for i := range sessions {
			for at, s := range stores {
				a := &agent{t: t, store: s, log: log, session: fmt.Sprint("s", i), name: fmt.Sprint("agent ", at)}
				agents.Go(func() { a.play(resumes, c.recipe()) })
			}
		}
		agents.Wait()
		// Two that begin or resume at once may both compose, for one epoch.
		if n, most := c.n.Load(), int64(len(stores)*sessions*(1+resumes)); n > most {
			t.Errorf("composed %d times, want at most %d", n, most)
		}
		if n, least, most := len(log.anchors), sessions*(1+resumes), sessions*(1+len(stores)*resumes); n < least || n > most {
			t.Errorf("%d anchors, want %d to %d", n, least, most)
		}
	})
}

// An agent has a session with one store; others may have the same session.
type agent struct {
	t             *testing.T
	store         *Store
	log           *memLog
	session, name string
	epoch         int // the latest that it had
}

// play begins or joins the session, and resumes it now and then.
func (a *agent) play(resumes int, r *Recipe) {
	w := want(a.session)
	for n := range 1 + resumes {
		if n > 0 {
			w.Resume = fmt.Sprint(a.name, n)
		}
		for range 6 {
			a.request(w, r)
			w.Resume = ""
		}
	}
}

func (a *agent) request(w Want, r *Recipe) {
	e, err := a.store.Find(a.t.Context(), w, r)
	if err != nil {
		a.t.Errorf("Find(%s) = %v", a.session, err)
		return
	}
	if e.Number < a.epoch {
		a.t.Errorf("a request of session %s is of epoch %d, one before it of %d", a.session, e.Number, a.epoch)
	}
	a.epoch = e.Number
	if has := a.log.epoch(e); has == nil || has.Prefix != e.Prefix || string(has.Renderings[0].Bytes) != string(e.Rendering("r")) {
		a.t.Errorf("epoch %d of session %s is %q; the log has %+v", e.Number, a.session, e.Rendering("r"), has)
	}
}
