package redistest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
)

const (
	masters  = 3
	nodes    = 2 * masters // each master has a replica
	slots    = 16384
	nodeConf = "nodes.conf"
)

// Nodes are the six nodes of a cluster: at its start 0, 1 and 2 are masters with
// a third of the slots each, and 3, 4 and 5 their replicas in this order. A master
// that does not answer for a second is replaced.
type Nodes struct {
	servers []*Server // immutable

	// moving lets one slot move at a time.
	moving sync.Mutex
}

// StartCluster starts a cluster that lives as long as the test. Lines of conf go
// to every node.
func StartCluster(t testing.TB, conf ...string) *Nodes {
	t.Helper()
	dir := func() (string, error) { return t.TempDir(), nil }
	c, err := openCluster(dir, conf)
	for _, s := range c.servers {
		t.Cleanup(s.Kill)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openCluster returns the nodes that run, also when it fails.
func openCluster(dir func() (string, error), conf []string) (*Nodes, error) {
	c := &Nodes{}
	lines := append([]string{
		"cluster-enabled yes",
		"cluster-config-file " + nodeConf,
		"cluster-node-timeout 1000",
		"cluster-allow-replica-migration no", // masters keep the replicas that they began with
	}, conf...)
	for range nodes {
		d, err := dir()
		if err != nil {
			return c, err
		}
		s, err := open(d, lines)
		if err != nil {
			return c, err
		}
		c.servers = append(c.servers, s)
	}
	return c, c.form()
}

// form makes one cluster of the nodes.
func (c *Nodes) form() error {
	for i, s := range c.servers {
		if err := c.introduce(i, s); err != nil {
			return err
		}
	}
	var wait errgroup.Group
	for i, s := range c.servers[masters:] {
		wait.Go(func() error { return follow(s, c.servers[i]) })
	}
	if err := wait.Wait(); err != nil {
		return err
	}
	return await("the cluster agree", func() error { return c.agrees() })
}

// introduce gives a node its slots, an epoch of its own so that nobody has to
// settle whose claim is newer, and its peers.
func (c *Nodes) introduce(i int, s *Server) error {
	cmds := [][]string{{"CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i + 1)}}
	if i < masters {
		first, end := slots*i/masters, slots*(i+1)/masters
		cmds = append(cmds, []string{"CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(end - 1)})
	}
	for _, peer := range c.servers[:i] {
		cmds = append(cmds, []string{"CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(peer.Port)})
	}
	for _, cmd := range cmds {
		if _, err := s.Do(cmd...); err != nil {
			return err
		}
	}
	return nil
}

// follow makes s a replica of master as soon as it has heard of it.
func follow(s, master *Server) error {
	id, err := master.text("CLUSTER", "MYID")
	if err != nil {
		return err
	}
	err = await(s.Addr+" following "+master.Addr, func() error {
		_, err := s.Do("CLUSTER", "REPLICATE", id)
		return err
	})
	if err != nil {
		return err
	}
	return s.AwaitLink()
}

// Node returns node i of six.
func (c *Nodes) Node(i int) *Server { return c.servers[i] }

// Addrs returns the addresses of all nodes.
func (c *Nodes) Addrs() []string {
	var addrs []string
	for _, s := range c.servers {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// Slot returns the slot of a key.
func (c *Nodes) Slot(key string) (int, error) {
	for _, s := range c.running() {
		v, err := s.Do("CLUSTER", "KEYSLOT", key)
		if n, ok := v.(int64); ok && err == nil {
			return int(n), nil
		}
	}
	return 0, errors.New("cannot tell a key's slot: no node of the cluster answers")
}

// Master returns the running node that claims the slot, the newest claim if there
// are two. There is none for a while after a master was killed.
func (c *Nodes) Master(slot int) (*Server, error) {
	s, _, err := c.owner(slot)
	return s, err
}

// KillMaster kills the master of a slot and returns it. [Nodes.Await] waits for
// the next one.
func (c *Nodes) KillMaster(slot int) (*Server, error) {
	s, err := c.Master(slot)
	if err == nil {
		s.Kill()
	}
	return s, err
}

// Await returns the master of the slot as soon as there is one that runs, and all
// running nodes agree on who owns what and serve it.
func (c *Nodes) Await(slot int) (*Server, error) {
	var s *Server
	err := await(fmt.Sprintf("a master of slot %d", slot), func() (err error) {
		if s, err = c.Master(slot); err != nil {
			return err
		}
		return c.agrees()
	})
	return s, err
}

func (c *Nodes) running() []*Server {
	var list []*Server
	for _, s := range c.servers {
		if s.Running() {
			list = append(list, s)
		}
	}
	return list
}
