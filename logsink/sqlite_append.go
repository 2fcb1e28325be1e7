package logsink

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
	at, ids := p.latest(), p.ids()
	res, err := t.exec(`INSERT INTO page (key, prev, time, ids, sum, lines) VALUES (?,?,?,?,?,CAST(? AS TEXT))`,
		p.key[:], prev, at, ids, pageSum(p.key[:], prev, at, ids, p.lines), p.lines)
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
