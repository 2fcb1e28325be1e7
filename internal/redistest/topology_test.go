package redistest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		victim()
		os.Exit(1)
	}
	code := Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// victimEnv makes a process of this test start a server in the folder that it
// names, and wait to be killed.
const victimEnv = "REDISTEST_VICTIM"

// victim is what such a process does.
func victim() {
	s, err := open(os.Getenv(victimEnv), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("addr", s.Addr)
	_, _ = os.Stdin.Read(make([]byte, 1)) // until killed
}

// TestServers starts one of each shape, all at once, and says what ran: make test
// shows its line.
func TestServers(t *testing.T) {
	var mu sync.Mutex
	ran := map[string][]string{} // shapes by version
	t.Run("of", func(t *testing.T) {
		for shape, start := range shapes {
			t.Run(shape, func(t *testing.T) {
				t.Parallel()
				servers := start(t)
				v := sameVersion(t, servers)
				mu.Lock()
				defer mu.Unlock()
				ran[v] = append(ran[v], fmt.Sprintf("%s (%d)", shape, len(servers)))
			})
		}
	})
	for v, list := range ran {
		slices.Sort(list)
		t.Logf("%s: %s", v, strings.Join(list, ", "))
	}
	if len(ran) != 1 {
		t.Errorf("servers of %d versions ran, want 1", len(ran))
	}
}

var shapes = map[string]func(*testing.T) []*Server{
	"single":  func(t *testing.T) []*Server { return []*Server{Single(t)} },
	"cluster": func(t *testing.T) []*Server { return Cluster(t).servers },
	"replicas": func(t *testing.T) []*Server {
		master, replicas := StartReplicas(t, 1)
		return append(replicas, master)
	},
	"sentinel": func(t *testing.T) []*Server {
		g := StartSentinel(t)
		return append(g.Servers(), g.Sentinels()...)
	},
}

func sameVersion(t *testing.T, servers []*Server) string {
	t.Helper()
	var version string
	for _, s := range servers {
		v, err := s.Version()
		if err != nil {
			t.Fatal(err)
		}
		if version != "" && v != version {
			t.Fatalf("%s is %s, another server %s", s.Addr, v, version)
		}
		version = v
	}
	return version
}

func TestReplicasFollow(t *testing.T) {
	t.Parallel()
	master, replicas := StartReplicas(t, 2, "min-replicas-to-write 1")
	do(t, master, "SET", "k", "v")
	if err := await("the write at both replicas", func() error {
		for _, r := range replicas {
			if v, err := r.Do("GET", "k"); err != nil || v != "v" {
				return fmt.Errorf("GET at %s = %v, %v", r.Addr, v, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := replicas[0].Do("SET", "k", "w"); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("SET at a replica: error %v, want READONLY", err)
	}
	replicas[0].Kill()
	if err := replicas[0].Restart(); err != nil {
		t.Fatal(err)
	}
	if err := replicas[0].AwaitLink(); err != nil {
		t.Fatal(err)
	}
}

func TestSentinelFailsOver(t *testing.T) {
	t.Parallel()
	g := StartSentinel(t)
	if n := len(g.Addrs()); n != 3 {
		t.Errorf("%d addresses of sentinels, want 3", n)
	}
	old, err := g.Await()
	if err != nil {
		t.Fatal(err)
	}
	if old != g.Servers()[0] {
		t.Errorf("the first master is %s, want %s", old.Addr, g.Servers()[0].Addr)
	}
	do(t, old, "SET", "k", "v")
	old.Kill()
	master, err := g.Await()
	if err != nil {
		t.Fatal(err)
	}
	if master != g.Servers()[1] {
		t.Errorf("the master after a failover is %s, want the replica %s", master.Addr, g.Servers()[1].Addr)
	}
	if v := do(t, master, "GET", "k"); v != "v" {
		t.Errorf("GET k at the new master = %v, want v", v)
	}
	do(t, master, "SET", "k", "w")
}

func TestClusterFailsOver(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	slot, err := c.Slot("k")
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Master(slot)
	if err != nil {
		t.Fatal(err)
	}
	do(t, first, "SET", "k", "v")
	old, err := c.KillMaster(slot)
	if err != nil || old != first {
		t.Fatalf("KillMaster(%d) = %v, %v; want %v", slot, old, err, first)
	}
	master, err := c.Await(slot)
	if err != nil {
		t.Fatal(err)
	}
	if master == old {
		t.Errorf("the killed node %s is still the master", old.Addr)
	}
	if v := do(t, master, "GET", "k"); v != "v" {
		t.Errorf("GET k at the new master = %v, want v", v)
	}
	rejoin(t, c, old, master, slot)
}

// rejoin starts a killed master again and wants it to come back as a replica.
func rejoin(t *testing.T, c *Nodes, old, master *Server, slot int) {
	t.Helper()
	if err := old.Restart(); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Await(slot); err != nil || again != master {
		t.Errorf("after the old master's return Await(%d) = %v, %v; want %v", slot, again, err, master)
	}
	if err := old.AwaitLink(); err != nil {
		t.Fatal(err)
	}
	if p, err := old.myself(); err != nil || p.is("master") {
		t.Errorf("the old master says of itself %+v, %v; want a replica", p, err)
	}
}

// do sends a command that must not fail.
func do(t *testing.T, s *Server, args ...string) any {
	t.Helper()
	v, err := s.Do(args...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
