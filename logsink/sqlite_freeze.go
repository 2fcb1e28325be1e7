package logsink

import (
	"database/sql"
	"errors"
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
	s, err := t.session(f.key, f.brief.Key)
	if err != nil {
		return err
	}
	if epoch := int64(f.brief.Epoch); s.epoch >= epoch {
		sa, err := findAnchor(t.ask(), s, epoch)
		if err != nil {
			return err
		}
		f.there, err = sa.whole(t.ask(), known, f.brief.Key)
		return err
	}
	for i := range f.blobs {
		if err := t.shareBlob(f.blobs[i]); err != nil {
			return err
		}
	}
	return f.insert(t, s)
}

func (f *freezing) insert(t *tx, s *sessionRow) error {
	sa := storedAnchor{prev: s.anchor, key: s.key, epoch: int64(f.brief.Epoch), doc: f.doc}
	if !f.msgs.Digest.IsZero() {
		sa.messages = f.msgs.Digest[:] // else NULL
	}
	res, err := t.exec(`INSERT INTO anchor (prev, key, epoch, messages, sum, doc) VALUES (?,?,?,?,?,CAST(? AS TEXT))`,
		sa.prev, sa.key, sa.epoch, sa.messages, sa.sum(), sa.doc)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	s.freeze(&f.brief, id)
	if err := t.saveSession(s); err != nil || f.brief.Epoch == 1 {
		return err
	}
	return t.endEpoch(f.brief.Key, f.brief.Epoch-1)
}

// findAnchor returns the anchor of an epoch that the session has had.
func findAnchor(ask asker, s *sessionRow, epoch int64) (*storedAnchor, error) {
	var found *storedAnchor
	err := walkAnchors(ask, s, func(sa *storedAnchor) bool {
		if sa.epoch == epoch {
			found = sa
		}
		return found == nil
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && found == nil {
		return nil, damaged("session %q: its anchor of epoch %d is gone", s.of.Session, epoch)
	}
	return found, err
}
