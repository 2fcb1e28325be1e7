package logsink_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// TestRedisDurabilityIsChecked: a server that does not give what the setting
// says is refused in plain words, unless log.unsafe.
func TestRedisDurabilityIsChecked(t *testing.T) {
	t.Parallel()
	// f opens a log; it is refused with the words of want, or taken if there are none.
	f := func(s *redistest.Server, durability string, want ...string) {
		t.Helper()
		c := logsink.Config{Durability: durability}
		l, err := logsink.OpenRedis(t.Context(), s.URL(), c)
		if len(want) == 0 {
			if opened(t, l, err); !l.Sure() || strings.Contains(l.Guarantee(), "NOT GUARANTEED") {
				t.Errorf("durability %s: Sure = %v, Guarantee = %q; want sure", durability, l.Sure(), l.Guarantee())
			}
			return
		}
		if err == nil {
			l.Close()
		}
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("OpenRedis with durability %s = %v, want an error with %q", durability, err, w)
			}
		}
		if strings.Contains(want[0], "takes no writes") {
			return // nothing can be overridden there
		}
		c.Unsafe = true
		u, err := logsink.OpenRedis(t.Context(), s.URL(), c)
		if opened(t, u, err); u.Sure() {
			t.Error("with log.unsafe Sure = true, want false")
		}
		for _, w := range append(want, "NOT GUARANTEED (log.unsafe)") {
			if !strings.Contains(u.Guarantee(), w) {
				t.Errorf("Guarantee = %q, want %q in it", u.Guarantee(), w)
			}
		}
		k := logsink.Key{Tenant: "t", Session: "s"}
		if _, err := u.Freeze(t.Context(), logtest.Anchor(k, 1, "opener")); err != nil {
			t.Errorf("with log.unsafe Freeze = %v", err)
		}
	}
	plain := redistest.Start(t)
	f(plain, logsink.DurableMemory)
	f(plain, logsink.DurableFsync, "appendonly no", "log.durability is fsync")
	f(plain, "replicas=1", "has 0 replicas", "log.durability is replicas=1")
	f(redistest.Start(t, "appendonly yes", "appendfsync always"), logsink.DurableFsync)
	everysec := redistest.Start(t, "appendonly yes", "appendfsync everysec")
	if version, err := everysec.Version(); err != nil || olderThan72(version) {
		f(everysec, logsink.DurableFsync, "before 7.2", "appendfsync everysec", "set appendfsync always")
	} else {
		f(everysec, logsink.DurableFsync) // each write asks for it
	}
	f(redistest.Start(t, "maxmemory 100mb", "maxmemory-policy allkeys-lru"), logsink.DurableMemory, "drops keys when it is full", "allkeys-lru", "noeviction")
	master, replicas := redistest.StartReplicas(t, 1)
	f(master, "replicas=1")
	f(master, "replicas=2", "has 1 replicas", "log.durability is replicas=2")
	f(replicas[0], logsink.DurableMemory, "takes no writes", "is a slave", "name the master")
	r, err := logsink.OpenRedisReader(t.Context(), replicas[0].URL(), logsink.Config{})
	if opened(t, r, err); r.Sessions(t.Context(), "", "", func(logsink.SessionInfo) bool { return true }) != nil {
		t.Error("a replica cannot be read")
	}
	mute := redistest.Start(t, `rename-command CONFIG ""`)
	f(mute, logsink.DurableMemory)
	f(mute, logsink.DurableFsync, "does not tell its configuration", "log.unsafe")
}

func olderThan72(version string) bool {
	_, number, _ := strings.Cut(version, " ")
	return strings.HasPrefix(number, "6.") || strings.HasPrefix(number, "7.0.")
}

// TestI1_ReplicaStalls: with replicas=1 nothing counts as stored that only the
// master has: not for who stores it, who comes second, or who asks.
func TestI1_ReplicaStalls(t *testing.T) {
	t.Parallel()
	master, replicas := redistest.StartReplicas(t, 1)
	c := logsink.Config{Durability: "replicas=1"}
	l, err := logsink.OpenRedis(t.Context(), master.URL(), c)
	opened(t, l, err)
	k := logsink.Key{Tenant: "t", Session: "s"}
	ask := operation{name: "Current"}
	ask.do = func(ctx context.Context, l *logsink.Redis, k logsink.Key, _ string) (string, error) {
		a, err := l.Current(ctx, k)
		if err != nil {
			return "", err
		}
		return textOf(a), nil
	}
	second := operations[0]
	second.name = "Freeze of another"
	calls := append(operations[:len(operations):len(operations)], ask, second)
	for _, op := range operations { // the server knows the scripts
		if _, err := op.do(t.Context(), l, logsink.Key{Tenant: "t", Session: "before"}, "the first"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask.do(t.Context(), l, logsink.Key{Tenant: "t", Session: "before"}, ""); err != nil {
		t.Fatal(err)
	}
	replicas[0].Pause()
	stalls := func(op operation) {
		// Long enough that it is the wait for the replica which ends first.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := op.do(ctx, l, k, op.name)
		if !errors.Is(err, logsink.ErrUnavailable) || !strings.Contains(err.Error(), "log.durability replicas=1") {
			t.Errorf("%s while the replica stalls = %v, want ErrUnavailable that names log.durability", op.name, err)
		}
	}
	stalls(calls[0]) // the first Freeze, before all others
	var others sync.WaitGroup
	for _, op := range calls[1:] {
		others.Go(func() { stalls(op) })
	}
	others.Wait()
	replicas[0].Resume()
	for _, op := range calls {
		got, err := op.do(t.Context(), l, k, op.name)
		if err != nil {
			t.Errorf("%s after the replica goes on: %v", op.name, err)
		}
		if strings.Contains(op.name, "Freeze") && got != "opener of Freeze" {
			t.Errorf("%s after the replica goes on = %q, want the first", op.name, got)
		}
		once(t, l, k, op.name)
	}
	if waits, fences := callsOf(t, master, "wait"), callsOf(t, master, "set"); waits == 0 || fences < waits {
		t.Errorf("the server was asked to WAIT %d times, behind %d writes; from 7.2 on it waits for nothing else", waits, fences)
	}
}

// TestI1_WaitAOF: from 7.2 on each write asks for the disk, however seldom the
// server syncs by itself, and what is not there does not count as stored.
func TestI1_WaitAOF(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "appendonly yes", "appendfsync everysec")
	version, err := s.Version()
	if err != nil {
		t.Fatal(err)
	}
	if olderThan72(version) {
		t.Skipf("%s has no WAITAOF, which came with 7.2; the suite tests its appendfsync always", version)
	}
	l, err := logsink.OpenRedis(t.Context(), s.URL(), logsink.Config{Durability: logsink.DurableFsync})
	opened(t, l, err)
	for _, op := range operations {
		if _, err := op.do(t.Context(), l, logsink.Key{Tenant: "t", Session: op.name}, "on disk"); err != nil {
			t.Errorf("%s = %v", op.name, err)
		}
	}
	if n := callsOf(t, s, "waitaof"); n < len(operations) {
		t.Errorf("for %d writes WAITAOF was asked %d times", len(operations), n)
	}
	if _, err := s.Do("CONFIG", "SET", "appendonly", "no"); err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		_, err := op.do(t.Context(), l, logsink.Key{Tenant: "t", Session: op.name + " in memory"}, "in memory")
		if !errors.Is(err, logsink.ErrUnavailable) {
			t.Errorf("%s with a server that keeps nothing on disk any more = %v, want ErrUnavailable", op.name, err)
		}
	}
}

// callsOf is how often a server was given a command.
func callsOf(t *testing.T, s *redistest.Server, command string) (n int) {
	t.Helper()
	info, err := s.Do("INFO", "commandstats")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(fmt.Sprint(info), "cmdstat_"+command+":")
	fmt.Sscanf(rest, "calls=%d", &n) // 0 if it is not there
	return n
}
