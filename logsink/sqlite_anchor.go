package logsink

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
)

// A storedAnchor is a row of the table anchor.
type storedAnchor struct {
	id, prev      int64
	key           []byte
	epoch         int64
	messages, doc []byte
}

func (sa *storedAnchor) sum() int64 {
	return checksum(sa.doc, sa.prev, sa.key, sa.epoch, sa.messages)
}

func readAnchor(ask asker, id int64) (*storedAnchor, error) {
	sa := &storedAnchor{id: id}
	var sum int64
	err := ask(`SELECT prev, key, epoch, messages, sum, doc FROM anchor WHERE id = ?`, id).
		Scan(&sa.prev, &sa.key, &sa.epoch, &sa.messages, &sum, &sa.doc)
	if err != nil {
		return nil, err
	}
	if sa.sum() != sum {
		return nil, damaged("anchor %d: its checksum differs", id)
	}
	return sa, nil
}

// walkAnchors calls f with the anchors of a session, latest first, until it
// returns false. It gives sql.ErrNoRows if one is not there.
func walkAnchors(ask asker, s *sessionRow, f func(*storedAnchor) bool) error {
	for at := s.anchor; at != 0; {
		sa, err := readAnchor(ask, at)
		if err != nil {
			return err
		}
		if !bytes.Equal(sa.key, s.key) || sa.prev >= sa.id {
			return damaged("anchor %d: it belongs to another session", sa.id)
		}
		if !f(sa) {
			return nil
		}
		at = sa.prev
	}
	return nil
}

// storedAnchors returns the anchors of a session, latest first and at most so
// many, or ErrNoSession.
func storedAnchors(ask asker, k Key, most int) ([]*storedAnchor, error) {
	for range 2 {
		s, err := readSession(ask, k)
		if errors.Is(err, sql.ErrNoRows) || err == nil && s.anchor == 0 {
			return nil, ErrNoSession
		}
		if err != nil {
			return nil, err
		}
		var list []*storedAnchor
		err = walkAnchors(ask, s, func(sa *storedAnchor) bool {
			list = append(list, sa)
			return len(list) < most
		})
		if err == nil && list[0].epoch != s.epoch {
			return nil, damaged("session %q: its latest anchor is of epoch %d, not %d", k.Session, list[0].epoch, s.epoch)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return list, err
		}
		// The session was dropped between two questions, or one of its anchors
		// was lost; then it is so again.
	}
	return nil, damaged("session %q: one of its anchors is gone", k.Session)
}

func latestAnchor(ask asker, known *interned, k Key) (*Anchor, error) {
	list, err := storedAnchors(ask, k, 1)
	if err != nil {
		return nil, err
	}
	return list[0].whole(ask, known, k)
}

// whole makes an anchor of the row. It trusts nothing: that it belongs to the
// session that was asked for is checked.
func (sa *storedAnchor) whole(ask asker, known *interned, k Key) (*Anchor, error) {
	r, err := ParseRecord(sa.doc)
	if errors.Is(err, ErrNewer) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err != nil {
		return nil, damaged("anchor of epoch %d: %v", sa.epoch, err)
	}
	a := r.Anchor
	if a == nil || a.Key != k || int64(a.Epoch) != sa.epoch {
		return nil, damaged("anchor of epoch %d: it belongs to another session or epoch", sa.epoch)
	}
	err = sa.fill(a, ask, known)
	if errors.Is(err, ErrNoBlob) {
		return nil, damaged("anchor of epoch %d: %v", sa.epoch, err)
	}
	return a, err
}

// fill adds what is stored as blobs.
func (sa *storedAnchor) fill(a *Anchor, ask asker, known *interned) (err error) {
	if len(sa.messages) == len(Digest{}) {
		if a.Messages, err = known.list(ask.blob, Digest(sa.messages)); err != nil {
			return err
		}
	}
	for i := range a.Renderings {
		if a.Renderings[i].Bytes, err = known.blob(ask.blob, a.Renderings[i].Blob); err != nil {
			return err
		}
	}
	return nil
}

// blobs returns the digests that the anchor refers to, one for each reference.
func (sa *storedAnchor) blobs() (list []Digest) {
	if len(sa.messages) == len(Digest{}) {
		list = append(list, Digest(sa.messages))
	}
	r, err := ParseRecord(sa.doc)
	if err != nil || r.Anchor == nil {
		return list
	}
	for i := range r.Anchor.Renderings {
		list = append(list, r.Anchor.Renderings[i].Blob)
	}
	return list
}
