package logsink

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// A news is an entry of one of the streams that each bucket has.
type news struct {
	at     tick
	bucket bucket
	values map[string]any
}

func (n *news) cursor() int64 { return cursorOf(n.at, n.bucket, 0) }

// newsAfter returns entries of a kind of stream over all buckets in their order,
// from a tick on: about most of them, and none if there is nothing new.
//
// What it returns is complete: no entry that comes later can belong before one
// of them. For that, entries must be older than the clocks of all servers; the
// youngest are waited for, which takes a moment, or as long as the servers'
// clocks differ, within reason.
func (s *Redis) newsAfter(ctx context.Context, kind string, from tick, most int) ([]news, error) {
	for range 8 {
		list, until, now, err := s.askNews(ctx, kind, from, most)
		if err != nil {
			return nil, err
		}
		settled := min(until, now-1)
		n, _ := slices.BinarySearchFunc(list, settled+1, func(n news, v tick) int { return cmp.Compare(n.at, v) })
		if n == len(list) || until < now {
			return list[:n], nil
		}
		young := list[len(list)-1].at - settled
		if err := pause(ctx, min(time.Duration(young+1)*tickLength, 50*time.Millisecond)); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the clocks of the Redis servers differ too much", ErrUnavailable)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askNews asks every bucket once. The entries are sorted and go no further than
// until: up to there no bucket has one that is not among them. now is the
// earliest of the servers' times.
func (s *Redis) askNews(ctx context.Context, kind string, from tick, most int) (list []news, until, now tick, err error) {
	steps := make([]step, buckets)
	for b := range bucket(buckets) {
		steps[b] = step{newsScript, []string{b.key(kind)}, []any{from.stream(), most}}
	}
	replies, err := s.readAll(ctx, steps)
	if err != nil {
		return nil, 0, 0, err
	}
	until, now = math.MaxInt64, math.MaxInt64
	for b, r := range replies {
		at, entries, err := parseNews(r, steps[b].keys[0])
		if err != nil {
			return nil, 0, 0, err
		}
		now = min(now, at)
		for _, e := range entries {
			e.bucket = bucket(b)
			list = append(list, e)
		}
		if len(entries) == most {
			until = min(until, entries[most-1].at)
		}
	}
	slices.SortFunc(list, func(a, b news) int { return cmp.Compare(a.cursor(), b.cursor()) })
	n, _ := slices.BinarySearchFunc(list, until, func(n news, v tick) int {
		if n.at <= v {
			return -1
		}
		return 1
	})
	return list[:n], until, now, nil
}

// parseNews reads the answer of newsScript.
func parseNews(r *redis.Cmd, key string) (now tick, list []news, err error) {
	reply, err := answered(r, key)
	if err != nil {
		return 0, nil, err
	}
	if len(reply) != 2 {
		return 0, nil, torn("a stream was answered with %d values", len(reply))
	}
	at, ok := reply[0].(int64)
	entries, ok2 := reply[1].([]any)
	if !ok || !ok2 {
		return 0, nil, torn("a stream was answered with %T and %T", reply[0], reply[1])
	}
	for _, e := range entries {
		n, err := parseEntry(e)
		if err != nil {
			return 0, nil, err
		}
		list = append(list, n)
	}
	return tick(at), list, nil
}

// parseEntry reads one entry of a stream as a script returns it: id, and names
// and values in turn.
func parseEntry(e any) (n news, err error) {
	pair, ok := e.([]any)
	if !ok || len(pair) != 2 {
		return n, torn("an entry of a stream is a %T", e)
	}
	id, _ := pair[0].(string)
	if n.at, err = parseTick(id); err != nil {
		return n, err
	}
	fields, _ := pair[1].([]any)
	n.values = map[string]any{}
	for i := 0; i+1 < len(fields); i += 2 {
		name, _ := fields[i].(string)
		n.values[name] = fields[i+1]
	}
	return n, nil
}

// number is a field that is one.
func (n *news) number(name string) int64 {
	s, _ := n.values[name].(string)
	v, _ := strconv.ParseInt(s, 10, 64) // scripts wrote it
	return v
}

func (n *news) text(name string) string {
	s, _ := n.values[name].(string)
	return s
}

// EndEpoch implements Log.
func (s *Redis) EndEpoch(ctx context.Context, k Key, epoch int) error {
	err := k.check()
	if err == nil {
		_, err = call(ctx, s, func(ctx context.Context) (none, error) { return none{}, s.endEpoch(ctx, k, epoch) })
	}
	if err != nil {
		return fmt.Errorf("cannot end epoch %d of session %q: %w", epoch, k.Session, err)
	}
	return nil
}

func (s *Redis) endEpoch(ctx context.Context, k Key, epoch int) error {
	id := keyOf(k)
	b := id.bucket()
	keys := []string{id.key(kindSession), b.key(kindActive), b.key(kindEnded), b.key(kindClock)}
	_, err := s.write(ctx, step{endScript, keys, []any{id.hex(), epoch, time.Now().UnixMicro(), k.Tenant, k.Session}})
	return err
}

// Ended implements Log.
func (s *Redis) Ended(ctx context.Context, after int64) ([]EpochRef, int64, error) {
	list, err := call(ctx, s, func(ctx context.Context) ([]news, error) {
		return s.newsAfter(ctx, kindEnded, tickOf(after), endedAtOnce)
	})
	if err != nil {
		return nil, after, fmt.Errorf("cannot list ended epochs: %w", err)
	}
	cursor := after
	var refs []EpochRef
	for i := range list {
		n := &list[i]
		if n.cursor() <= after {
			continue
		}
		cursor = n.cursor()
		refs = append(refs, EpochRef{Key{n.text("t"), n.text("s")}, int(n.number("e"))})
	}
	return refs, cursor, nil
}
