package logsink

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// A storedPage is a row of the table page.
type storedPage struct {
	id, prev, at int64
	key, ids     []byte
	lines        []byte
}

const pageColumns = `id, prev, time, key, ids, sum, lines`

// scan reads a row of pageColumns.
func (p *storedPage) scan(r row) error {
	var sum int64
	if err := r.Scan(&p.id, &p.prev, &p.at, &p.key, &p.ids, &sum, &p.lines); err != nil {
		return err
	}
	if pageSum(p.key, p.prev, p.at, p.ids, p.lines) != sum {
		return damaged("page %d: its checksum differs", p.id)
	}
	return nil
}

func readPage(ask asker, id int64) (*storedPage, error) {
	p := new(storedPage)
	err := p.scan(ask(`SELECT `+pageColumns+` FROM page WHERE id = ?`, id))
	return p, err
}

// records calls f with the records of a page until it returns false. Lines that
// do not hold all needles are not parsed.
func (p *storedPage) records(f func(index int, r Record) bool, needles ...[]byte) error {
	var failed error
	eachLine(p.lines, func(i int, line []byte) bool {
		for _, n := range needles {
			if !bytes.Contains(line, n) {
				return true
			}
		}
		r, err := ParseRecord(line)
		if err != nil {
			failed = fmt.Errorf("page %d line %d: %w", p.id, i+1, err)
			return false
		}
		return f(i, r)
	})
	return failed
}

// needle is how a string field looks in a line.
func needle(name, value string) []byte { return appendStr(nil, `,"`+name+`":`, value) }

// Last implements Log.
func (s *SQLite) Last(ctx context.Context, k Key, thread string) (*Request, *Header, error) {
	req, head, err := s.last(ctx, k, thread)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find the last request of thread %q of session %q: %w", thread, k.Session, s.readError(err))
	}
	return req, head, nil
}

func (s *SQLite) last(ctx context.Context, k Key, thread string) (*Request, *Header, error) {
	ask := s.ask(ctx)
	row, err := readSession(ask, k)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, ErrNoThread
	}
	if err != nil {
		return nil, nil, err
	}
	at, headAt, sure := row.heads.find(hashThread(thread))
	if at == 0 && sure {
		return nil, nil, ErrNoThread
	}
	if at == 0 {
		at = row.tail
	}
	req, err := findRequest(ask, k, thread, at)
	if err != nil {
		return nil, nil, err
	}
	head, err := findHeader(ask, k, req.Header, headAt, row.tail)
	return req, head, err
}

// findRequest looks for the newest request of a thread in page at and those
// before it.
func findRequest(ask asker, k Key, thread string, at int64) (*Request, error) {
	var found *Request
	err := walkBack(ask, k, at, func(p *storedPage) (bool, error) {
		err := p.records(func(_ int, r Record) bool {
			if r.Request != nil && r.Request.Thread == thread && r.Request.Key == k {
				found = r.Request // a later line is newer
			}
			return true
		}, []byte(`{"kind":"request"`), needle("thread", thread))
		return found == nil, err
	})
	if err == nil && found == nil {
		return nil, ErrNoThread
	}
	return found, err
}

// findHeader looks for a header record where the thread's newest one is, and
// then in all pages of the session. It returns nil if it is gone.
func findHeader(ask asker, k Key, id string, at, tail int64) (*Header, error) {
	if id == "" {
		return nil, nil
	}
	var found *Header
	look := func(p *storedPage) (bool, error) {
		err := p.records(func(_ int, r Record) bool {
			if r.Header != nil && r.Header.ID == id && r.Header.Key == k {
				found = r.Header
			}
			return found == nil
		}, []byte(`{"kind":"header"`), needle("id", id))
		return found == nil, err
	}
	if at != 0 {
		p, err := readPage(ask, at)
		if err == nil {
			_, err = look(p)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) || found != nil {
			return found, err
		}
	}
	err := walkBack(ask, k, tail, look)
	return found, err
}

// walkBack calls f with page at and those before it in its session, newest
// first, until f returns false.
func walkBack(ask asker, k Key, at int64, f func(*storedPage) (more bool, err error)) error {
	for at != 0 {
		p, err := readPage(ask, at)
		if errors.Is(err, sql.ErrNoRows) {
			return chainEnds(ask, k, at)
		}
		if err == nil {
			err = p.checkOwner(k)
		}
		if err != nil {
			return err
		}
		if more, err := f(p); err != nil || !more {
			return err
		}
		at = p.prev
	}
	return nil
}

// checkOwner also sees to it that a chain has an end.
func (p *storedPage) checkOwner(k Key) error {
	if !bytes.Equal(p.key, keyOf(k).bytes()) || p.prev >= p.id {
		return damaged("page %d: it belongs to another session", p.id)
	}
	return nil
}

// chainEnds is nil if it is right that a session's page is not there: there is
// none (0), retention dropped it with all pages before it, or the session is
// being dropped.
func chainEnds(ask asker, k Key, missing int64) error {
	if missing == 0 {
		return nil
	}
	var oldest sql.NullInt64
	if err := ask(`SELECT min(id) FROM page`).Scan(&oldest); err != nil {
		return err
	}
	if !oldest.Valid || missing < oldest.Int64 {
		return nil
	}
	row, err := readSession(ask, k)
	if errors.Is(err, sql.ErrNoRows) || err == nil && row.tail < missing {
		return nil
	}
	if err != nil {
		return err
	}
	return damaged("session %q: its page %d is gone", k.Session, missing)
}

// Find implements Log.
func (s *SQLite) Find(ctx context.Context, tenant string, lineages []string) (Key, string, error) {
	k, thread, err := s.find(ctx, tenant, lineages)
	if err != nil {
		return Key{}, "", fmt.Errorf("cannot find a session by its history: %w", s.readError(err))
	}
	return k, thread, nil
}

func (s *SQLite) find(ctx context.Context, tenant string, lineages []string) (Key, string, error) {
	return findDerived(lineages, func(portion []string) (*Request, error) {
		pages, err := s.lineagePages(ctx, tenant, portion)
		for i := 0; i < len(pages) && err == nil; i++ {
			if pages[i] == 0 {
				continue
			}
			var q *Request
			if q, err = derivedRequest(s.ask(ctx), tenant, portion[i], pages[i]); err == nil && q != nil {
				return q, nil
			}
		}
		return nil, err
	})
}

// findDerived looks for lineages, a portion at a time, until look finds a
// request.
func findDerived(lineages []string, look func(portion []string) (*Request, error)) (Key, string, error) {
	for portion := range slices.Chunk(lineages, lineagesAtOnce) {
		q, err := look(portion)
		if err != nil {
			return Key{}, "", err
		}
		if q != nil {
			return q.Key, q.Thread, nil
		}
	}
	return Key{}, "", ErrNoSession
}

// lineagesAtOnce is how many are asked for in one statement: a conversation
// that is new asks in vain for one lineage per message.
const lineagesAtOnce = 32

const selectLineages = `SELECT id, page FROM lineage WHERE id IN (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

// lineagePages returns the page that tells of each lineage, or 0.
func (s *SQLite) lineagePages(ctx context.Context, tenant string, lineages []string) ([]int64, error) {
	ids := make([][16]byte, len(lineages))
	args := make([]any, lineagesAtOnce)
	for i, l := range lineages {
		ids[i] = lineageID(tenant, l)
		args[i] = ids[i][:]
	}
	pages := make([]int64, len(lineages))
	err := s.each(ctx, selectLineages, args, func(rows *sql.Rows) error {
		var id []byte
		var page int64
		if err := rows.Scan(&id, &page); err != nil {
			return err
		}
		for i := range ids {
			if bytes.Equal(ids[i][:], id) {
				pages[i] = page
			}
		}
		return nil
	})
	return pages, err
}

// derivedRequest returns the newest request of a lineage in a page, or nil.
func derivedRequest(ask asker, tenant, lineage string, at int64) (*Request, error) {
	p, err := readPage(ask, at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // dropped just now
	}
	if err != nil {
		return nil, err
	}
	var found *Request
	err = p.records(func(_ int, r Record) bool {
		if q := r.Request; q != nil && q.Derived && q.Tenant == tenant && q.Lineage == lineage {
			found = q
		}
		return true
	}, needle("lineage", lineage))
	return found, err
}
