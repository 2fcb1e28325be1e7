package prefixstore

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/bits"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/dgraph-io/ristretto/v2"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/seed-9236c7ca/preface/internal/panics"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// Options configures a Store. Zero values mean the default.
type Options struct {
	CacheBytes     int64         // memory for epochs. Default 64 MiB, some 160,000 epochs
	LogTimeout     time.Duration // one read or write of the log. Default 1s
	ComposeTimeout time.Duration // one composition, all contributors. Default 2s
	// IdleLimit starts a new epoch when a session was idle for longer. Default
	// 0: never; idle time alone is no resume.
	IdleLimit time.Duration
	Version   string       // of the program, for anchors
	Logger    *slog.Logger // default: none
	// FillCache is handed what puts an epoch into the cache, and may do so late,
	// so that tests can show that the cache is never truth. Default: at once.
	FillCache func(put func())
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

func (o *Options) setDefaults() {
	o.CacheBytes = orDefault(o.CacheBytes, 64<<20)
	o.LogTimeout = orDefault(o.LogTimeout, time.Second)
	o.ComposeTimeout = orDefault(o.ComposeTimeout, 2*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FillCache == nil {
		o.FillCache = func(put func()) { put() }
	}
}

func orDefault[T int64 | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// A Recipe is how a route's sessions get their prefix. It is immutable; a
// configuration that is loaded anew brings new recipes, and running epochs
// never see them.
type Recipe struct {
	Route   string
	Config  string // hash of the configuration, for anchors
	Compose func(ctx context.Context, s contrib.Session) (contrib.Result, error)
	// Render turns messages into the bytes of every dialect.
	Render func(msgs []logsink.Message) ([]logsink.Rendering, error)
}

// A Want asks for the epoch that a request belongs to.
type Want struct {
	Key     logsink.Key
	Source  string          // where the session id came from, for the anchor
	Session contrib.Session // what contributors are told, if one composes
	// Resume is the client's signal that the session was resumed, empty if
	// none: "1", or a token that is new with each resume.
	Resume string
	// Bare decides, if the request begins an epoch, that it goes without a
	// prefix, and why.
	Bare string
	// SignedHistory says that the request's history is signed together with
	// what stood before it, so that a prefix can neither be added nor changed.
	SignedHistory bool
}

// A Store finds and freezes epochs. Its methods may be called from any number
// of goroutines.
type Store struct {
	log     logsink.Log                      // immutable
	opt     Options                          // immutable
	cache   *ristretto.Cache[uint64, *Epoch] // by hash of the session
	seed    maphash.Seed
	flights singleflight.Group // one look-up or composition per session
	places  chan struct{}      // one for each composition under way

	forgetful bool                  // the log may lose what it had; immutable
	lost      chan logsink.EpochRef // what it lost, as far as it was noticed
	restored  atomic.Int64
	replaced  atomic.Int64

	live    interner[Epoch]
	pending pending // epochs that are bare because the log was down

	// ended is the last epoch known to be over, of the sessions that were
	// resumed of late. One that is forgotten costs another process a stale
	// epoch until its cache lets go of it.
	ended  *lru.Cache[logsink.Key, int]
	ending sync.Mutex // one end at a time

	outage outage      // watch's alone
	away   atomic.Bool // the log did not answer when it was last asked

	stop context.CancelFunc
	done sync.WaitGroup
}

// New returns a store over a log, which it does not own. Close stops it.
func New(log logsink.Log, opt Options) (*Store, error) {
	opt.setDefaults()
	cache, err := ristretto.NewCache(&ristretto.Config[uint64, *Epoch]{
		NumCounters:        max(opt.CacheBytes/epochCost*10, 1000),
		MaxCost:            opt.CacheBytes,
		BufferItems:        64,
		IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache of %d bytes (cache.bytes): %w", opt.CacheBytes, err)
	}
	ended, err := lru.New[logsink.Key, int](maxEnded)
	if err != nil {
		panic("BUG: " + err.Error()) // only for a size below 1
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{ended: ended, places: make(chan struct{}, maxComposing), log: log, opt: opt, cache: cache, seed: maphash.MakeSeed(), stop: stop,
		live: interner[Epoch]{values: map[string]weak.Pointer[Epoch]{}}, pending: pending{epochs: map[logsink.Key]*pendingEpoch{}}}
	s.minds(log)
	s.done.Go(func() { s.watch(ctx) })
	return s, nil
}

// Close stops the store's goroutines and waits for them.
func (s *Store) Close() {
	s.stop()
	s.done.Wait()
	s.cache.Close()
}

// maxComposing bounds the compositions under way; more wait for a place, within
// their compose_timeout.
const maxComposing = 64

// maxEnded bounds the resumed sessions that are remembered, about 20 MB.
const maxEnded = 100_000

// epochCost is about what one cached epoch takes, its id included, without its
// share of the renderings' bytes.
const epochCost = 400

// ComposeError says that the contributors gave no prefix. Nothing was frozen.
type ComposeError struct{ Err error }

func (e *ComposeError) Error() string { return "cannot compose a prefix: " + e.Err.Error() }
func (e *ComposeError) Unwrap() error { return e.Err }

// Find returns the epoch that the request belongs to: the session's current
// one, or, if it has none or is resumed, a new one that is frozen first. An
// epoch in memory costs no look at the log.
//
// Errors: a *ComposeError, or one that wraps logsink.ErrUnavailable, or that of
// ctx. When ctx ends the work goes on for whoever else waits for it.
func (s *Store) Find(ctx context.Context, w Want, r *Recipe) (*Epoch, error) {
	if e := s.Live(w.Key, w.Resume); e != nil {
		return e, nil
	}
	e, err := s.fly(ctx, w, r)
	if err != nil {
		return nil, err
	}
	e.Touch(s.opt.Now())
	return e, nil
}

// Live returns the epoch that a request with this resume signal belongs to if
// it is in memory, or nil. It is Find for those who have nothing to freeze.
func (s *Store) Live(k logsink.Key, resume string) *Epoch {
	now := s.opt.Now()
	e := s.known(k)
	if e == nil || s.over(e, resume, now) {
		return nil
	}
	e.Touch(now)
	return e
}

// Peek returns the session's current epoch if it is in memory or in the log,
// or an error that wraps logsink.ErrNoSession. It never freezes anything.
func (s *Store) Peek(ctx context.Context, k logsink.Key) (*Epoch, error) {
	if e := s.known(k); e != nil {
		return e, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.LogTimeout)
	defer cancel()
	return s.current(ctx, k)
}

// known returns the epoch in memory, or nil. That it is asked for by name and
// not only by hash is checked: a collision must not cross sessions.
func (s *Store) known(k logsink.Key) *Epoch {
	if e, ok := s.cache.Get(s.hash(k)); ok && e.Key == k {
		return e
	}
	return s.pending.get(k)
}

// current reads the session's latest epoch from the log.
func (s *Store) current(ctx context.Context, k logsink.Key) (*Epoch, error) {
	a, err := s.log.Current(ctx, k)
	if err != nil {
		return nil, err
	}
	return s.keep(a, false), nil
}

// keep takes an anchor from the log into memory. Requests that run at the same
// time get the same Epoch, also when the cache drops it. Epochs before it are
// over: one that the cache still has, or takes late, is not to come back.
func (s *Store) keep(a *logsink.Anchor, born bool) *Epoch {
	if a.Epoch > 1 {
		s.end(a.Key, a.Epoch-1)
	}
	name := sessionName(a.Key) + "\x00" + strconv.Itoa(a.Epoch)
	e := s.live.intern(name, func() *Epoch { return newEpoch(a, born, s.forgetful) })
	s.opt.FillCache(func() { s.cache.Set(s.hash(a.Key), e, e.cost) })
	return e
}

// fly runs begin once for all requests that want the same of one session. The
// work has its own deadlines: the first caller may leave, the others still wait.
func (s *Store) fly(ctx context.Context, w Want, r *Recipe) (*Epoch, error) {
	flight := sessionName(w.Key) + "\x00" + w.Resume
	done := s.flights.DoChan(flight, func() (e any, err error) {
		defer func() {
			if p := recover(); p != nil { // singleflight would end the process
				err = fmt.Errorf("BUG: freezing an epoch of session %q %w", w.Key.Session, panics.Recovered(p))
			}
		}()
		return s.begin(context.WithoutCancel(ctx), w, r)
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*Epoch), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("cannot wait for the prefix of session %q: %w", w.Key.Session, context.Cause(ctx))
	}
}

// begin finds the session's epoch in the log, or freezes one.
func (s *Store) begin(ctx context.Context, w Want, r *Recipe) (*Epoch, error) {
	e, err := s.read(ctx, w.Key)
	switch {
	case errors.Is(err, logsink.ErrNoSession):
		s.ended.Remove(w.Key) // of a session that the log has dropped: its epochs begin anew
		return s.first(ctx, w, r)
	case err != nil:
		return nil, err
	case s.over(e, w.Resume, s.opt.Now()):
		return s.next(ctx, e, w, r)
	}
	return e, nil
}

// read is current under the log's deadline. What is pending comes first: the
// log cannot know it yet.
func (s *Store) read(ctx context.Context, k logsink.Key) (*Epoch, error) {
	if e := s.pending.get(k); e != nil {
		return e, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.LogTimeout)
	defer cancel()
	e, err := s.current(ctx, k)
	if err == nil && s.opt.IdleLimit > 0 {
		s.recall(ctx, e)
	}
	return e, err
}

func sessionName(k logsink.Key) string { return k.Tenant + "\x00" + k.Session }

// hash is where the cache has a session's epoch.
func (s *Store) hash(k logsink.Key) uint64 {
	return bits.RotateLeft64(maphash.String(s.seed, k.Tenant), 1) ^ maphash.String(s.seed, k.Session)
}
