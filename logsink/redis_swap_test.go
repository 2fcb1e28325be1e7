package logsink_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/seed-9236c7ca/preface/internal/netfault"
	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// A pairing is a hook of the client library that sends what two goroutines ask
// at the same time over one connection, one behind the other, so that a fault
// can swap the replies. It is what a library does that mixes up its connections.
type pairing struct {
	conn *redis.Client

	mu      sync.Mutex
	waiting *asked // nil if nobody waits for another
	pairs   string // part of a key of what is sent in pairs; "" for nothing
}

type asked struct {
	cmds []redis.Cmder
	done chan error
}

func (p *pairing) DialHook(next redis.DialHook) redis.DialHook { return next }

func (p *pairing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return p.ask(ctx, []redis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

func (p *pairing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return p.ask(ctx, cmds, func() error { return next(ctx, cmds) })
	}
}

// ask waits for another who asks, and asks for both: by turns a command of each.
// Who waits until nobody else can come asks alone.
func (p *pairing) ask(ctx context.Context, cmds []redis.Cmder, alone func() error) error {
	p.mu.Lock()
	if p.pairs == "" || !strings.Contains(cmds[0].String(), p.pairs) {
		p.mu.Unlock()
		return alone()
	}
	first := p.waiting
	if first == nil {
		me := &asked{cmds, make(chan error, 1)}
		p.waiting = me
		p.mu.Unlock()
		if err := <-me.done; err != errAlone {
			return err
		}
		return alone()
	}
	p.waiting = nil
	p.mu.Unlock()
	pipe := p.conn.Pipeline()
	for i := range max(len(cmds), len(first.cmds)) {
		for _, list := range [][]redis.Cmder{first.cmds, cmds} {
			if i < len(list) {
				_ = pipe.Process(ctx, list[i]) // it is only queued
			}
		}
	}
	_, _ = pipe.Exec(ctx) // each command has its error
	first.done <- firstError(first.cmds)
	return firstError(cmds)
}

var errAlone = errors.New("nobody else asks")

func firstError(cmds []redis.Cmder) error {
	for _, c := range cmds {
		if err := c.Err(); err != nil {
			return err
		}
	}
	return nil
}

// left sends on who waits for another, who has ended.
func (p *pairing) left() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pairs = ""
	if p.waiting != nil {
		p.waiting.done <- errAlone
		p.waiting = nil
	}
}

// both runs f for two sessions at once. Of what they ask of such keys the first
// two replies are swapped.
func (p *pairing) both(far *netfault.Proxy, keys string, f func(i int)) {
	p.mu.Lock()
	p.pairs = keys
	p.mu.Unlock()
	far.SwapReplies(1)
	var two sync.WaitGroup
	for i := range 2 {
		two.Go(func() {
			defer p.left()
			f(i)
		})
	}
	two.Wait()
	far.Heal()
}

// TestI6_SwappedReplies: two replies on one connection are swapped, and each
// session is given the other's. It is an error, or the right thing is given; the
// other's never, and never that a thing is stored that is not.
func TestI6_SwappedReplies(t *testing.T) {
	t.Parallel()
	p, l, direct := far(t, redistest.Start(t), logsink.DurableMemory)
	pair := &pairing{conn: redis.NewClient(&redis.Options{Addr: p.Addr(), PoolSize: 1, MaxRetries: -1, DisableIdentity: true, ContextTimeoutEnabled: true})}
	t.Cleanup(func() { pair.conn.Close() })
	if err := pair.conn.Ping(t.Context()).Err(); err != nil { // so that no greeting is swapped
		t.Fatal(err)
	}
	l.AddHook(pair)
	f := func(name, of string, prepare, do func(k logsink.Key) error, check func(k logsink.Key, err error)) {
		t.Helper()
		var keys []logsink.Key
		for i := range 2 {
			keys = append(keys, logsink.Key{Tenant: fmt.Sprint("tenant-", i), Session: fmt.Sprint(name, "-", i)})
			if err := prepare(keys[i]); err != nil {
				t.Fatal(err)
			}
		}
		before := p.Counts().Swapped
		errs := make([]error, 2)
		pair.both(p, of, func(i int) { errs[i] = do(keys[i]) })
		if p.Counts().Swapped == before {
			t.Errorf("%s: no replies were swapped", name)
		}
		for i, k := range keys {
			if errs[i] != nil {
				t.Logf("%s: %v", name, errs[i])
			}
			check(k, errs[i])
		}
	}
	anchor := func(k logsink.Key) *logsink.Anchor { return logtest.Anchor(k, 1, "opener of "+k.Session) }
	ours := func(k logsink.Key, a *logsink.Anchor, err error) error {
		if err == nil && (a.Key != k || !strings.HasSuffix(textOf(a), " of "+k.Session)) {
			t.Errorf("I6: session %s was given the anchor of %s: %q", k.Session, a.Session, textOf(a))
		}
		return err
	}
	ctx := t.Context()
	freeze := func(k logsink.Key) error { _, err := direct.Freeze(ctx, anchor(k)); return err }
	request := func(k logsink.Key) error {
		head, blob := logtest.Header(k, "main", "h", "system of "+k.Session)
		return direct.Append(ctx, []logsink.Record{head, logtest.Request(k, "main", "r", "h", 1)}, []logsink.Blob{blob})
	}
	nothing := func(logsink.Key) error { return nil }
	unavailable := func(name string) func(logsink.Key, error) {
		return func(_ logsink.Key, err error) {
			if err == nil || errors.Is(err, logsink.ErrNoSession) {
				t.Errorf("%s whose reply was swapped = %v, want another error", name, err)
			}
		}
	}
	f("Current", ":session:", freeze, func(k logsink.Key) error { a, err := l.Current(ctx, k); return ours(k, a, err) }, unavailable("Current"))
	// One of the two has an anchor: none is told that it has none, or has the other's.
	f("Current of one", ":session:", func(k logsink.Key) error {
		if strings.HasSuffix(k.Session, "0") {
			return freeze(k)
		}
		return nil
	}, func(k logsink.Key) error { a, err := l.Current(ctx, k); return ours(k, a, err) }, unavailable("Current of one"))
	f("Last", ":threads:", request, func(k logsink.Key) error {
		q, h, err := l.Last(ctx, k, "main")
		if err == nil && (q.Key != k || h == nil || h.Key != k) {
			t.Errorf("I6: Last of session %s = %v, %v", k.Session, q, h)
		}
		return err
	}, func(logsink.Key, error) {})
	f("ReadBlob", ":blob:", request, func(k logsink.Key) error {
		want := "system of " + k.Session
		b, err := l.ReadBlob(ctx, logsink.Sum([]byte(want)))
		if err == nil && string(b) != want {
			t.Errorf("I6: ReadBlob = %q, want %q", b, want)
		}
		return err
	}, unavailable("ReadBlob"))
	f("Records", ":pages:", request, func(k logsink.Key) error {
		return l.Records(ctx, k, 0, func(_ int64, r logsink.Record) bool {
			if r.Of().Key != k {
				t.Errorf("I6: Records of session %s gave one of %s", k.Session, r.Of().Session)
			}
			return true
		})
	}, unavailable("Records"))
	f("Anchors", ":session:", freeze, func(k logsink.Key) error {
		list, err := l.Anchors(ctx, k)
		for _, a := range list {
			_ = ours(k, a, nil)
		}
		return err
	}, unavailable("Anchors"))
	secrets := map[string]string{}
	f("Secret", ":secret:", func(k logsink.Key) error {
		b, err := direct.Secret(ctx, k.Session)
		secrets[k.Session] = string(b)
		return err
	}, func(k logsink.Key) error {
		b, err := l.Secret(ctx, k.Session)
		if err == nil && string(b) != secrets[k.Session] {
			t.Errorf("I6: the secret %s is another's", k.Session)
		}
		return err
	}, unavailable("Secret"))
	// One of the two comes second: it is not told that its anchor was stored.
	f("Freeze", ":session:", func(k logsink.Key) error {
		if strings.HasSuffix(k.Session, "0") {
			return freeze(k)
		}
		return nil
	}, func(k logsink.Key) error {
		a, err := l.Freeze(ctx, logtest.Anchor(k, 1, "second opener of "+k.Session))
		if err == nil && strings.HasSuffix(k.Session, "0") && !strings.HasPrefix(textOf(a), "opener") {
			t.Errorf("I5: Freeze = %q, and another was first", textOf(a))
		}
		return ours(k, a, err)
	}, func(k logsink.Key, err error) {
		list, lerr := direct.Anchors(ctx, k)
		if err == nil && (lerr != nil || len(list) != 1) {
			t.Errorf("I4: Freeze went well and session %s has %d anchors (%v)", k.Session, len(list), lerr)
		}
	})
	// The blobs of one are there, those of the other are not.
	f("Freeze blobs", ":blob:", func(k logsink.Key) error {
		if strings.HasSuffix(k.Session, "0") {
			k.Tenant = "a third"
			return freeze(k)
		}
		return nil
	}, func(k logsink.Key) error {
		a, err := l.Freeze(ctx, anchor(k))
		return ours(k, a, err)
	}, func(k logsink.Key, err error) {
		a, cerr := direct.Current(ctx, k)
		if !errors.Is(cerr, logsink.ErrNoSession) {
			if ours(k, a, cerr) != nil {
				t.Errorf("I4: Freeze = %v, and then Current = %v", err, cerr)
			}
		}
	})
	f("Append", ":pages:", nothing, func(k logsink.Key) error {
		return l.Append(ctx, []logsink.Record{logtest.Request(k, "main", "r", "", 1)}, nil)
	}, unavailable("Append"))
}
