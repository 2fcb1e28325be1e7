package logsink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A redisFreezing is one call of Freeze, with its own copy of what is to be
// stored.
type redisFreezing struct {
	key   sessionKey
	of    Key
	epoch int
	time  int64 // µs
	doc   []byte
	blobs []Blob
}

func newRedisFreezing(a *Anchor) *redisFreezing {
	f := &redisFreezing{key: keyOf(a.Key), of: a.Key, epoch: a.Epoch, time: micros(max(1000, nanos(a.Time)))}
	stored, o := *a, opener{a.Messages, a.Renderings}
	stored.Messages, stored.Renderings = nil, nil
	f.doc = Record{Anchor: &stored}.AppendJSON(nil)
	if len(a.Messages) == 0 {
		return f // bare
	}
	text := o.appendJSON(nil)
	d := Sum(text)
	f.blobs = cloneBlobs(o.blobs())
	f.doc = appendOpener(f.doc, d, f.blobs)
	f.blobs = append(f.blobs, Blob{d, text})
	return f
}

// freeze stores the anchor, or returns the one that is there. The blobs come
// first: an anchor never names one that is not in the log.
func (s *Redis) freeze(ctx context.Context, f *redisFreezing) (*Anchor, error) {
	if err := s.putBlobs(ctx, f.blobs); err != nil {
		return nil, err
	}
	k, b := f.key, f.key.bucket()
	keys := []string{k.key(kindSession), b.key(kindAnchored), b.key(kindActive), b.key(kindEnded), b.key(kindClock)}
	there, err := s.write(ctx, step{freezeScript, keys, []any{k.hex(), f.epoch, f.doc, f.time, f.of.Tenant, f.of.Session}})
	if err != nil || len(there) == 0 {
		return nil, err
	}
	doc, _ := there[0].(string)
	return s.whole(ctx, []byte(doc), f.of, f.epoch)
}

func (s *Redis) current(ctx context.Context, k Key) (*Anchor, error) {
	// As durable as if it were written now: whoever stored it may still wait for
	// that, or have been told that it failed.
	there, err := s.write(ctx, step{currentScript, []string{keyOf(k).key(kindSession)}, nil})
	if err != nil {
		return nil, err
	}
	if len(there) < 2 {
		return nil, ErrNoSession
	}
	doc, _ := there[0].(string)
	epoch, _ := there[1].(int64)
	return s.whole(ctx, []byte(doc), k, int(epoch))
}

// whole makes an anchor of what is stored. It trusts nothing: a client library
// that mixed up two replies must not mix up two tenants (I6), so that the anchor
// belongs to the session that was asked for is checked.
func (s *Redis) whole(ctx context.Context, doc []byte, k Key, epoch int) (*Anchor, error) {
	r, err := ParseRecord(doc)
	if errors.Is(err, ErrNewer) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err != nil {
		return nil, torn("anchor of epoch %d of session %q: %v", epoch, k.Session, err)
	}
	a := r.Anchor
	if a == nil || a.Key != k || a.Epoch != epoch {
		return nil, torn("what stands for the anchor of epoch %d of session %q belongs to another", epoch, k.Session)
	}
	if err := s.fill(ctx, a, doc); err != nil {
		if errors.Is(err, ErrNoBlob) {
			err = torn("anchor of epoch %d of session %q: %v", epoch, k.Session, err)
		}
		return nil, err
	}
	return a, nil
}

// fill adds what is stored as blobs.
func (s *Redis) fill(ctx context.Context, a *Anchor, doc []byte) error {
	var refs struct {
		Opener Digest `json:"opener"`
	}
	if err := json.Unmarshal(doc, &refs); err != nil {
		return torn("anchor of session %q: %v", a.Session, err)
	}
	if refs.Opener.IsZero() {
		return nil // bare
	}
	o, err := s.opener(ctx, refs.Opener)
	if err != nil {
		return err
	}
	a.Messages, a.Renderings = o.Messages, slices.Clone(o.Renderings)
	return nil
}

// Anchors implements Reader.
func (s *Redis) Anchors(ctx context.Context, k Key) ([]*Anchor, error) {
	list, err := call(ctx, s, func(ctx context.Context) ([]*Anchor, error) { return s.anchors(ctx, k) })
	if err != nil {
		return nil, fmt.Errorf("cannot read the anchors of session %q: %w", k.Session, err)
	}
	return list, nil
}

func (s *Redis) anchors(ctx context.Context, k Key) ([]*Anchor, error) {
	fields, err := s.client.HGetAll(ctx, keyOf(k).key(kindSession)).Result()
	if err != nil {
		return nil, err
	}
	m, err := parseMeta(fields["m"])
	if err != nil {
		return nil, err
	}
	if m.epoch == 0 {
		return nil, ErrNoSession
	}
	var list []*Anchor
	for epoch := 1; epoch <= m.epoch; epoch++ {
		doc, ok := fields["a"+strconv.Itoa(epoch)]
		if !ok {
			continue // epochs may be left out
		}
		a, err := s.whole(ctx, []byte(doc), k, epoch)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// redisMeta is the field m of a session: times in µs, and the latest epoch.
type redisMeta struct {
	since, anchored, last int64
	epoch                 int
}

func parseMeta(m string) (r redisMeta, err error) {
	if m == "" {
		return r, nil
	}
	if n, _ := fmt.Sscanf(m, "%d %d %d %d", &r.since, &r.anchored, &r.last, &r.epoch); n != 4 {
		return r, torn("a session has the field m = %q, which is not four numbers", m)
	}
	return r, nil
}

// hex is how members of sorted sets name a session.
func (k sessionKey) hex() string {
	_, id, _ := strings.Cut(k.key(""), "::")
	return id
}
