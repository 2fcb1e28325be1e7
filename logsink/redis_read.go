package logsink

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Records implements Reader. Within a session, records have the order in which
// they were appended; over sessions, those of one batch are grouped by session.
func (s *Redis) Records(ctx context.Context, k Key, after int64, f func(cursor int64, r Record) bool) error {
	var err error
	if k == (Key{}) {
		err = s.allRecords(ctx, after, f)
	} else {
		err = s.recordsOf(ctx, k, after, f)
	}
	if err != nil {
		return fmt.Errorf("cannot read records: %w", err)
	}
	return nil
}

func (s *Redis) recordsOf(ctx context.Context, k Key, after int64, f func(int64, Record) bool) error {
	id := keyOf(k)
	from := tickOf(after).stream()
	for {
		entries, err := call(ctx, s, func(ctx context.Context) ([]redis.XMessage, error) {
			return s.client.XRangeN(ctx, id.key(kindPages), from, "+", pagesAtOnce).Result()
		})
		if err != nil {
			return err
		}
		for _, e := range entries {
			p, err := redisPage(e)
			if err != nil {
				return err
			}
			var foreign error // replies that were mixed up (I6)
			more, err := pass(p, id.bucket(), after, func(at int64, r Record) bool {
				if r.Of().Key != k {
					foreign = torn("page %s of session %q has a record of another", e.ID, k.Session)
					return false
				}
				return f(at, r)
			})
			if err = errors.Join(err, foreign); err != nil || !more {
				return err
			}
			from = "(" + e.ID
		}
		if len(entries) < pagesAtOnce {
			return nil
		}
	}
}

// pass calls f with the records of a page behind a cursor.
func pass(p *storedPage, b bucket, after int64, f func(int64, Record) bool) (more bool, err error) {
	more = true
	err = p.records(func(i int, r Record) bool {
		if at := cursorOf(tick(p.id), b, i); at > after {
			more = f(at, r)
		}
		return more
	})
	return more, err
}

func (s *Redis) allRecords(ctx context.Context, after int64, f func(int64, Record) bool) error {
	for from := tickOf(after); ; {
		list, err := call(ctx, s, func(ctx context.Context) ([]news, error) { return s.newsAfter(ctx, kindIndex, from, pagesAtOnce) })
		if err != nil || len(list) == 0 {
			return err
		}
		pages, err := call(ctx, s, func(ctx context.Context) ([]*storedPage, error) { return s.pagesOf(ctx, list) })
		if err != nil {
			return err
		}
		for i, p := range pages {
			if p == nil {
				continue
			}
			if more, err := pass(p, list[i].bucket, after, f); err != nil || !more {
				return err
			}
		}
		from = list[len(list)-1].at + 1
	}
}

// pagesOf reads the pages that entries of the index name; one that was dropped
// meanwhile is nil.
func (s *Redis) pagesOf(ctx context.Context, list []news) ([]*storedPage, error) {
	got := make([]*redis.XMessageSliceCmd, len(list))
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range list {
			n := &list[i]
			got[i] = p.XRange(ctx, n.bucket.key(kindPages)+":"+n.text("k"), n.at.stream(), n.at.stream())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pages := make([]*storedPage, len(list))
	for i, c := range got {
		for _, e := range c.Val() {
			if e.ID != list[i].at.stream() {
				return nil, torn("page %s was answered with page %s", list[i].at.stream(), e.ID)
			}
			if pages[i], err = redisPage(e); err != nil {
				return nil, err
			}
		}
	}
	return pages, nil
}
