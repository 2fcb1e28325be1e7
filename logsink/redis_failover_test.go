package logsink_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
)

// enough is how many acknowledged calls make a phase of a crowd's work.
const enough = 300

// TestI5_MovingSlots: the slots of sessions and blobs go from master to master
// while they are written. Clients are told MOVED, ASK and TRYAGAIN.
func TestI5_MovingSlots(t *testing.T) {
	for _, durability := range []string{logsink.DurableMemory, "replicas=1"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			nodes := redistest.StartCluster(t)
			c := newCrowd(t, clusterAt(nodes), durability, 3)
			k := logsink.Key{Tenant: "t", Session: "crowd-0"}
			bucket := tag(logsink.SessionKey(k))
			c.name = sessionsIn(bucket)
			slot, err := nodes.Slot(logsink.SessionKey(k))
			if err != nil {
				t.Fatal(err)
			}
			blobs, err := nodes.Slot(logsink.BlobKey(logsink.Sum([]byte("system 1"))))
			if err != nil {
				t.Fatal(err)
			}
			c.during(func() {
				for range 12 {
					c.await(10)
					for _, s := range []int{slot, blobs} {
						if err := nodes.MoveSlot(s); err != nil {
							t.Error(err)
						}
					}
				}
				c.await(enough)
			})
		})
	}
}

func clusterAt(nodes *redistest.Nodes) string {
	return "redis://" + strings.Join(nodes.Addrs(), ",")
}

// tag is the part of a key that decides its slot.
func tag(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, _ := strings.Cut(rest, "}")
	return tag
}

// sessionsIn names sessions of one slot.
func sessionsIn(bucket string) func(n int) logsink.Key {
	var mu sync.Mutex
	var found []logsink.Key
	tried := 0
	return func(n int) logsink.Key {
		mu.Lock()
		defer mu.Unlock()
		for ; len(found) <= n; tried++ {
			k := logsink.Key{Tenant: "t", Session: fmt.Sprint("crowd-", tried)}
			if tag(logsink.SessionKey(k)) == bucket {
				found = append(found, k)
			}
		}
		return found[n]
	}
}

// TestI4_ClusterFailover: a master is killed in mid-write and its replica takes
// over.
func TestI4_ClusterFailover(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t)
	c := newCrowd(t, clusterAt(nodes), "replicas=1", 3)
	slot, err := nodes.Slot(logsink.SessionKey(c.name(0)))
	if err != nil {
		t.Fatal(err)
	}
	c.during(func() {
		c.await(enough)
		dead, err := nodes.KillMaster(slot)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := nodes.Await(slot); err != nil {
			t.Error(err)
			return
		}
		if err := dead.Restart(); err != nil { // the new master needs a replica
			t.Error(err)
		}
		c.await(enough)
	})
}

// TestI4_SentinelFailover: the same for a master that sentinels guard.
func TestI4_SentinelFailover(t *testing.T) {
	t.Parallel()
	g := redistest.StartSentinel(t)
	c := newCrowd(t, "redis+sentinel://"+strings.Join(g.Addrs(), ",")+"/"+redistest.MasterName, "replicas=1", 3)
	c.during(func() {
		c.await(enough)
		dead, err := g.Master()
		if err != nil {
			t.Error(err)
			return
		}
		dead.Kill()
		now, err := g.Await()
		if err == nil && now == dead {
			t.Errorf("the master is still %s", dead.Addr)
		}
		if err != nil {
			t.Error(err)
			return
		}
		// The new master needs a replica. Sentinels would make the old one that too,
		// but take their time.
		if err := dead.Restart(); err != nil {
			t.Error(err)
		}
		if _, err := dead.Do("REPLICAOF", "127.0.0.1", strconv.Itoa(now.Port)); err != nil {
			t.Error(err)
		}
		c.await(enough)
	})
}
