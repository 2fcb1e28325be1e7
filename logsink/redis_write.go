package logsink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// A step is one script with its keys, which are all of one slot.
type step struct {
	script *redis.Script
	keys   []string
	args   []any
}

// write runs a step, and returns when it is as durable as it must be.
func (s *Redis) write(ctx context.Context, st step) (any, error) {
	replies, err := s.writeAll(ctx, []step{st})
	if err != nil {
		return nil, err
	}
	return replies[0].Result()
}

// writeAll runs steps, of any slots, in as few round trips as there are
// servers, and returns when all are as durable as they must be. The error is the
// first that is not redis.Nil.
func (s *Redis) writeAll(ctx context.Context, steps []step) ([]*redis.Cmd, error) {
	if s.durable.waits() {
		return s.writeAndWait(ctx, steps)
	}
	for {
		replies, err := s.pipeline(ctx, s.client, steps)
		if !isUnknownScript(err) {
			return replies, err
		}
		if err := s.load(ctx, steps); err != nil {
			return nil, err
		}
	}
}

// pipeline sends steps at once.
func (s *Redis) pipeline(ctx context.Context, c redis.Cmdable, steps []step, then ...func(redis.Pipeliner)) ([]*redis.Cmd, error) {
	replies := make([]*redis.Cmd, len(steps))
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, st := range steps {
			replies[i] = p.EvalSha(ctx, st.script.Hash(), st.keys, st.args...)
		}
		for _, f := range then {
			f(p)
		}
		return nil
	})
	for _, r := range replies {
		if rerr := r.Err(); rerr != nil && !errors.Is(rerr, redis.Nil) {
			return replies, tornReply(rerr)
		}
	}
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return replies, err
}

// tornReply gives the scripts' own errors their meaning.
func tornReply(err error) error {
	if what, ok := strings.CutPrefix(err.Error(), "TORN "); ok {
		return torn("%s", what)
	}
	return err
}

func isUnknownScript(err error) bool { return redis.HasErrorPrefix(err, "NOSCRIPT") }

// load makes the scripts of steps known to the servers: a new one, or one that
// was restarted, does not have them.
func (s *Redis) load(ctx context.Context, steps []step) error {
	scripts := map[*redis.Script]bool{}
	for _, st := range steps {
		scripts[st.script] = true
	}
	load := func(ctx context.Context, c *redis.Client) error {
		for sc := range scripts {
			if err := sc.Load(ctx, c).Err(); err != nil {
				return fmt.Errorf("cannot load a script: %w", err)
			}
		}
		return nil
	}
	return s.eachMaster(ctx, load)
}

// eachMaster calls f with every server that writes.
func (s *Redis) eachMaster(ctx context.Context, f func(context.Context, *redis.Client) error) error {
	switch c := s.client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, f)
	case *redis.Client:
		return f(ctx, c)
	}
	panic(fmt.Sprintf("BUG: a Redis client of type %T", s.client))
}

// writeAndWait is writeAll where the server must be asked whether what one
// connection wrote is safe: the question goes out behind the steps, on the same
// connection. In a cluster the client library follows no moved slot then, so
// that is done here, until ctx ends.
func (s *Redis) writeAndWait(ctx context.Context, steps []step) ([]*redis.Cmd, error) {
	replies := make([]*redis.Cmd, len(steps))
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := s.writeByNode(ctx, steps, replies)
		switch {
		case isUnknownScript(err):
			if err := s.load(ctx, steps); err != nil {
				return nil, err
			}
		case isMoved(err):
			if c, ok := s.client.(*redis.ClusterClient); ok {
				c.ReloadState(ctx)
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil, fmt.Errorf("%w, and no time is left: %w", err, context.Cause(ctx))
			}
		default:
			return replies, err
		}
	}
}

// isMoved reports whether another server has the slot, or will have in a moment.
func isMoved(err error) bool {
	for _, p := range []string{"MOVED ", "ASK ", "TRYAGAIN", "READONLY", "CLUSTERDOWN"} {
		if err != nil && strings.HasPrefix(err.Error(), p) {
			return true
		}
	}
	return false
}

// writeByNode runs steps on the servers that have their slots.
func (s *Redis) writeByNode(ctx context.Context, steps []step, replies []*redis.Cmd) error {
	at := map[*redis.Client][]int{}
	for i, st := range steps {
		c, err := s.master(ctx, st.keys[0])
		if err != nil {
			return err
		}
		at[c] = append(at[c], i)
	}
	for c, which := range at {
		mine := make([]step, len(which))
		for j, i := range which {
			mine[j] = steps[i]
		}
		var check func() error
		got, err := s.pipeline(ctx, c, mine, func(p redis.Pipeliner) { check = s.durable.ask(ctx, p) })
		if err == nil {
			err = check()
		}
		if err != nil {
			return err
		}
		for j, i := range which {
			replies[i] = got[j]
		}
	}
	return nil
}

func (s *Redis) master(ctx context.Context, key string) (*redis.Client, error) {
	if c, ok := s.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, key)
	}
	return s.client.(*redis.Client), nil
}
