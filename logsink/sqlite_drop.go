package logsink

import (
	"database/sql"
	"errors"
)

// oldestPages returns the first pages of the log, at most so many and up to one
// that is not older than the cutoff.
func (t *tx) oldestPages(cutoff, most int64) ([]*storedPage, error) {
	st, err := t.prepared(`SELECT ` + pageColumns + ` FROM page ORDER BY id LIMIT ?`)
	if err != nil {
		return nil, err
	}
	rows, err := st.Query(most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*storedPage
	for rows.Next() {
		p := new(storedPage)
		if err := p.scan(rows); err != nil && !errors.Is(err, ErrCorrupt) {
			return nil, err
		}
		if p.at >= cutoff {
			break
		}
		list = append(list, p)
	}
	return list, rows.Err()
}

// dropPage takes out a page and what it alone accounts for. The pages before it
// are gone, so the chain of its session ends after it.
func (t *tx) dropPage(p *storedPage) error {
	var failed error
	// A damaged page is dropped all the same, as far as it can be read. Blobs of
	// the rest then stay for ever: better than to lose one that is in use.
	p.records(func(_ int, r Record) bool {
		failed = t.forget(r, p.id)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	_, err := t.exec(`DELETE FROM page WHERE id = ?`, p.id)
	return err
}

// forget undoes tx.refer.
func (t *tx) forget(r Record, page int64) error {
	if q := r.Request; q != nil && q.Derived && q.Lineage != "" {
		id := lineageID(q.Tenant, q.Lineage)
		if _, err := t.exec(`DELETE FROM lineage WHERE id = ? AND page = ?`, id[:], page); err != nil {
			return err
		}
	}
	if r.Header == nil {
		return nil
	}
	for _, d := range storedParts(r.Header) {
		if err := t.unrefBlob(d); err != nil {
			return err
		}
	}
	return nil
}

// dropSessionPart drops some of the newest pages of a session, and the session
// itself when none is left. It does nothing to a session that had a record
// since it was chosen.
func (t *tx) dropSessionPart(key []byte, cutoff int64) (d Dropped, done bool, err error) {
	var s sessionRow
	err = s.scan(t.row(selectSession, key))
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, ErrCorrupt) || err == nil && s.last >= cutoff {
		return d, true, nil // a damaged row does not say how old it is
	}
	if err != nil {
		return d, false, err
	}
	for range dropPagesAtOnce {
		p, err := readPage(t.ask(), s.tail)
		if errors.Is(err, sql.ErrNoRows) {
			d.Sessions = 1
			return d, true, t.dropAnchors(&s)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return d, false, err
		}
		if err := t.dropPage(p); err != nil {
			return d, false, err
		}
		d.Records += int64(len(p.ids) / 16)
		s.tail = p.prev
	}
	s.heads = heads{headsSome}
	return d, false, t.saveTail(&s)
}

// dropAnchors takes out a session that has no pages.
func (t *tx) dropAnchors(s *sessionRow) error {
	var failed error
	err := walkAnchors(t.ask(), s, func(sa *storedAnchor) bool {
		failed = t.dropAnchor(sa)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) && !errors.Is(err, ErrCorrupt) {
		return err // a damaged chain goes as far as it can be read, as in dropPage
	}
	delete(t.sessions.rows, sessionKey(s.key))
	if _, err := t.exec(`DELETE FROM ended WHERE key = ?`, s.key); err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM session WHERE id = ?`, s.id)
	return err
}

func (t *tx) dropAnchor(sa *storedAnchor) error {
	for _, d := range sa.blobs() {
		if err := t.unrefBlob(d); err != nil {
			return err
		}
	}
	_, err := t.exec(`DELETE FROM anchor WHERE id = ?`, sa.id)
	return err
}

// dropOrphans drops some blobs that nothing refers to and that were not offered
// since a time, and returns how many.
func (t *tx) dropOrphans(before int64) (int64, error) {
	const (
		orphans      = ` FROM blob WHERE refs = 0 AND time < ? ORDER BY time, digest LIMIT ?)`
		dropPayloads = `DELETE FROM payload WHERE id IN (SELECT payload` + orphans
		dropBlobs    = `DELETE FROM blob WHERE digest IN (SELECT digest` + orphans
	)
	if _, err := t.exec(dropPayloads, before, dropBlobsAtOnce); err != nil {
		return 0, err
	}
	res, err := t.exec(dropBlobs, before, dropBlobsAtOnce)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
