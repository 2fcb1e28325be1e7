package logsink

import (
	"database/sql"
	"errors"
)

// A doomedPage is a page to be dropped.
type doomedPage struct {
	id    int64
	prev  int64
	key   []byte
	ids   []byte
	lines []byte
}

// oldestPages returns the first pages of the log, at most so many and up to one
// that is not older than the cutoff.
func (t *tx) oldestPages(cutoff, most int64) ([]*doomedPage, error) {
	st, err := t.prepared(`SELECT id, prev, key, ids, lines, time FROM page ORDER BY id LIMIT ?`)
	if err != nil {
		return nil, err
	}
	rows, err := st.Query(most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*doomedPage
	for rows.Next() {
		p := new(doomedPage)
		var at int64
		if err := rows.Scan(&p.id, &p.prev, &p.key, &p.ids, &p.lines, &at); err != nil {
			return nil, err
		}
		if at >= cutoff {
			break
		}
		list = append(list, p)
	}
	return list, rows.Err()
}

// dropPage takes out a page and what it alone accounts for. The pages before it
// are gone, so the chain of its session ends after it.
func (t *tx) dropPage(p *doomedPage) error {
	var failed error
	lines := storedPage{id: p.id, lines: p.lines}
	// A page that cannot be read to its end is dropped all the same. The blobs
	// of the rest then stay for ever: better than to lose one that is in use.
	lines.records(func(_ int, r Record) bool {
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
	var last, tail int64
	err = t.row(`SELECT last, tail FROM session WHERE key = ?`, key).Scan(&last, &tail)
	if errors.Is(err, sql.ErrNoRows) || err == nil && last >= cutoff {
		return d, true, nil
	}
	if err != nil {
		return d, false, err
	}
	for range dropPagesAtOnce {
		p := &doomedPage{id: tail}
		err := t.row(`SELECT prev, key, ids, lines FROM page WHERE id = ? AND key = ?`, tail, key).Scan(&p.prev, &p.key, &p.ids, &p.lines)
		if errors.Is(err, sql.ErrNoRows) {
			d.Sessions = 1
			return d, true, t.dropAnchors(key)
		}
		if err != nil {
			return d, false, err
		}
		if err := t.dropPage(p); err != nil {
			return d, false, err
		}
		d.Records += int64(len(p.ids) / 16)
		tail = p.prev
	}
	_, err = t.exec(`UPDATE session SET tail = ?, heads = ? WHERE key = ?`, tail, []byte{headsSome}, key)
	return d, false, err
}

// dropAnchors takes out a session that has no pages.
func (t *tx) dropAnchors(key []byte) error {
	digests, err := t.anchorBlobs(key)
	if err != nil {
		return err
	}
	for _, d := range digests {
		if err := t.unrefBlob(d); err != nil {
			return err
		}
	}
	for _, query := range []string{`DELETE FROM anchor WHERE key = ?`, `DELETE FROM ended WHERE key = ?`, `DELETE FROM session WHERE key = ?`} {
		if _, err := t.exec(query, key); err != nil {
			return err
		}
	}
	return nil
}

// anchorBlobs returns the digests that the anchors of a session refer to, one
// for each reference.
func (t *tx) anchorBlobs(key []byte) ([]Digest, error) {
	st, err := t.prepared(`SELECT messages, doc FROM anchor WHERE key = ?`)
	if err != nil {
		return nil, err
	}
	rows, err := st.Query(key)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Digest
	for rows.Next() {
		var messages, doc []byte
		if err := rows.Scan(&messages, &doc); err != nil {
			return nil, err
		}
		if len(messages) == len(Digest{}) {
			list = append(list, Digest(messages))
		}
		r, err := ParseRecord(doc)
		if err != nil || r.Anchor == nil {
			continue // as in dropPage
		}
		for i := range r.Anchor.Renderings {
			list = append(list, r.Anchor.Renderings[i].Blob)
		}
	}
	return list, rows.Err()
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
