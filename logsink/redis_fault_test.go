package logsink_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/internal/netfault"
	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// far opens a log whose server is behind a proxy, and the same log directly.
func far(t *testing.T, s *redistest.Server, durability string) (p *netfault.Proxy, l, direct *logsink.Redis) {
	t.Helper()
	p = netfault.New(t, s.Addr)
	c := logsink.Config{Durability: durability}
	l, err := logsink.OpenRedis(t.Context(), "redis://"+p.Addr(), c)
	opened(t, l, err)
	direct, err = logsink.OpenRedis(t.Context(), s.URL(), c)
	opened(t, direct, err)
	// From here on the server knows the scripts: what is lost is a reply to a write.
	for _, op := range operations {
		if _, err := op.do(t.Context(), direct, logsink.Key{Tenant: "t", Session: "warm"}, "nobody"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := direct.Current(t.Context(), logsink.Key{Tenant: "t", Session: "warm"}); err != nil {
		t.Fatal(err)
	}
	return p, l, direct
}

// An operation is one of those that write. It returns what its caller goes on
// with, as text.
type operation struct {
	name string
	key  string // part of a key of the step that counts
	do   func(ctx context.Context, l *logsink.Redis, k logsink.Key, by string) (string, error)
}

var operations = []operation{
	{"Freeze", ":session:", func(ctx context.Context, l *logsink.Redis, k logsink.Key, by string) (string, error) {
		a, err := l.Freeze(ctx, logtest.Anchor(k, 1, "opener of "+by))
		if err != nil {
			return "", err
		}
		return textOf(a), nil
	}},
	{"Append", ":pages:", func(ctx context.Context, l *logsink.Redis, k logsink.Key, by string) (string, error) {
		head, blob := logtest.Header(k, "main", "h1", "system of "+k.Session)
		return "", l.Append(ctx, []logsink.Record{head, logtest.Request(k, "main", "r1", "h1", 1)}, []logsink.Blob{blob})
	}},
	{"EndEpoch", ":ended", func(ctx context.Context, l *logsink.Redis, k logsink.Key, by string) (string, error) {
		return "", l.EndEpoch(ctx, k, 1)
	}},
	{"Secret", ":secret:", func(ctx context.Context, l *logsink.Redis, k logsink.Key, by string) (string, error) {
		b, err := l.Secret(ctx, k.Session)
		return string(b), err
	}},
}

// TestI5_LostReply: the reply to a write is lost, once, or each time until the
// network heals. The write has happened: it is there once, and whoever writes
// the same, or another of the same, meets it (D7).
func TestI5_LostReply(t *testing.T) {
	f := func(durability string, s *redistest.Server) {
		p, l, direct := far(t, s, durability)
		for _, op := range operations {
			for name, most := range map[string]int64{"once": 1, "always": 1 << 40} {
				t.Run(durability+"/"+op.name+"/"+name, func(t *testing.T) { loseReply(t, p, l, direct, op, most) })
			}
		}
	}
	f(logsink.DurableMemory, redistest.Start(t))
	master, _ := redistest.StartReplicas(t, 1)
	f("replicas=1", master)
}

func loseReply(t *testing.T, p *netfault.Proxy, l, direct *logsink.Redis, op operation, most int64) {
	k := logsink.Key{Tenant: "t", Session: t.Name()}
	var lost atomic.Int64
	p.SwallowReply(func(cmd []string) bool {
		return strings.HasPrefix(cmd[0], "eval") && strings.Contains(strings.Join(cmd, " "), op.key) && lost.Add(1) <= most
	})
	ctx, cancel := within()
	defer cancel()
	mine, err := op.do(ctx, l, k, "the first")
	if lost.Load() == 0 {
		t.Fatalf("no reply was lost")
	}
	if err != nil && !errors.Is(err, logsink.ErrUnavailable) {
		t.Errorf("%s whose reply is lost = %v, want ErrUnavailable at most", op.name, err)
	}
	if err == nil && most > 1 {
		t.Errorf("%s whose reply is always lost went well", op.name)
	}
	p.Heal()
	theirs, err := op.do(t.Context(), direct, k, "another")
	if err != nil {
		t.Fatal(err)
	}
	again, err := op.do(t.Context(), l, k, "the first")
	if err != nil {
		t.Fatal(err)
	}
	if op.name == "Freeze" && theirs != "opener of the first" || mine != "" && mine != theirs || again != theirs {
		t.Errorf("%s gave %q to the first, %q to another, and %q to the first again", op.name, mine, theirs, again)
	}
	once(t, direct, k, op.name)
}

// once checks what an operation has left.
func once(t *testing.T, l *logsink.Redis, k logsink.Key, op string) {
	t.Helper()
	count := func(want int, of string) {
		t.Helper()
		n := 0
		err := l.Records(t.Context(), k, 0, func(int64, logsink.Record) bool { n++; return true })
		if n != want || err != nil {
			t.Errorf("%s left %d records (%v), want %d", of, n, err, want)
		}
	}
	switch op {
	case "Freeze":
		if list, err := l.Anchors(t.Context(), k); err != nil || len(list) != 1 {
			t.Errorf("Freeze left %d anchors (%v), want 1", len(list), err)
		}
	case "Append":
		count(2, op)
	case "EndEpoch":
		n := 0
		refs, _, err := l.Ended(t.Context(), 0)
		for _, ref := range refs {
			if ref.Key == k {
				n++
			}
		}
		if n != 1 || err != nil {
			t.Errorf("EndEpoch left %d ended epochs (%v), want 1", n, err)
		}
	}
}

// TestI5_AnyReplyLost: one reply of those that Freeze and Append wait for is lost
// for good, with its connection, whichever it is; the client library does not
// get another.
func TestI5_AnyReplyLost(t *testing.T) {
	t.Parallel()
	p, l, direct := far(t, redistest.Start(t), logsink.DurableMemory)
	for _, op := range operations[:2] {
		for n := int64(1); n <= 8; n++ {
			k := logsink.Key{Tenant: "t", Session: fmt.Sprint(op.name, n)}
			var seen atomic.Int64
			p.SwallowReply(func([]string) bool { return seen.Add(1) == n })
			ctx, cancel := within()
			_, err := op.do(ctx, l, k, "the first")
			cancel()
			p.Heal()
			if err != nil && !errors.Is(err, logsink.ErrUnavailable) {
				t.Errorf("%s without reply %d = %v, want ErrUnavailable at most", op.name, n, err)
			}
			if _, err := op.do(t.Context(), l, k, "the first"); err != nil {
				t.Error(err)
			}
			once(t, direct, k, op.name)
		}
	}
	_, err := logsink.Verify(t.Context(), direct, nil, func(f logsink.Finding) {
		if !f.Gap { // records without an anchor, as appended here, are gaps
			t.Errorf("I4: verify: %+v", f)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestI10_SlowServer: a server that says nothing, or one byte a second, costs a
// call its deadline and no more, and leaves nothing behind. It does not run in
// parallel, since it looks for goroutines that are left.
func TestI10_SlowServer(t *testing.T) {
	before := goleak.IgnoreCurrent()
	slow := map[string]func(p *netfault.Proxy){
		"mute":              func(p *netfault.Proxy) { p.Mute(netfault.Both) },
		"mute answers":      func(p *netfault.Proxy) { p.Mute(netfault.Down) },
		"one byte a second": func(p *netfault.Proxy) { p.Throttle(netfault.Down, 1) },
	}
	s := redistest.Start(t)
	var tests sync.WaitGroup
	for name, slowly := range slow {
		tests.Go(func() {
			p := netfault.New(t, s.Addr)
			defer p.Close()
			l, err := logsink.OpenRedis(t.Context(), "redis://"+p.Addr(), logsink.Config{Durability: logsink.DurableMemory})
			if err != nil {
				t.Error(err)
				return
			}
			k := logsink.Key{Tenant: "t", Session: name}
			slowly(p)
			var calls sync.WaitGroup
			for _, op := range operations {
				calls.Go(func() {
					ctx, cancel := within()
					defer cancel()
					began := time.Now()
					_, err := op.do(ctx, l, k, "the first")
					if !errors.Is(err, logsink.ErrUnavailable) {
						t.Errorf("%s: %s = %v, want ErrUnavailable", name, op.name, err)
					}
					// The connection's own timeouts begin at three times the deadline.
					if took := time.Since(began); took > 2*callDeadline {
						t.Errorf("I10: %s: %s took %v, and its deadline was %v", name, op.name, took, callDeadline)
					}
				})
			}
			calls.Wait() // the network has not healed: it was the deadline
			p.Heal()
			for _, op := range operations {
				if _, err := op.do(t.Context(), l, k, "the first"); err != nil {
					t.Errorf("%s: after it healed: %v", name, err)
				}
				once(t, l, k, op.name)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	tests.Wait()
	s.Kill()
	if err := goleak.Find(before); err != nil {
		t.Errorf("I10: %v", err)
	}
}

// TestI1_ReadOnlyServer: the master becomes a replica while it is used, and a
// master again.
func TestI1_ReadOnlyServer(t *testing.T) {
	t.Parallel()
	master, replicas := redistest.StartReplicas(t, 1)
	c := newCrowd(t, master.URL(), logsink.DurableMemory, 2)
	do := func(of *redistest.Server, cmd ...string) {
		if _, err := of.Do(cmd...); err != nil {
			t.Error(err)
		}
	}
	c.during(func() {
		for range 3 {
			c.await(enough / 3)
			// The replica takes over, with all that it was sent: the master has
			// stopped writing when it is told so.
			do(master, "CLIENT", "PAUSE", "60000", "WRITE")
			if err := sameOffset(master, replicas[0]); err != nil {
				t.Error(err)
			}
			do(replicas[0], "REPLICAOF", "NO", "ONE")
			do(master, "REPLICAOF", "127.0.0.1", fmt.Sprint(replicas[0].Port))
			do(master, "CLIENT", "UNPAUSE")
			if err := master.AwaitLink(); err != nil {
				t.Error(err)
			}
			failed := c.failed.Load()
			for c.failed.Load() == failed && !t.Failed() {
				logtest.Yield()
			}
			do(master, "REPLICAOF", "NO", "ONE")
			do(replicas[0], "REPLICAOF", "127.0.0.1", fmt.Sprint(master.Port))
			if err := replicas[0].AwaitLink(); err != nil {
				t.Error(err)
			}
		}
		c.await(enough)
	})
}

// sameOffset returns when a replica has all that its master wrote.
func sameOffset(master, replica *redistest.Server) error {
	for range 10000 {
		m, err := master.Do("ROLE")
		if err != nil {
			return err
		}
		r, err := replica.Do("ROLE")
		if err != nil {
			return err
		}
		if fmt.Sprint(m.([]any)[1]) == fmt.Sprint(r.([]any)[4]) {
			return nil
		}
	}
	return errors.New("the replica never had all of its master's writes")
}

// TestI1_FullServer: a server that is full says so, and all goes on when it has
// room.
func TestI1_FullServer(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l, err := logsink.OpenRedis(t.Context(), s.URL(), logsink.Config{Durability: logsink.DurableMemory})
	opened(t, l, err)
	if _, err := s.Do("CONFIG", "SET", "maxmemory", "1"); err != nil {
		t.Fatal(err)
	}
	k := logsink.Key{Tenant: "t", Session: "s"}
	for _, op := range operations {
		_, err := op.do(t.Context(), l, k, "the first")
		if !errors.Is(err, logsink.ErrUnavailable) || !strings.Contains(err.Error(), "the server is full (maxmemory)") {
			t.Errorf("%s on a full server = %v, want ErrUnavailable that says so", op.name, err)
		}
	}
	if _, err := s.Do("CONFIG", "SET", "maxmemory", "0"); err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		if _, err := op.do(t.Context(), l, k, "the first"); err != nil {
			t.Error(err)
		}
		once(t, l, k, op.name)
	}
}

// TestI5_BadNetwork: three processes have three bad networks to one master, on
// which replies are lost and late, and connections cut, while they freeze the
// same sessions.
func TestI5_BadNetwork(t *testing.T) {
	for _, durability := range []string{logsink.DurableMemory, "replicas=1"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			master, _ := redistest.StartReplicas(t, 1)
			var nets []*netfault.Proxy
			var urls []string
			for range 3 {
				p := netfault.New(t, master.Addr)
				nets, urls = append(nets, p), append(urls, "redis://"+p.Addr())
			}
			c := newCrowdAt(t, durability, urls...)
			c.during(func() {
				for round := range 12 {
					p := nets[round%3]
					var n atomic.Int64
					p.SwallowReply(func([]string) bool { return n.Add(1)%7 == 0 })
					switch round % 4 {
					case 0:
						p.CutAll()
					case 1:
						p.Delay(netfault.Down, 20*time.Millisecond)
					case 2:
						p.CutAfter(netfault.Up, 500)
					case 3:
						p.Mute(netfault.Down)
						failed := c.failed.Load()
						for c.failed.Load() == failed && !t.Failed() {
							logtest.Yield()
						}
					}
					c.await(enough / 10)
					p.Heal()
				}
				c.await(enough)
			})
		})
	}
}
