package redistest

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

func TestMoveSlot(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	slot, err := c.Slot("{tag}")
	if err != nil {
		t.Fatal(err)
	}
	at := master(t, c, slot)
	const keys = 3*migrateBatch + 1
	for i := range keys {
		do(t, at, "SET", fmt.Sprintf("{tag}%d", i), fmt.Sprint(i))
	}
	seen := map[*Server]bool{at: true}
	for range masters { // all around
		if err := c.MoveSlot(slot); err != nil {
			t.Fatal(err)
		}
		at = master(t, c, slot)
		seen[at] = true
		for i := range keys {
			if v := do(t, at, "GET", fmt.Sprintf("{tag}%d", i)); v != fmt.Sprint(i) {
				t.Errorf("GET {tag}%d at %s = %v, want %d", i, at.Addr, v, i)
			}
		}
	}
	if len(seen) != masters {
		t.Errorf("the slot was at %d masters, want %d", len(seen), masters)
	}
	if _, err := c.Await(slot); err != nil {
		t.Error(err)
	}
	endsCutOffMove(t, c, slot)
}

// endsCutOffMove opens a slot and leaves it so, with a key at both ends.
func endsCutOffMove(t *testing.T, c *Nodes, slot int) {
	t.Helper()
	from := master(t, c, slot)
	p, err := from.myself()
	if err != nil {
		t.Fatal(err)
	}
	_, id, err := c.target(slot, from, p)
	if err != nil {
		t.Fatal(err)
	}
	to := otherThanNext(t, c, from, id)
	q, err := to.myself()
	if err != nil {
		t.Fatal(err)
	}
	if err := openSlot(slot, from, p.id, to, q.id); err != nil {
		t.Fatal(err)
	}
	do(t, from, "MIGRATE", "127.0.0.1", fmt.Sprint(to.Port), "{tag}0", "0", "5000", "COPY")
	if err := c.MoveSlot(slot); err != nil {
		t.Fatal(err)
	}
	if at := master(t, c, slot); at != to {
		t.Errorf("the slot is at %s, want %s, to which it was on its way", at.Addr, to.Addr)
	}
	for _, k := range []string{"{tag}0", "{tag}1"} {
		if v := do(t, to, "EXISTS", k); v != int64(1) {
			t.Errorf("EXISTS %s = %v, want 1", k, v)
		}
	}
}

// TestMoveSlotUnderWrites moves a slot round and round while a client fills it.
func TestMoveSlotUnderWrites(t *testing.T) {
	t.Parallel()
	c := Cluster(t)
	slot, err := c.Slot("{moving}")
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), MaxRedirects: 16})
	defer client.Close()
	const writes = 300
	var writer errgroup.Group
	written := make(chan struct{})
	writer.Go(func() error {
		defer close(written)
		for i := range writes {
			if err := client.SetNX(t.Context(), fmt.Sprintf("{moving}%d", i), i, 0).Err(); err != nil {
				return err
			}
		}
		return nil
	})
	moves := 0
	for done := false; !done; moves++ {
		select {
		case <-written:
			done = true
		default:
		}
		if err := c.MoveSlot(slot); err != nil {
			t.Error(err)
			break
		}
	}
	if err := writer.Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range writes {
		if v, err := client.Get(t.Context(), fmt.Sprintf("{moving}%d", i)).Int(); err != nil || v != i {
			t.Errorf("GET {moving}%d after %d moves = %d, %v; want %d", i, moves, v, err, i)
		}
	}
	t.Logf("%d moves during %d writes", moves, writes)
}

// otherThanNext is the master to which the slot would not move by itself.
func otherThanNext(t *testing.T, c *Nodes, from *Server, next string) *Server {
	t.Helper()
	for _, s := range c.servers {
		if p, err := s.myself(); err == nil && p.is("master") && p.id != next && s != from {
			return s
		}
	}
	t.Fatal("no third master")
	return nil
}

func master(t *testing.T, c *Nodes, slot int) *Server {
	t.Helper()
	s, err := c.Master(slot)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
