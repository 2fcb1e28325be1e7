package logsink

import (
	"database/sql"
	"errors"
)

// A sessionRow is a row of the table session.
type sessionRow struct {
	key                   []byte
	of                    Key
	there                 bool
	since, anchored, last int64
	epoch, tail           int64
	heads                 heads
}

const (
	sessionColumns = `key, tenant, session, since, anchored, last, epoch, tail, heads, sum`
	selectSession  = `SELECT ` + sessionColumns + ` FROM session WHERE key = ?`
)

// scan reads a row of sessionColumns.
func (s *sessionRow) scan(r row) error {
	var sum int64
	err := r.Scan(&s.key, &s.of.Tenant, &s.of.Session, &s.since, &s.anchored, &s.last, &s.epoch, &s.tail, (*[]byte)(&s.heads), &sum)
	if err != nil {
		return err
	}
	s.there = true
	if s.sum() != sum {
		return damaged("row of session %q: its checksum differs", s.of.Session)
	}
	return nil
}

func (s *sessionRow) sum() int64 {
	return checksum(s.heads, s.key, s.of.Tenant, s.of.Session, s.since, s.anchored, s.last, s.epoch, s.tail)
}

// readSession reads the row of a session, or sql.ErrNoRows.
func readSession(ask asker, k Key) (*sessionRow, error) {
	s := new(sessionRow)
	if err := s.scan(ask(selectSession, keyOf(k).bytes())); err != nil {
		return nil, err
	}
	if s.of != k {
		return nil, damaged("row of session %q: it belongs to another session", k.Session)
	}
	return s, nil
}

// session returns the row of a session, or the one to be made.
func (t *tx) session(key sessionKey, of Key) (*sessionRow, error) {
	if s := t.sessions.rows[key]; s != nil && s.of == of {
		return s, nil
	}
	s, err := readSession(t.ask(), of)
	if errors.Is(err, sql.ErrNoRows) {
		return &sessionRow{key: key.bytes(), of: of, heads: newHeads()}, nil
	}
	return s, err
}

// A sessionCache holds the rows that this process wrote last. Reading a row
// costs as much as writing it, and nobody else wrote it if the version of the
// data, as SQLite counts the commits of others, is the same.
type sessionCache struct {
	version int64
	rows    map[sessionKey]*sessionRow
}

// cachedMost bounds it; when it is full it starts anew.
const cachedMost = 8192

func (c *sessionCache) forget() { *c = sessionCache{} }

// check forgets the rows if another connection wrote since the last check. It
// must be asked inside a transaction that holds the write lock.
func (c *sessionCache) check(t *conn) error {
	var version int64
	if err := t.row("PRAGMA data_version").Scan(&version); err != nil {
		return err
	}
	if version != c.version || len(c.rows) >= cachedMost {
		*c = sessionCache{version: version}
	}
	if c.rows == nil {
		c.rows = map[sessionKey]*sessionRow{}
	}
	return nil
}

// saveSession writes the whole row.
func (t *tx) saveSession(s *sessionRow) error {
	query := `UPDATE session SET since = ?, anchored = ?, last = ?, epoch = ?, tail = ?, heads = ?, sum = ? WHERE key = ?`
	args := []any{s.since, s.anchored, s.last, s.epoch, s.tail, []byte(s.heads), s.sum(), s.key}
	if !s.there {
		query = `INSERT INTO session (since, anchored, last, epoch, tail, heads, sum, key, tenant, session) VALUES (?,?,?,?,?,?,?,?,?,?)`
		args = append(args, s.of.Tenant, s.of.Session)
	}
	_, err := t.exec(query, args...)
	if err == nil {
		s.there = true
		t.sessions.rows[sessionKey(s.key)] = s
	}
	return err
}

// saveTail writes what a page changes. A column that an index holds is not
// named: SQLite would write the index anew even for the same value.
func (t *tx) saveTail(s *sessionRow) error {
	if !s.there {
		return t.saveSession(s)
	}
	_, err := t.exec(`UPDATE session SET last = ?, tail = ?, heads = ?, sum = ? WHERE key = ?`, s.last, s.tail, []byte(s.heads), s.sum(), s.key)
	if err == nil {
		t.sessions.rows[sessionKey(s.key)] = s
	}
	return err
}

// learn takes in a page that was stored.
func (s *sessionRow) learn(p *page, id int64) {
	latest := p.latest()
	s.tail = id
	s.last = max(s.last, latest)
	if s.since == 0 {
		s.since = latest
	}
	for i := range p.entries {
		switch e := &p.entries[i]; e.kind {
		case KindRequest:
			s.heads = s.heads.set(e.thread, id, 0)
		case KindHeader:
			s.heads = s.heads.set(e.thread, 0, id)
		}
	}
}

// freeze takes in an anchor that was stored.
func (s *sessionRow) freeze(a *Anchor) {
	at := max(1, nanos(a.Time))
	if s.anchored == 0 {
		s.since = at
	}
	s.anchored = max(s.anchored, at)
	s.last = max(s.last, at)
	s.epoch = max(s.epoch, int64(a.Epoch))
}
