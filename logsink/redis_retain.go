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
	// It takes as long as it takes, and ends at the next round trip when ctx does.
	d, err := call(ctx, s, func(context.Context) (Dropped, error) {
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
	if err := w.trimEnded(ctx); err != nil {
		return err
	}
	if w.limits.MaxBytes > 0 {
		if err := w.bySize(ctx); err != nil {
			return err
		}
	}
	if mine, err := w.turn(ctx); err != nil || !mine {
		return err
	}
	return w.sweep(ctx)
}

// trimEnded drops what tells of epochs that ended long ago: no process has them
// in memory any more.
func (w *redisRetaining) trimEnded(ctx context.Context) error {
	at := tickAt(w.now.Add(-w.limits.Live)).stream()
	_, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for b := range bucket(buckets) {
			p.XTrimMinID(ctx, b.key(kindEnded), at)
		}
		return nil
	})
	return err
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
		n, err := w.oldest(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			return w.idleBySize(ctx)
		}
		if err := w.sweep(ctx); err != nil {
			return err
		}
	}
}

// oldest drops a thirty-second of all pages, the oldest ones, and returns how
// many that were.
func (w *redisRetaining) oldest(ctx context.Context) (n int, err error) {
	total, err := w.pages(ctx)
	if err != nil {
		return 0, err
	}
	for portion := max(1, int(total/32)); n < portion; {
		list, err := w.newsAfter(ctx, kindIndex, 0, min(portion-n, pagesAtOnce))
		if err != nil || len(list) == 0 {
			return n, err
		}
		for i := range list[:min(len(list), portion-n)] {
			if err := w.dropPage(ctx, &list[i]); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// pages is how many there are.
func (w *redisRetaining) pages(ctx context.Context) (n int64, err error) {
	got := make([]*redis.IntCmd, buckets)
	_, err = w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for b := range got {
			got[b] = p.XLen(ctx, bucket(b).key(kindIndex))
		}
		return nil
	})
	for _, c := range got {
		n += c.Val()
	}
	return n, err
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
