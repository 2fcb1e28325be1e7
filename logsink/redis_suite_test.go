package logsink_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

func TestRedisSuite(t *testing.T) {
	f := func(name, durability string, url func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := url(t)
			logtest.Run(t, func(t testing.TB) logtest.Backend { return redisBackend(t, at, durability) })
		})
	}
	f("Single", logsink.DurableMemory, func(t *testing.T) string { return redistest.Start(t).URL() })
	f("SingleOnDisk", logsink.DurableFsync, func(t *testing.T) string {
		return redistest.Start(t, "appendonly yes", "appendfsync always").URL()
	})
	f("Replica", "replicas=1", func(t *testing.T) string {
		master, _ := redistest.StartReplicas(t, 1)
		return master.URL()
	})
	f("Sentinel", "replicas=1", func(t *testing.T) string {
		return "redis+sentinel://" + strings.Join(redistest.StartSentinel(t).Addrs(), ",") + "/" + redistest.MasterName
	})
	f("Cluster", logsink.DurableMemory, clusterURL)
	f("ClusterWithReplicas", "replicas=1", clusterURL)
}

func clusterURL(t *testing.T) string {
	return "redis://" + strings.Join(redistest.StartCluster(t).Addrs(), ",")
}

// redisBackend is an empty log at a URL. What stands there is lost.
func redisBackend(t testing.TB, url, durability string) logtest.Backend {
	c := logsink.Config{Durability: durability}
	flush(t, url)
	return logtest.Backend{
		Open: func(t testing.TB) logsink.Log {
			t.Helper()
			l, err := logsink.OpenRedis(t.Context(), url, c)
			return opened(t, l, err)
		},
		Reader: func(t testing.TB) logsink.Reader {
			t.Helper()
			r, err := logsink.OpenRedisReader(t.Context(), url, c)
			return opened(t, r, err)
		},
	}
}

// opened closes a log at the end of a test. Blobs have no grace in tests: no
// other process is about to name them.
func opened(t testing.TB, l *logsink.Redis, err error) *logsink.Redis {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	l.NoGrace()
	t.Cleanup(func() { l.Close() })
	return l
}

func flush(t testing.TB, url string) {
	t.Helper()
	err := logsink.EachMaster(context.Background(), url, func(ctx context.Context, c *redis.Client) error { return c.FlushDB(ctx).Err() })
	if err != nil {
		t.Fatal(err)
	}
}
