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

// write runs a step, and returns its answer when it is as durable as it must be.
func (s *Redis) write(ctx context.Context, st step) ([]any, error) {
	replies, err := s.writeAll(ctx, []step{st})
	if err != nil {
		return nil, err
	}
	return answered(replies[0], st.keys[0])
}

// answered is what a script returned, behind the key that it was asked about. A
// client library that mixes up replies (CVE-2025-29923) must not have one session
// believe what was said of another (I6).
func answered(r *redis.Cmd, key string) ([]any, error) {
	v, err := r.Slice()
	if err != nil {
		return nil, fmt.Errorf("a script was answered with no list: %w", err)
	}
	if len(v) == 0 || v[0] != key {
		return nil, errors.New("the reply answers another question: replies were mixed up on a connection")
	}
	return v[1:], nil
}

// answeredTexts is answered for scripts that return strings.
func answeredTexts(r *redis.Cmd, key string) ([]string, error) {
	list, err := answered(r, key)
	texts := make([]string, len(list))
	for i := range list {
		texts[i], _ = list[i].(string)
	}
	return texts, err
}

// writeAll runs steps, of any slots, in as few round trips as there are
// servers, and returns when all are as durable as they must be. The error is the
// first that is not redis.Nil.
func (s *Redis) writeAll(ctx context.Context, steps []step) ([]*redis.Cmd, error) {
	if s.durable.waits() {
		return s.untilServed(ctx, steps, s.writeByNode)
	}
	return s.readAll(ctx, steps)
}

// readAll runs steps that write nothing, or nothing that must be durable.
func (s *Redis) readAll(ctx context.Context, steps []step) ([]*redis.Cmd, error) {
	return s.untilServed(ctx, steps, func(ctx context.Context, steps []step, send sending) ([]*redis.Cmd, error) {
		return s.pipeline(ctx, s.client, steps, send)
	})
}

// untilServed runs steps again while their slots are on the move, or a master is
// being replaced, until ctx ends. A server that does not know a script, being new
// or restarted, is sent its text.
func (s *Redis) untilServed(ctx context.Context, steps []step, run func(context.Context, []step, sending) ([]*redis.Cmd, error)) ([]*redis.Cmd, error) {
	send := byHash
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		replies, err := run(ctx, steps, send)
		switch {
		case err == nil:
			return replies, nil
		case isUnknownScript(err):
			send = byText
			continue
		}
		if c, ok := s.client.(*redis.ClusterClient); ok {
			c.ReloadState(ctx) // the library does not for all errors and ways
		}
		if !isMoved(err) {
			return replies, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w, and no time is left: %w", err, context.Cause(ctx))
		}
	}
}

// A sending is how a script is named to a server.
type sending func(ctx context.Context, p redis.Pipeliner, st step) *redis.Cmd

func byHash(ctx context.Context, p redis.Pipeliner, st step) *redis.Cmd {
	return st.script.EvalSha(ctx, p, st.keys, st.args...)
}

func byText(ctx context.Context, p redis.Pipeliner, st step) *redis.Cmd {
	return st.script.Eval(ctx, p, st.keys, st.args...)
}

// pipeline sends steps at once.
func (s *Redis) pipeline(ctx context.Context, c redis.Cmdable, steps []step, send sending, then ...func(redis.Pipeliner)) ([]*redis.Cmd, error) {
	replies := make([]*redis.Cmd, len(steps))
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, st := range steps {
			replies[i] = send(ctx, p, st)
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

// isMoved reports whether another server has the slot, or will have in a moment.
func isMoved(err error) bool {
	for _, p := range []string{"MOVED ", "ASK ", "TRYAGAIN", "READONLY", "CLUSTERDOWN"} {
		if err != nil && strings.HasPrefix(err.Error(), p) {
			return true
		}
	}
	return false
}

// writeByNode runs steps on the servers that have their slots, and asks each
// whether it is safe: behind the steps, on the same connection. In a cluster the
// client library follows no moved slot then.
func (s *Redis) writeByNode(ctx context.Context, steps []step, send sending) ([]*redis.Cmd, error) {
	at := map[*redis.Client][]int{}
	for i, st := range steps {
		c, err := s.master(ctx, st.keys[0])
		if err != nil {
			return nil, err
		}
		at[c] = append(at[c], i)
	}
	replies := make([]*redis.Cmd, len(steps))
	for c, which := range at {
		mine := make([]step, len(which))
		for j, i := range which {
			mine[j] = steps[i]
		}
		var check func() error
		got, err := s.pipeline(ctx, c, mine, send, func(p redis.Pipeliner) { check = s.durable.ask(ctx, p, mine[0].keys[0]) })
		if err == nil {
			err = check()
		}
		if err != nil {
			return nil, err
		}
		for j, i := range which {
			replies[i] = got[j]
		}
	}
	return replies, nil
}

func (s *Redis) master(ctx context.Context, key string) (*redis.Client, error) {
	if c, ok := s.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, key)
	}
	return s.client.(*redis.Client), nil
}
