package redistest

import (
	"fmt"
	"testing"
)

// MasterName is the name under which sentinels know the master.
const MasterName = "preface"

const sentinels = 3

// Guarded is a master with one replica, and the sentinels that guard them: when
// two of three have missed the master for half a second, the replica takes over.
type Guarded struct {
	servers   []*Server // immutable: at the start the master, then the replica
	sentinels []*Server // immutable
}

// StartSentinel starts a master, a replica and three sentinels that live as long
// as the test, and returns when the sentinels know each other and the replica.
// Lines of conf go to master and replica.
func StartSentinel(t testing.TB, conf ...string) *Guarded {
	t.Helper()
	master, replicas := StartReplicas(t, 1, conf...)
	g := &Guarded{servers: append([]*Server{master}, replicas...)}
	lines := []string{
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", MasterName, master.Port),
		"sentinel down-after-milliseconds " + MasterName + " 500",
		"sentinel failover-timeout " + MasterName + " 2000",
	}
	for range sentinels {
		s, err := openAs(t.TempDir(), true, lines)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Kill)
		g.sentinels = append(g.sentinels, s)
	}
	if err := await("sentinels agree", g.ready); err != nil {
		t.Fatal(err)
	}
	return g
}

// ready has no objection when every sentinel knows all others and the replica.
func (g *Guarded) ready() error {
	for _, s := range g.sentinels {
		others, err := s.known("num-other-sentinels")
		if err != nil {
			return err
		}
		replicas, err := s.known("num-slaves")
		if err != nil {
			return err
		}
		if others != "2" || replicas != "1" {
			return fmt.Errorf("%s knows %s other sentinels and %s replicas", s.Addr, others, replicas)
		}
	}
	return nil
}

// known is one value of what a sentinel knows of the master.
func (s *Server) known(name string) (string, error) {
	v, err := s.Do("SENTINEL", "MASTER", MasterName)
	if err != nil {
		return "", err
	}
	pairs, _ := v.([]any)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return fmt.Sprint(pairs[i+1]), nil
		}
	}
	return "", fmt.Errorf("%s knows no %s", s.Addr, name)
}

// Addrs returns the addresses of the sentinels.
func (g *Guarded) Addrs() []string {
	var addrs []string
	for _, s := range g.sentinels {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// Servers returns the two servers: at the start the master, then the replica.
func (g *Guarded) Servers() []*Server { return g.servers }

// Sentinels returns the three sentinels.
func (g *Guarded) Sentinels() []*Server { return g.sentinels }

// Master returns the master in the eyes of the first sentinel that runs. It may
// have died since.
func (g *Guarded) Master() (*Server, error) {
	for _, s := range g.sentinels {
		if s.Running() {
			return g.masterFor(s)
		}
	}
	return nil, fmt.Errorf("cannot tell the master of %s: no sentinel runs", MasterName)
}

func (g *Guarded) masterFor(sentinel *Server) (*Server, error) {
	v, err := sentinel.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MasterName)
	if err != nil {
		return nil, err
	}
	for _, s := range g.servers {
		if pair, ok := v.([]any); ok && len(pair) == 2 && fmt.Sprintf("%v:%v", pair[0], pair[1]) == s.Addr {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s names a master %v that is none of ours", sentinel.Addr, v)
}

// Await returns the master as soon as all running sentinels name the same one, it
// runs, and it knows that it is the master.
func (g *Guarded) Await() (*Server, error) {
	var master *Server
	err := await("a master of "+MasterName, func() (err error) {
		master, err = g.settled()
		return err
	})
	return master, err
}

func (g *Guarded) settled() (*Server, error) {
	master, err := g.Master()
	if err != nil {
		return nil, err
	}
	for _, s := range g.sentinels {
		if !s.Running() {
			continue
		}
		other, err := g.masterFor(s)
		if err != nil {
			return nil, err
		}
		if other != master {
			return nil, fmt.Errorf("%s names the master %s, its peers %s", s.Addr, other.Addr, master.Addr)
		}
	}
	if !master.Running() {
		return nil, fmt.Errorf("the master %s does not run", master.Addr)
	}
	role, err := master.field("role", "INFO", "replication")
	if err == nil && role != "master" {
		err = fmt.Errorf("%s is named master and says role:%s", master.Addr, role)
	}
	return master, err
}
