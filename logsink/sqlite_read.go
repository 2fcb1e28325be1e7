package logsink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Reads come in portions, and no transaction is open while a caller's function
// runs: a reader that takes its time would keep the WAL from being reused, and
// the file would grow for as long.
const (
	sessionsAtOnce = 256
	pagesAtOnce    = 64
)

// Sessions implements Reader. Sessions without an anchor come last.
func (s *SQLite) Sessions(ctx context.Context, tenant, prefix string, f func(SessionInfo) bool) error {
	at := sessionCursor{anchored: math.MaxInt64, id: math.MaxInt64}
	for {
		list, err := s.sessionsAfter(ctx, &at)
		if err != nil {
			return fmt.Errorf("cannot list sessions: %w", s.readError(err))
		}
		if len(list) == 0 {
			return nil
		}
		for _, info := range list {
			if tenant != "" && info.Tenant != tenant || !strings.HasPrefix(info.Session, prefix) {
				continue
			}
			if err := s.describe(ctx, &info); err != nil {
				return fmt.Errorf("cannot list session %q: %w", info.Session, s.readError(err))
			}
			if !f(info) {
				return nil
			}
		}
	}
}

// A sessionCursor is the place in the order of Sessions.
type sessionCursor struct{ anchored, id int64 }

func (s *SQLite) sessionsAfter(ctx context.Context, at *sessionCursor) ([]SessionInfo, error) {
	var list []SessionInfo
	const query = `SELECT ` + sessionColumns + ` FROM session WHERE (anchored, id) < (?, ?) ORDER BY anchored DESC, id DESC LIMIT ?`
	err := s.each(ctx, query, []any{at.anchored, at.id, sessionsAtOnce}, func(rows *sql.Rows) error {
		var row sessionRow
		if err := row.scan(rows); err != nil {
			return err
		}
		*at = sessionCursor{row.anchored, row.id}
		list = append(list, SessionInfo{Key: row.of, Epochs: int(row.epoch), Since: time.Unix(0, row.since).UTC(), LastTime: time.Unix(0, row.last).UTC()})
		return nil
	})
	return list, err
}

// describe adds what the latest anchor says.
func (s *SQLite) describe(ctx context.Context, info *SessionInfo) error {
	if info.Epochs == 0 {
		return nil
	}
	a, err := latestAnchor(s.ask(ctx), &s.known, info.Key)
	if errors.Is(err, ErrNoSession) {
		return nil // dropped just now
	}
	if err != nil {
		return err
	}
	info.Decision, info.Why, info.Prefix, info.Route, info.Source = a.Decision, a.Why, a.Prefix, a.Route, a.Source
	return nil
}

// Anchors implements Reader.
func (s *SQLite) Anchors(ctx context.Context, k Key) ([]*Anchor, error) {
	list, err := s.anchors(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("cannot read the anchors of session %q: %w", k.Session, s.readError(err))
	}
	return list, nil
}

func (s *SQLite) anchors(ctx context.Context, k Key) ([]*Anchor, error) {
	ask := s.ask(ctx)
	stored, err := storedAnchors(ask, k, math.MaxInt)
	if err != nil {
		return nil, err
	}
	var list []*Anchor
	for _, sa := range slices.Backward(stored) {
		a, err := sa.whole(ask, &s.known, k)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// ReadBlob implements Reader.
func (s *SQLite) ReadBlob(ctx context.Context, d Digest) ([]byte, error) {
	b, err := readBlob(s.ask(ctx), d)
	if err != nil {
		return nil, fmt.Errorf("cannot read blob %s: %w", d, s.readError(err))
	}
	return b, nil
}

// A cursor of Records is the id of a page and how many of its records were
// read, in lineBits bits.
const lineBits = 16

// Records implements Reader. Within a session, records have the order in which
// they were appended; over sessions, those of one batch are grouped by session.
func (s *SQLite) Records(ctx context.Context, k Key, after int64, f func(cursor int64, r Record) bool) error {
	err := s.records(ctx, k, after, f)
	if err != nil {
		return fmt.Errorf("cannot read records: %w", s.readError(err))
	}
	return nil
}

func (s *SQLite) records(ctx context.Context, k Key, after int64, f func(int64, Record) bool) error {
	if k == (Key{}) {
		return s.allPages(ctx, after, f)
	}
	ids, err := s.pagesOf(ctx, k, after>>lineBits)
	if err != nil {
		return err
	}
	ask := s.ask(ctx)
	for _, id := range ids {
		p, err := readPage(ask, id)
		if errors.Is(err, sql.ErrNoRows) {
			if err := chainEnds(ask, k, id); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			err = p.checkOwner(k)
		}
		if err != nil {
			return err
		}
		if more, err := p.tell(after, f); err != nil || !more {
			return err
		}
	}
	return nil
}

// pagesOf returns the ids of a session's pages from a page on, oldest first.
func (s *SQLite) pagesOf(ctx context.Context, k Key, from int64) ([]int64, error) {
	ask := s.ask(ctx)
	row, err := readSession(ask, k)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	const query = `WITH RECURSIVE chain (id, prev) AS (
			SELECT id, prev FROM page WHERE id = ? AND id >= ?2
			UNION ALL
			SELECT p.id, p.prev FROM chain c JOIN page p ON p.id = c.prev WHERE p.id >= ?2 AND p.id < c.id
		) SELECT id, prev FROM chain`
	var ids []int64
	next := row.tail
	err = s.each(ctx, query, []any{row.tail, from}, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id, &next)
		ids = append(ids, id)
		return err
	})
	if err == nil && next >= from {
		err = chainEnds(ask, k, next)
	}
	slices.Reverse(ids)
	return ids, err
}

func (s *SQLite) allPages(ctx context.Context, after int64, f func(int64, Record) bool) error {
	from := after >> lineBits
	for {
		var pages []*storedPage
		err := s.each(ctx, `SELECT `+pageColumns+` FROM page WHERE id >= ? ORDER BY id LIMIT ?`, []any{from, pagesAtOnce}, func(rows *sql.Rows) error {
			p := new(storedPage)
			pages = append(pages, p)
			return p.scan(rows)
		})
		if err != nil || len(pages) == 0 {
			return err
		}
		for _, p := range pages {
			if more, err := p.tell(after, f); err != nil || !more {
				return err
			}
		}
		from = pages[len(pages)-1].id + 1
	}
}

// tell calls f with the page's records after the cursor.
func (p *storedPage) tell(after int64, f func(int64, Record) bool) (more bool, err error) {
	more = true
	err = p.records(func(i int, r Record) bool {
		if cursor := p.id<<lineBits | int64(i+1); cursor > after {
			more = f(cursor, r)
		}
		return more
	})
	return more, err
}
