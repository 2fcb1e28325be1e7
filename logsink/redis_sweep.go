package logsink

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// turn reports whether this process sweeps now: one of all that share the log
// does, once an hour, since it looks at all sessions.
func (w *redisRetaining) turn(ctx context.Context) (bool, error) {
	if w.grace <= 0 {
		return true, nil
	}
	return w.client.SetNX(ctx, bucket(0).key(kindSweep), "1", w.grace).Result()
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

// named returns the digests of all blobs that anchors and records name.
func (w *redisRetaining) named(ctx context.Context) (map[string]bool, error) {
	named := map[string]bool{}
	for b := range bucket(buckets) {
		if err := w.namedByPages(ctx, b, named); err != nil {
			return nil, err
		}
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

// namedByPages adds what the records of a bucket name.
func (w *redisRetaining) namedByPages(ctx context.Context, b bucket, named map[string]bool) error {
	for from := "-"; ; {
		entries, err := w.client.XRangeN(ctx, b.key(kindIndex), from, "+", 1000).Result()
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			n := news{values: e.Values}
			for d := range strings.FieldsSeq(n.text("d")) {
				named[d] = true
			}
			from = "(" + e.ID
		}
	}
}

// namedBy adds what sessions' anchors name; list has members and scores in turn.
func (w *redisRetaining) namedBy(ctx context.Context, list []string, named map[string]bool) error {
	var steps []step
	for i := 0; i+1 < len(list); i += 2 {
		k, ok := parseSessionKey(list[i])
		if !ok {
			return torn("%q stands in a list of sessions", list[i])
		}
		steps = append(steps, step{namedScript, []string{k.key(kindSession)}, nil})
	}
	if len(steps) == 0 {
		return nil
	}
	replies, err := w.readAll(ctx, steps)
	if err != nil {
		return err
	}
	for i, r := range replies {
		digests, err := answeredTexts(r, steps[i].keys[0])
		if err != nil {
			return err
		}
		for _, d := range digests {
			named[d] = true
		}
	}
	return nil
}
