package redistest

import (
	"errors"
	"fmt"
	"testing"
)

// StartReplicas starts a master with n replicas, all configured by conf, and
// returns when the replicas are linked.
func StartReplicas(t testing.TB, n int, conf ...string) (master *Server, replicas []*Server) {
	t.Helper()
	master = Start(t, conf...)
	of := fmt.Sprintf("replicaof 127.0.0.1 %d", master.Port)
	for range n {
		replicas = append(replicas, Start(t, append(conf[:len(conf):len(conf)], of)...))
	}
	for _, r := range replicas {
		if err := r.AwaitLink(); err != nil {
			t.Fatal(err)
		}
	}
	return master, replicas
}

// AwaitLink returns when a replica has its master's data and follows it.
func (s *Server) AwaitLink() error {
	return await("a link from "+s.Addr+" to its master", func() error {
		status, err := s.field("master_link_status", "INFO", "replication")
		if err == nil && status != "up" {
			err = errors.New("master_link_status is " + status)
		}
		return err
	})
}
