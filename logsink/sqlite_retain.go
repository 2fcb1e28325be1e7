package logsink

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"
)

// Retain works in small transactions, so that a request waits for one of them
// at most. Pages go oldest first, sessions whole.
const (
	dropPagesAtOnce    = 64
	dropBlobsAtOnce    = 64
	scanSessionsAtOnce = 1024
	vacuumAtOnce       = 512 // pages of the file
)

// orphanAge is how long a blob is kept that nothing refers to: it may have come
// ahead of its record.
const orphanAge = time.Hour

// Retain implements Log.
//
// The file gives back what was dropped: it was made with incremental
// auto_vacuum, and free pages are cut off at the end of each call.
func (s *SQLite) Retain(ctx context.Context, r Retention) (Dropped, error) {
	rt := retaining{s: s, ctx: ctx, limits: r, now: time.Now().UnixNano()}
	if rt.limits.Live == 0 {
		rt.limits.Live = defaultLive
	}
	err := rt.run()
	if err != nil {
		return rt.dropped, fmt.Errorf("cannot drop what log.retention no longer allows: %w", s.readError(err))
	}
	return rt.dropped, nil
}

// A retaining is one call of Retain.
type retaining struct {
	s       *SQLite
	ctx     context.Context
	limits  Retention
	now     int64
	dropped Dropped
}

func (rt *retaining) run() error {
	before, err := sizeOf(rt.ctx, rt.s.readers())
	if err != nil {
		return err
	}
	for _, step := range []func() error{rt.byAge, rt.bySize, rt.orphans, rt.vacuum} {
		if err := step(); err != nil {
			return err
		}
	}
	after, err := sizeOf(rt.ctx, rt.s.readers())
	rt.dropped.Bytes = max(0, before.file-after.file)
	return err
}

func (rt *retaining) byAge() error {
	if rt.limits.MaxAge == 0 {
		return nil
	}
	cutoff := rt.now - int64(rt.limits.MaxAge)
	for {
		n, err := rt.dropPages(cutoff, dropPagesAtOnce)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	never := func() (bool, error) { return false, nil }
	if err := rt.dropSessions(min(cutoff, rt.liveSince()), never); err != nil {
		return err
	}
	return rt.s.do(rt.ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM ended WHERE time < ? AND NOT EXISTS (SELECT 1 FROM session s WHERE s.key = ended.key)`, cutoff)
		return err
	})
}

// liveSince is the time since when a session that had a record is live.
func (rt *retaining) liveSince() int64 { return rt.now - int64(rt.limits.Live) }

// bySize drops the oldest pages, and when there is none left the sessions that
// are not live, until the file is small enough.
func (rt *retaining) bySize() error {
	if rt.limits.MaxBytes == 0 {
		return nil
	}
	for {
		excess, err := rt.excess()
		if err != nil || excess <= 0 {
			return err
		}
		n, err := rt.dropPages(math.MaxInt64, 1+excess/pageBytes)
		if err != nil {
			return err
		}
		if n == 0 {
			return rt.dropSessions(rt.liveSince(), func() (bool, error) {
				excess, err := rt.excess()
				return excess <= 0, err
			})
		}
	}
}

// excess is by how much the file is too large. Blobs that nothing refers to any
// more do not count, and it sees to it that they go.
func (rt *retaining) excess() (int64, error) {
	if err := rt.orphans(); err != nil {
		return 0, err
	}
	size, err := sizeOf(rt.ctx, rt.s.readers())
	return size.used - rt.limits.MaxBytes, err
}

// dropPages drops most of the oldest pages, fewer if there is one that is not
// older than the cutoff, and returns how many. Clocks may differ a little between
// pages; then a page waits for the one before it.
func (rt *retaining) dropPages(cutoff, most int64) (int, error) {
	var n int
	var records int64
	err := rt.s.do(rt.ctx, func(t *tx) error {
		pages, err := t.oldestPages(cutoff, min(most, dropPagesAtOnce))
		if err != nil {
			return err
		}
		n = len(pages)
		for _, p := range pages {
			if err := t.dropPage(p); err != nil {
				return err
			}
			records += int64(len(p.ids) / 16)
		}
		return nil
	})
	if err != nil {
		return 0, err // if ctx ended, the writer may still be at it
	}
	rt.dropped.Records += records
	return n, nil
}

// dropSessions drops the sessions whose latest record is older than the cutoff,
// those with the oldest anchor first, until enough says so.
func (rt *retaining) dropSessions(cutoff int64, enough func() (bool, error)) error {
	at := sessionCursor{anchored: -1}
	for {
		old, n, err := rt.oldSessions(&at, cutoff)
		if err != nil {
			return err
		}
		for _, key := range old {
			if done, err := enough(); err != nil || done {
				return err
			}
			if err := rt.dropSession(key, cutoff); err != nil {
				return err
			}
		}
		if n < scanSessionsAtOnce {
			return nil
		}
	}
}

// oldSessions looks through some sessions after the cursor, moves it, and
// returns the keys of old ones and how many it looked at.
func (rt *retaining) oldSessions(at *sessionCursor, cutoff int64) (old [][]byte, n int, err error) {
	const query = `SELECT anchored, id, key, last FROM session WHERE (anchored, id) > (?, ?) ORDER BY anchored, id LIMIT ?`
	err = rt.s.each(rt.ctx, query, []any{at.anchored, at.id, scanSessionsAtOnce}, func(rows *sql.Rows) error {
		var key []byte
		var last int64
		if err := rows.Scan(&at.anchored, &at.id, &key, &last); err != nil {
			return err
		}
		if last < cutoff {
			old = append(old, key)
		}
		n++
		return nil
	})
	return old, n, err
}

// dropSession drops a session if it is still old: its pages in portions, and
// then the rest at once.
func (rt *retaining) dropSession(key []byte, cutoff int64) error {
	for {
		var d Dropped
		var done bool
		err := rt.s.do(rt.ctx, func(t *tx) (err error) {
			d, done, err = t.dropSessionPart(key, cutoff)
			return err
		})
		if err != nil {
			return err
		}
		rt.dropped.Records += d.Records
		rt.dropped.Sessions += d.Sessions
		if done {
			return nil
		}
	}
}

// orphans drops blobs that nothing refers to.
func (rt *retaining) orphans() error {
	for {
		var n int64
		err := rt.s.do(rt.ctx, func(t *tx) (err error) {
			n, err = t.dropOrphans(rt.now - int64(orphanAge))
			return err
		})
		if err != nil {
			return err // if ctx ended, the writer may still be at it
		}
		rt.dropped.Blobs += n
		if n < dropBlobsAtOnce {
			return nil
		}
	}
}

// vacuum cuts off the free part of the file, for as long as it gets smaller.
func (rt *retaining) vacuum() error {
	for last := int64(math.MaxInt64); ; {
		size, err := sizeOf(rt.ctx, rt.s.readers())
		if err != nil || size.free == 0 || size.file >= last {
			return err
		}
		last = size.file
		err = rt.s.do(rt.ctx, func(t *tx) error {
			_, err := t.exec(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumAtOnce))
			return err
		})
		if err != nil {
			return err
		}
	}
}

// A fileSize is in bytes; free is the part of file that holds nothing.
type fileSize struct{ file, used, free int64 }

func sizeOf(ctx context.Context, db *sql.DB) (fileSize, error) {
	var pages, free, size int64
	err := db.QueryRowContext(ctx, `SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).
		Scan(&pages, &free, &size)
	return fileSize{file: pages * size, used: (pages - free) * size, free: free * size}, err
}
