package logsink

import (
	"database/sql"
	"errors"
)

// A sessionRow is a row of the table session.
type sessionRow struct {
	id                    int64 // 0: it is to be made
	key                   []byte
	of                    Key
	since, anchored, last int64
	epoch, anchor, tail   int64
	heads                 heads
}

const (
	sessionColumns = `id, key, tenant, session, since, anchored, last, epoch, anchor, tail, heads, sum`
	selectSession  = `SELECT ` + sessionColumns + ` FROM session WHERE key = ?`
)

// scan reads a row of sessionColumns.
func (s *sessionRow) scan(r row) error {
	var sum int64
	err := r.Scan(&s.id, &s.key, &s.of.Tenant, &s.of.Session, &s.since, &s.anchored, &s.last, &s.epoch, &s.anchor, &s.tail, (*[]byte)(&s.heads), &sum)
	if err != nil {
		return err
	}
	if s.sum() != sum {
		return damaged("row of session %q: its checksum differs", s.of.Session)
	}
	return nil
}

func (s *sessionRow) sum() int64 {
	return checksum(s.heads, s.key, s.of.Tenant, s.of.Session, s.since, s.anchored, s.last, s.epoch, s.anchor, s.tail)
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
	if s.id == 0 {
		return t.makeSession(s)
	}
	_, err := t.exec(`UPDATE session SET since = ?, anchored = ?, last = ?, epoch = ?, anchor = ?, tail = ?, heads = ?, sum = ? WHERE id = ?`,
		s.since, s.anchored, s.last, s.epoch, s.anchor, s.tail, []byte(s.heads), s.sum(), s.id)
	return t.keepSession(s, err)
}

func (t *tx) makeSession(s *sessionRow) error {
	res, err := t.exec(`INSERT INTO session (key, tenant, session, since, anchored, last, epoch, anchor, tail, heads, sum) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		s.key, s.of.Tenant, s.of.Session, s.since, s.anchored, s.last, s.epoch, s.anchor, s.tail, []byte(s.heads), s.sum())
	if err == nil {
		s.id, err = res.LastInsertId()
	}
	return t.keepSession(s, err)
}

// saveTail writes what a page changes. A column that an index holds is not
// named: SQLite would write the index anew even for the same value.
func (t *tx) saveTail(s *sessionRow) error {
	if s.id == 0 {
		return t.makeSession(s)
	}
	_, err := t.exec(`UPDATE session SET last = ?, tail = ?, heads = ?, sum = ? WHERE id = ?`, s.last, s.tail, []byte(s.heads), s.sum(), s.id)
	return t.keepSession(s, err)
}

// keepSession remembers a row that was written.
func (t *tx) keepSession(s *sessionRow, err error) error {
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
func (s *sessionRow) freeze(a *Anchor, id int64) {
	at := max(1, nanos(a.Time))
	if s.anchored == 0 {
		s.since = at
	}
	s.anchored = max(s.anchored, at)
	s.last = max(s.last, at)
	s.epoch, s.anchor = int64(a.Epoch), id
}
