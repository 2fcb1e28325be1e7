package logsink_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// Whichever way an epoch ends, other processes hear of it, also after the server
// was away.
func TestRedisBell(t *testing.T) {
	t.Run("Single", func(t *testing.T) {
		s := redistest.Start(t, "appendonly yes")
		here, _ := rings(t, s.URL())
		s.Kill()
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		heard(t, "the server's return", here)
	})
	t.Run("Sentinel", func(t *testing.T) {
		rings(t, "redis+sentinel://"+strings.Join(redistest.StartSentinel(t).Addrs(), ",")+"/"+redistest.MasterName)
	})
	t.Run("Cluster", func(t *testing.T) { rings(t, clusterURL(t)) })
}

func rings(t *testing.T, url string) (here, there *logsink.Redis) {
	t.Helper()
	c := logsink.Config{Durability: logsink.DurableMemory}
	here, err := logsink.OpenRedis(t.Context(), url, c)
	opened(t, here, err)
	there, err = logsink.OpenRedis(t.Context(), url, c)
	opened(t, there, err)
	heard(t, "that it listens", here)
	for _, session := range []string{"a", "b", "c", "d"} { // of several slots
		k := logsink.Key{Tenant: "t", Session: session}
		freeze := func(epoch int) {
			t.Helper()
			if _, err := there.Freeze(t.Context(), logtest.Anchor(k, epoch, "opener")); err != nil {
				t.Fatal(err)
			}
		}
		freeze(1)
		freeze(2)
		heard(t, "a resume of "+session, here)
		if err := there.EndEpoch(t.Context(), k, 2); err != nil {
			t.Fatal(err)
		}
		heard(t, "an operator's end of "+session, here)
	}
	return here, there
}

func heard(t *testing.T, what string, l *logsink.Redis) {
	t.Helper()
	select {
	case <-l.Bell():
	case <-time.After(time.Minute):
		t.Fatalf("%s is not heard", what)
	}
}

// A user that may not publish ends epochs, and one that may not subscribe opens
// the log.
func TestRedisBellForbidden(t *testing.T) {
	s := redistest.Start(t)
	if _, err := s.Do("ACL", "SETUSER", "narrow", "on", ">narrow", "~preface:*", "+@all", "-@pubsub"); err != nil {
		t.Fatal(err)
	}
	c := logsink.Config{Durability: logsink.DurableMemory, Redis: logsink.RedisConfig{Username: "narrow", Password: "narrow"}}
	l, err := logsink.OpenRedis(t.Context(), s.URL(), c)
	opened(t, l, err)
	k := logsink.Key{Tenant: "t", Session: "s"}
	for epoch := 1; epoch <= 2; epoch++ {
		if _, err := l.Freeze(t.Context(), logtest.Anchor(k, epoch, "opener")); err != nil {
			t.Errorf("Freeze of epoch %d = %v", epoch, err)
		}
	}
	if err := l.EndEpoch(t.Context(), k, 2); err != nil {
		t.Errorf("EndEpoch = %v", err)
	}
	if refs, _, err := l.Ended(t.Context(), 0); err != nil || len(refs) != 2 {
		t.Errorf("Ended = %v, %v, want two epochs", refs, err)
	}
}
