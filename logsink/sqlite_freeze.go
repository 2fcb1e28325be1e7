package logsink

import (
	"database/sql"
	"errors"
	"fmt"
)

// A freezing is one call of Freeze, with its own copy of what is to be stored.
type freezing struct {
	key   sessionKey
	brief Anchor // without messages and bytes
	doc   []byte
	msgs  Blob
	blobs []Blob
	there *Anchor // the anchor that came first, if one did
}

func newFreezing(a *Anchor) *freezing {
	f := &freezing{key: keyOf(a.Key), brief: *a}
	f.brief.Messages, f.brief.Renderings, f.brief.Contributors = nil, nil, nil
	stored := *a
	stored.Messages = nil
	f.doc = Record{Anchor: &stored}.AppendJSON(nil)
	for i := range a.Renderings {
		f.blobs = append(f.blobs, Blob{a.Renderings[i].Blob, a.Renderings[i].Bytes})
	}
	if len(a.Messages) > 0 {
		text := appendMessages(nil, a.Messages)
		f.msgs = Blob{Sum(text), text}
		f.blobs = append(f.blobs, f.msgs)
	}
	f.blobs = cloneBlobs(f.blobs)
	return f
}

// run is the one atomic step of invariant 1: take the anchor that is there, or
// else store ours.
func (f *freezing) run(t *tx, known *interned) error {
	there, err := anchorOf(t.ask(), known, f.brief.Key, f.key, int64(f.brief.Epoch))
	if err == nil {
		f.there = there
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	s, err := t.session(f.key, f.brief.Key)
	if err != nil {
		return err
	}
	if s.epoch >= int64(f.brief.Epoch) {
		return damaged("session %q: its anchor of epoch %d is gone", f.brief.Session, f.brief.Epoch)
	}
	for i := range f.blobs {
		if err := t.shareBlob(f.blobs[i]); err != nil {
			return err
		}
	}
	return f.insert(t, s)
}

func (f *freezing) insert(t *tx, s *sessionRow) error {
	var messages []byte // NULL
	if !f.msgs.Digest.IsZero() {
		messages = f.msgs.Digest[:]
	}
	sum := anchorSum(f.key.bytes(), int64(f.brief.Epoch), messages, f.doc)
	_, err := t.exec(`INSERT INTO anchor (key, epoch, messages, sum, doc) VALUES (?,?,?,?,CAST(? AS TEXT))`,
		f.key.bytes(), f.brief.Epoch, messages, sum, f.doc)
	if err != nil {
		return err
	}
	s.freeze(&f.brief)
	return t.saveSession(s)
}

func anchorSum(key []byte, epoch int64, messages, doc []byte) int64 {
	return checksum(doc, key, epoch, messages)
}

func (t *tx) ask() asker { return t.row }

// anchorOf reads the anchor of one epoch, or sql.ErrNoRows.
func anchorOf(ask asker, known *interned, k Key, key sessionKey, epoch int64) (*Anchor, error) {
	var a storedAnchor
	err := ask(`SELECT messages, sum, doc FROM anchor WHERE key = ? AND epoch = ?`, key.bytes(), epoch).Scan(&a.messages, &a.sum, &a.doc)
	if err != nil {
		return nil, err
	}
	return a.read(ask, known, k, epoch)
}

// latestAnchor reads the anchor of the session's latest epoch.
func latestAnchor(ask asker, known *interned, k Key) (*Anchor, error) {
	for range 2 {
		row, err := readSession(ask, k)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, noAnchors(ask, k)
		}
		if err != nil {
			return nil, err
		}
		if row.epoch == 0 {
			return nil, ErrNoSession
		}
		a, err := anchorOf(ask, known, k, keyOf(k), row.epoch)
		if !errors.Is(err, sql.ErrNoRows) {
			return a, err
		}
		// Dropped between the two questions, or damaged: then it is so again.
	}
	return nil, damaged("session %q: its latest anchor is gone", k.Session)
}

// noAnchors is ErrNoSession, unless there are anchors without a session: to take
// that for a new session would freeze its first epoch again.
func noAnchors(ask asker, k Key) error {
	var n int
	if err := ask(`SELECT count(*) FROM anchor WHERE key = ?`, keyOf(k).bytes()).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return damaged("session %q: its row is gone and its anchors are not", k.Session)
	}
	return ErrNoSession
}

// A storedAnchor is a row of the table anchor.
type storedAnchor struct {
	messages []byte
	sum      int64
	doc      []byte
}

// read makes the anchor whole again. It trusts nothing: that the row is what
// was written, and that it belongs to the session that was asked for, is checked.
func (sa *storedAnchor) read(ask asker, known *interned, k Key, epoch int64) (*Anchor, error) {
	if anchorSum(keyOf(k).bytes(), epoch, sa.messages, sa.doc) != sa.sum {
		return nil, damaged("anchor of epoch %d: its checksum differs", epoch)
	}
	r, err := ParseRecord(sa.doc)
	if errors.Is(err, ErrNewer) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err != nil {
		return nil, damaged("anchor of epoch %d: %v", epoch, err)
	}
	a := r.Anchor
	if a == nil || a.Key != k || int64(a.Epoch) != epoch {
		return nil, damaged("anchor of epoch %d: it belongs to another session or epoch", epoch)
	}
	err = sa.fill(a, ask, known)
	if errors.Is(err, ErrNoBlob) {
		return nil, damaged("anchor of epoch %d: %v", epoch, err)
	}
	return a, err
}

// fill adds what is stored as blobs.
func (sa *storedAnchor) fill(a *Anchor, ask asker, known *interned) (err error) {
	if len(sa.messages) == len(Digest{}) {
		if a.Messages, err = known.list(ask, Digest(sa.messages)); err != nil {
			return err
		}
	}
	for i := range a.Renderings {
		if a.Renderings[i].Bytes, err = known.blob(ask, a.Renderings[i].Blob); err != nil {
			return err
		}
	}
	return nil
}
