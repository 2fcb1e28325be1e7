package logsink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/internal/panics"
)

// Redis is the log of many replicas: a Redis or Valkey server from 6.2 on, by
// itself, under Sentinels, or a Cluster.
//
// Sessions are spread over 64 buckets, each of which is one hash slot with its
// own indexes, so that what belongs together is written in one atomic step by a
// script (redis_script.go says what the keys hold). Blobs lie in slots of their
// own: they are written before whatever names them, and dropped long after.
//
// Every step may be repeated: an anchor is stored if its epoch has none, records
// under their ids, blobs under their digests. So a lost reply, a moved slot, or
// a client library that tries again makes nothing twice.
type Redis struct {
	config    Config // immutable
	client    redis.UniversalClient
	durable   durability // immutable once open
	known     openers
	lost      func(EpochRef) // set before use, or nil
	guarantee string         // what checkDurability found; immutable once open
	sure      bool           // the same; immutable once open
	grace     time.Duration  // how long a blob that nothing names is kept; immutable
	bell      chan struct{}  // an epoch may have ended elsewhere

	deaf  context.CancelFunc // ends hark
	harks sync.WaitGroup

	// closed is set under mu; calls under way are counted under its read lock.
	mu     sync.RWMutex
	closed bool
	calls  sync.WaitGroup
}

var (
	_ Log    = (*Redis)(nil)
	_ Reader = (*Redis)(nil)
)

func init() {
	redis.SetLogger(silence{}) // errors are returned too, and told where they matter
	for _, scheme := range []string{"redis", "rediss", "redis+sentinel", "rediss+sentinel"} {
		Register(scheme, Backend{
			Open: func(ctx context.Context, path string, c Config) (Log, error) {
				return OpenRedis(ctx, scheme+":"+path, c)
			},
			OpenReader: func(ctx context.Context, path string, c Config) (Reader, error) {
				return OpenRedisReader(ctx, scheme+":"+path, c)
			},
		})
	}
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// OpenRedis opens the log at a URL (redis_url.go) for writing, and checks that
// the server gives what c.Durability asks for.
func OpenRedis(ctx context.Context, url string, c Config) (*Redis, error) {
	s, err := openRedis(ctx, url, c)
	if err != nil {
		return nil, err
	}
	err = s.checkDurability(ctx)
	if err == nil {
		err = s.noteFormat(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open log %s: %w", url, err), s.Close())
	}
	ctx, s.deaf = context.WithCancel(context.WithoutCancel(ctx))
	s.harks.Go(func() { s.hark(ctx) })
	return s, nil
}

// OpenRedisReader opens the log at a URL to read. What it gives is a whole
// Redis: nothing but its user's rights keeps it from writing.
func OpenRedisReader(ctx context.Context, url string, c Config) (*Redis, error) {
	return openRedis(ctx, url, c)
}

func openRedis(ctx context.Context, url string, c Config) (*Redis, error) {
	c = c.withDefaults()
	o, err := redisOptions(url, c)
	if err != nil {
		return nil, err
	}
	s := &Redis{config: c, client: redis.NewUniversalClient(o), grace: blobGrace, bell: make(chan struct{}, 1), deaf: func() {}}
	if err := s.checkFormat(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open log %s: %w", url, err), s.Close())
	}
	return s, nil
}

// Freeze implements Log.
func (s *Redis) Freeze(ctx context.Context, a *Anchor) (*Anchor, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	f := newRedisFreezing(a)
	there, err := call(ctx, s, func(ctx context.Context) (*Anchor, error) { return s.freeze(ctx, f) })
	if err != nil {
		return nil, fmt.Errorf("cannot freeze epoch %d of session %q: %w", a.Epoch, a.Session, err)
	}
	failpoint.Hit(failpoint.Logged)
	if there != nil {
		return there, nil
	}
	return a, nil
}

// Current implements Log.
func (s *Redis) Current(ctx context.Context, k Key) (*Anchor, error) {
	a, err := call(ctx, s, func(ctx context.Context) (*Anchor, error) { return s.current(ctx, k) })
	if err != nil {
		return nil, fmt.Errorf("cannot read the anchor of session %q: %w", k.Session, err)
	}
	return a, nil
}

// Append implements Log.
func (s *Redis) Append(ctx context.Context, recs []Record, blobs []Blob) error {
	pages, _, err := pack(recs, nil)
	if err != nil {
		return err
	}
	owned := cloneBlobs(blobs) // the call may outlive its caller
	_, err = call(ctx, s, func(ctx context.Context) (none, error) { return none{}, s.append(ctx, pages, owned) })
	if err != nil {
		return fmt.Errorf("cannot append %d records: %w", len(recs), err)
	}
	return nil
}

// Close waits for the calls under way and closes the connections. Closing twice
// is closing once.
func (s *Redis) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	s.deaf()
	over := make(chan struct{})
	go func() { defer close(over); s.calls.Wait(); s.harks.Wait() }()
	select {
	case <-over:
	case <-time.After(closeTime):
	}
	if again {
		<-over
		return nil
	}
	err := s.client.Close() // calls that are still under way fail now
	<-over
	if err != nil {
		return fmt.Errorf("cannot close header log: %w", err)
	}
	return nil
}

// closeTime is how long calls may take to their own end when the log is closed: a
// server that hangs would keep each until its deadline.
const closeTime = 2 * time.Second

// none is the answer of a call that has none.
type none struct{}

// call runs f in a goroutine of its own, because go-redis notices that a
// deadline has passed, but not that a context was cancelled. f must own what it
// uses: it goes on when ctx ends, until the deadline or a timeout of the
// connection.
func call[T any](ctx context.Context, s *Redis, f func(ctx context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var nothing T
	if ctx.Err() != nil {
		return nothing, gone(ctx)
	}
	if !s.enter() {
		return nothing, errClosed
	}
	own, cancel := detached(ctx)
	done := make(chan answer, 1)
	go func() {
		defer s.calls.Done()
		defer cancel()
		var a answer
		defer func() {
			if p := recover(); p != nil { // a fault of ours must not end the process
				a.err = fmt.Errorf("BUG: a call of the log %w", panics.Recovered(p))
			}
			done <- a
		}()
		a.value, a.err = f(own)
	}()
	select {
	case a := <-done:
		return a.value, unavailable(a.err)
	case <-ctx.Done():
		return nothing, gone(ctx)
	}
}

func (s *Redis) enter() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.calls.Add(1)
	return true
}

// callTimeout bounds a call whose caller set no deadline, or has left.
const callTimeout = 10 * time.Second

// detached is ctx without its cancellation, with its deadline.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	own := context.WithoutCancel(ctx)
	if at, ok := ctx.Deadline(); ok {
		return context.WithDeadline(own, at)
	}
	return context.WithTimeout(own, callTimeout)
}

// unavailable gives what go-redis and the server say its meaning: only what is
// known to be something else does not mean that the log cannot be used now.
func unavailable(err error) error {
	for _, known := range []error{nil, ErrUnavailable, ErrNoSession, ErrNoThread, ErrNoBlob, ErrCorrupt, errRefused} {
		if errors.Is(err, known) {
			return err
		}
	}
	if strings.HasPrefix(err.Error(), "BUG: ") {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, advise(err))
}

// errRefused is wrapped by errors that blame what was given.
var errRefused = errors.New("the log does not take it")

// advise makes errors of go-redis tell an operator what to look at.
func advise(err error) error {
	var op *net.OpError
	switch {
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("no connection was free in time: %w", err)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("the server cannot be reached: %w", err)
	case redis.HasErrorPrefix(err, "NOAUTH"):
		return fmt.Errorf("the server wants a password; set log.redis.password: %w", err)
	case redis.HasErrorPrefix(err, "WRONGPASS"):
		return fmt.Errorf("the server does not take log.redis.username and log.redis.password: %w", err)
	case redis.HasErrorPrefix(err, "NOPERM"):
		return fmt.Errorf("the user of log.redis.username may not do what the log needs; configs/redis.conf has such a user: %w", err)
	case redis.HasErrorPrefix(err, "NOREPLICAS"):
		return fmt.Errorf("the server has fewer replicas than its min-replicas-to-write and takes no writes: %w", err)
	case strings.Contains(err.Error(), "cluster support disabled"):
		return fmt.Errorf("the server is no cluster, as several addresses in log.path or cluster=true say: %w", err)
	case strings.Contains(err.Error(), "DB index is out of range"):
		return fmt.Errorf("the server has no database of the number at the end of log.path: %w", err)
	case redis.IsOOMError(err), strings.Contains(err.Error(), "OOM command not allowed"):
		return fmt.Errorf("the server is full (maxmemory); give it room, or keep less with log.retention: %w", err)
	}
	return err
}

// torn is the error of a log that contradicts itself.
func torn(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrCorrupt, fmt.Errorf(format, args...))
}
