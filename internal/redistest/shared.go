package redistest

import (
	"os"
	"sync"
	"testing"
)

// shared is what all tests of the process use together. It is made at first use
// and stopped by Main; an error in making it is every user's.
var shared struct {
	single, cluster sync.Once

	mu    sync.Mutex
	dirs  []string
	alive []*Server

	server     *Server
	nodes      *Nodes
	serverErr  error
	clusterErr error
}

// Single returns a server that all tests of the process share: no persistence,
// no password. Tests must not stop, flush or configure it, and TestMain must end
// with [Main].
func Single(t testing.TB) *Server {
	t.Helper()
	shared.single.Do(func() {
		dir, err := sharedDir()
		if err == nil {
			shared.server, err = open(dir, nil)
		}
		shared.serverErr = keep(err, shared.server)
	})
	if shared.serverErr != nil {
		t.Fatal(shared.serverErr)
	}
	return shared.server
}

// Cluster returns a cluster that all tests of the process share. Tests must not
// stop its nodes, and TestMain must end with [Main].
func Cluster(t testing.TB) *Nodes {
	t.Helper()
	shared.cluster.Do(func() {
		shared.nodes, shared.clusterErr = openCluster(sharedDir, nil)
		_ = keep(nil, shared.nodes.servers...)
	})
	if shared.clusterErr != nil {
		t.Fatal(shared.clusterErr)
	}
	return shared.nodes
}

func sharedDir() (string, error) {
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return "", err
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.dirs = append(shared.dirs, dir)
	return dir, nil
}

// keep remembers servers that Main must stop.
func keep(err error, servers ...*Server) error {
	if err != nil {
		return err
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.alive = append(shared.alive, servers...)
	return nil
}

// Main runs the tests, then stops what they shared and returns the exit code for
// os.Exit. No goroutine of the package is left then.
func Main(m interface{ Run() int }) int {
	defer stopShared()
	return m.Run()
}

func stopShared() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, s := range shared.alive {
		s.Kill()
	}
	for _, dir := range shared.dirs {
		_ = os.RemoveAll(dir)
	}
	shared.alive, shared.dirs = nil, nil
}
