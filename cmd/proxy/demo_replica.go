package main

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// rollTurns are those in which a replica is restarted.
var rollTurns = [...]int{restartTurn, resumeTurn - 1, resumeTurn, demoTurns - 1}

const maxReplicas = len(rollTurns)

// A replica is one of the demo's proxies, over its restart.
type replica struct {
	number int      // from 1
	proxy  *service // nil while it is down

	rolled             int    // the turn of its restart
	drained, elsewhere int    // requests under way when it was drained, there and at the others
	guarantee          string // of the log, as it was told at its latest start
}

func newReplicas(n int) []*replica {
	all := make([]*replica, n)
	for i := range all {
		all[i] = &replica{number: i + 1}
	}
	return all
}

// stop ends it, unless it has ended.
func (r *replica) stop(ctx context.Context) error {
	if r.proxy == nil {
		return nil
	}
	if l, ok := r.proxy.logs.(*logsink.Redis); ok {
		r.guarantee = l.Guarantee()
	}
	err := r.proxy.close(ctx)
	r.proxy = nil
	return err
}

// rolls reports whether a replica is restarted in a turn.
func (s *demoStage) rolls(turn int) bool {
	return s.rotation != nil && slices.Contains(rollTurns[:len(s.replicas)], turn)
}

// roll drains a replica, ends it and starts it again, while all agents have a
// turn. The provider holds back their first answers (see rotation.hold): those of
// the replica until it takes no more connections, so that they end in its drain;
// the others until it is gone, and it comes back only after one of them.
func (s *demoStage) roll(ctx context.Context, turn int) error {
	defer s.rotation.release(s.replicas...)
	r, here, others, err := s.rotation.takeOut(ctx)
	if err != nil {
		return err
	}
	r.rolled, r.drained, r.elsewhere = turn, len(here), len(others)
	addr := r.proxy.agents.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- r.stop(context.WithoutCancel(ctx)) }()
	awaitRefusal(ctx, addr)
	s.rotation.release(r)
	if err := <-ended; err != nil {
		return err
	}
	s.rotation.release(s.replicas...)
	if err := s.rotation.awaitAnswer(ctx, others); err != nil {
		return err
	}
	if err := s.startProxy(ctx, r); err != nil {
		return err
	}
	s.rotation.putIn()
	return nil
}

// awaitRefusal returns once nobody listens at an address any more.
func awaitRefusal(ctx context.Context, addr string) {
	for ctx.Err() == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return
		}
		_ = conn.Close() // nothing was sent
		time.Sleep(time.Millisecond)
	}
}
