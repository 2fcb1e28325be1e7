package logsink

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Retain implements Log. Any number of processes may do so at once.
func (s *Redis) Retain(ctx context.Context, r Retention) (Dropped, error) {
	d, err := call(ctx, s, func(ctx context.Context) (Dropped, error) {
		w := &redisRetaining{Redis: s, limits: r, now: time.Now()}
		err := w.run(ctx)
		return w.dropped, err
	})
	if err != nil {
		return d, fmt.Errorf("cannot drop what log.retention says: %w", err)
	}
	return d, nil
}

// A redisRetaining is one run of Retain.
type redisRetaining struct {
	*Redis
	limits  Retention
	now     time.Time
	dropped Dropped
}

// run drops records by age, then sessions, then the oldest records while there
// is too much, and in the end blobs that nothing names any more.
func (w *redisRetaining) run(ctx context.Context) error {
	if w.limits.Live == 0 {
		w.limits.Live = defaultLive
	}
	if w.limits.MaxAge > 0 {
		if err := w.byAge(ctx); err != nil {
			return err
		}
	}
	if err := w.sweep(ctx); err != nil || w.limits.MaxBytes == 0 {
		return err
	}
	return w.bySize(ctx)
}

func (w *redisRetaining) byAge(ctx context.Context) error {
	before := w.now.Add(-w.limits.MaxAge).UnixMicro()
	for b := range bucket(buckets) {
		if err := w.dropPages(ctx, b, func(n *news) bool { return n.number("t") < before }); err != nil {
			return err
		}
	}
	idle := max(w.limits.MaxAge, w.limits.Live)
	return w.dropSessions(ctx, w.now.Add(-idle).UnixMicro(), func() bool { return true })
}

// dropPages drops a bucket's pages from the oldest on, as long as drop says so.
func (w *redisRetaining) dropPages(ctx context.Context, b bucket, drop func(*news) bool) error {
	for {
		entries, err := w.client.XRangeN(ctx, b.key(kindIndex), "-", "+", pagesAtOnce).Result()
		if err != nil {
			return err
		}
		for _, e := range entries {
			at, err := parseTick(e.ID)
			if err != nil {
				return err
			}
			n := news{at, b, e.Values}
			if !drop(&n) {
				return nil
			}
			if err := w.dropPage(ctx, &n); err != nil {
				return err
			}
		}
		if len(entries) == 0 {
			return nil
		}
	}
}

func (w *redisRetaining) dropPage(ctx context.Context, n *news) error {
	b := n.bucket
	keys := []string{b.key(kindPages) + ":" + n.text("k"), b.key(kindIndex), b.key(kindClock)}
	got, err := dropPageScript.Run(ctx, w.client, keys, n.at.stream()).Int64Slice()
	if err != nil {
		return err
	}
	w.dropped.Records += got[0]
	w.dropped.Bytes += got[1]
	return nil
}

// dropSessions drops sessions that have been idle since a time, longest idle
// first within a bucket, while more says so.
func (w *redisRetaining) dropSessions(ctx context.Context, idleSince int64, more func() bool) error {
	for b := range bucket(buckets) {
		by := &redis.ZRangeBy{Min: "-inf", Max: "(" + strconv.FormatInt(idleSince, 10), Count: sessionsAtOnce}
		for more() {
			members, err := w.client.ZRangeByScore(ctx, b.key(kindActive), by).Result()
			if err != nil {
				return err
			}
			if len(members) == 0 {
				break
			}
			for _, m := range members {
				if err := w.dropSession(ctx, b, m, idleSince); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *redisRetaining) dropSession(ctx context.Context, b bucket, member string, idleSince int64) error {
	k, ok := parseSessionKey(member)
	if !ok {
		return torn("%q stands in a list of sessions", member)
	}
	keys := []string{k.key(kindSession), k.key(kindPages), k.key(kindThreads), k.key(kindSeen), k.key(kindSeenOld),
		b.key(kindIndex), b.key(kindAnchored), b.key(kindActive), b.key(kindClock)}
	got, err := dropSessionScript.Run(ctx, w.client, keys, member, idleSince).Int64Slice()
	if err != nil {
		return err
	}
	w.dropped.Sessions += got[0]
	w.dropped.Records += got[1]
	w.dropped.Bytes += got[2]
	return nil
}

// bySize drops the oldest records, a portion at a time, and then sessions that
// are not live, until what is held is little enough.
func (w *redisRetaining) bySize(ctx context.Context) error {
	for {
		size, err := w.size(ctx)
		if err != nil || size <= w.limits.MaxBytes {
			return err
		}
		list, err := w.newsAfter(ctx, kindIndex, 0, 1)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return w.idleBySize(ctx)
		}
		if err := w.dropPage(ctx, &list[0]); err != nil {
			return err
		}
		if err := w.sweep(ctx); err != nil {
			return err
		}
	}
}

func (w *redisRetaining) idleBySize(ctx context.Context) error {
	err := w.dropSessions(ctx, w.now.Add(-w.limits.Live).UnixMicro(), func() bool { return true })
	if err != nil {
		return err
	}
	return w.sweep(ctx)
}

// size is how many bytes of anchors, records and blobs all buckets hold.
func (w *redisRetaining) size(ctx context.Context) (size int64, err error) {
	got := make([]*redis.StringCmd, buckets)
	_, err = w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for b := range got {
			got[b] = p.HGet(ctx, bucket(b).key(kindClock), "size")
		}
		return nil
	})
	if err != nil && err != redis.Nil {
		return 0, err
	}
	for _, c := range got {
		n, _ := c.Int64() // nothing is 0
		size += n
	}
	return size, nil
}

// sweep drops blobs that nothing names and nobody has offered for some time.
// Which are named is found out by asking all sessions, and only if there is
// anything to drop. A blob that is named while that goes on was offered just
// before, and stays.
func (w *redisRetaining) sweep(ctx context.Context) error {
	at := tickAt(w.now.Add(-w.grace))
	var named map[string]bool
	for b := range bucket(buckets) {
		old, err := w.client.ZRangeByScore(ctx, b.key(kindBlobs), &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(int64(at), 10)}).Result()
		if err != nil {
			return err
		}
		if len(old) > 0 && named == nil {
			if named, err = w.named(ctx); err != nil {
				return err
			}
		}
		for _, d := range old {
			if !named[d] {
				if err := w.dropBlob(ctx, b, d, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *redisRetaining) dropBlob(ctx context.Context, b bucket, digest string, at tick) error {
	n, err := dropBlobScript.Run(ctx, w.client, []string{b.key(kindBlob) + ":" + digest, b.key(kindBlobs), b.key(kindClock)}, digest, int64(at)).Int64()
	if err == nil && n >= 0 {
		w.dropped.Blobs++
		w.dropped.Bytes += n
	}
	return err
}

// named returns the digests of all blobs that sessions name.
func (w *redisRetaining) named(ctx context.Context) (map[string]bool, error) {
	named := map[string]bool{}
	for b := range bucket(buckets) {
		for cursor := uint64(0); ; {
			list, next, err := w.client.ZScan(ctx, b.key(kindActive), cursor, "", sessionsAtOnce).Result()
			if err != nil {
				return nil, err
			}
			if err := w.namedBy(ctx, list, named); err != nil {
				return nil, err
			}
			if cursor = next; cursor == 0 {
				break
			}
		}
	}
	return named, nil
}

// namedBy adds what sessions name; list has members and scores in turn.
func (w *redisRetaining) namedBy(ctx context.Context, list []string, named map[string]bool) error {
	var steps []step
	for i := 0; i+1 < len(list); i += 2 {
		k, ok := parseSessionKey(list[i])
		if !ok {
			return torn("%q stands in a list of sessions", list[i])
		}
		steps = append(steps, step{namedScript, []string{k.key(kindSession), k.key(kindPages)}, nil})
	}
	if len(steps) == 0 {
		return nil
	}
	replies, err := w.readAll(ctx, steps)
	if err != nil {
		return err
	}
	for _, r := range replies {
		digests, err := r.StringSlice()
		if err != nil {
			return err
		}
		for _, d := range digests {
			named[d] = true
		}
	}
	return nil
}
