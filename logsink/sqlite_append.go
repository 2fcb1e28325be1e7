package logsink

import (
	"database/sql"
	"errors"
)

// append stores pages and blobs. Blobs come first, so that the headers in the
// pages find them.
func (t *tx) append(pages []*page, blobs []Blob) error {
	if !t.recent.loaded {
		if err := t.recent.load(t); err != nil {
			return err
		}
	}
	for i := range blobs {
		if err := t.putBlob(blobs[i].Digest, blobs[i].Bytes); err != nil {
			return err
		}
	}
	for _, p := range pages {
		if p = p.only(t.isNew); p == nil {
			continue
		}
		if err := t.putPage(p); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) putPage(p *page) error {
	s, err := t.session(p.key, p.of)
	if err != nil {
		return err
	}
	id, err := t.insertPage(p, s.tail)
	if err != nil {
		return err
	}
	for i := range p.entries {
		if err := t.refer(&p.entries[i], id); err != nil {
			return err
		}
	}
	s.learn(p, id)
	return t.saveTail(s)
}

// isNew reports whether a record was not stored of late, and takes it for
// stored: if that fails, the writer takes it back.
func (t *tx) isNew(id recordID) bool {
	if !t.recent.add(id) {
		return false
	}
	t.stored = append(t.stored, id)
	return true
}

func (t *tx) insertPage(p *page, prev int64) (id int64, err error) {
	res, err := t.exec(`INSERT INTO page (key, prev, time, ids, sum, lines) VALUES (?,?,?,?,?,CAST(? AS TEXT))`,
		p.key.bytes(), prev, p.latest(), p.ids(), checksum(p.lines), p.lines)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// refer makes a record found by its lineage and counts it at its blobs.
func (t *tx) refer(e *entry, page int64) error {
	if e.lineage != nil {
		if _, err := t.exec(`INSERT OR REPLACE INTO lineage (id, page) VALUES (?,?)`, e.lineage[:], page); err != nil {
			return err
		}
	}
	for _, d := range e.blobs {
		if err := t.refBlob(d); err != nil {
			return err
		}
	}
	return nil
}

// A sessionRow is a row of the table session.
type sessionRow struct {
	key                   sessionKey
	of                    Key
	there                 bool
	since, anchored, last int64
	epoch, tail           int64
	heads                 heads
}

// session reads the row of a session, or returns the one to be made.
func (t *tx) session(key sessionKey, of Key) (*sessionRow, error) {
	s := &sessionRow{key: key, of: of}
	var h []byte
	err := t.row(`SELECT since, anchored, last, epoch, tail, heads FROM session WHERE key = ?`, key.bytes()).
		Scan(&s.since, &s.anchored, &s.last, &s.epoch, &s.tail, &h)
	if errors.Is(err, sql.ErrNoRows) {
		s.heads = newHeads()
		return s, nil
	}
	s.there = true
	s.heads = h
	return s, err
}

// saveSession writes the whole row.
func (t *tx) saveSession(s *sessionRow) error {
	query := `UPDATE session SET since = ?, anchored = ?, last = ?, epoch = ?, tail = ?, heads = ? WHERE key = ?`
	args := []any{s.since, s.anchored, s.last, s.epoch, s.tail, []byte(s.heads), s.key.bytes()}
	if !s.there {
		query = `INSERT INTO session (since, anchored, last, epoch, tail, heads, key, tenant, session) VALUES (?,?,?,?,?,?,?,?,?)`
		args = append(args, s.of.Tenant, s.of.Session)
	}
	_, err := t.exec(query, args...)
	return err
}

// saveTail writes what a page changes. A column that an index holds is not
// named: SQLite would write the index anew even for the same value.
func (t *tx) saveTail(s *sessionRow) error {
	if !s.there {
		return t.saveSession(s)
	}
	_, err := t.exec(`UPDATE session SET last = ?, tail = ?, heads = ? WHERE key = ?`, s.last, s.tail, []byte(s.heads), s.key.bytes())
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
