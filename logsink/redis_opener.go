package logsink

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// An opener is what the anchors of one prefix have in common, which is most of
// them: ten thousand sessions with one opener store it once, as a blob. An
// anchor in Redis is its record without these members, and has as its last ones
//
//	"opener":"blake3:…"    the blob that has them
//	"blobs":["blake3:…"]   the renderings' bytes, which are blobs too
//
// blobs repeats what stands in the opener so that the anchor itself names all
// that must be kept for it.
type opener struct {
	Messages   []Message   `json:"messages"`
	Renderings []Rendering `json:"renderings"`
}

func (o *opener) appendJSON(dst []byte) []byte {
	dst = appendMessages(append(dst, `{"messages":`...), o.Messages)
	return append(appendRenderings(dst, o.Renderings), '}')
}

// blobs are the bytes of the renderings; dialects share many.
func (o *opener) blobs() (list []Blob) {
	for i := range o.Renderings {
		r := &o.Renderings[i]
		if !slices.ContainsFunc(list, func(b Blob) bool { return b.Digest == r.Blob }) {
			list = append(list, Blob{r.Blob, r.Bytes})
		}
	}
	return list
}

// appendOpener adds the opener's members to an anchor's record.
func appendOpener(doc []byte, opener Digest, blobs []Blob) []byte {
	doc = appendDigest(bytes.TrimSuffix(doc, []byte("}")), `,"opener":`, opener)
	for i := range blobs {
		name := `,`
		if i == 0 {
			name = `,"blobs":[`
		}
		doc = appendDigest(doc, name, blobs[i].Digest)
	}
	if len(blobs) > 0 {
		doc = append(doc, ']')
	}
	return append(doc, '}')
}

// openers holds those that this process has read, so that sessions share them
// in memory too.
type openers struct {
	mu   sync.Mutex // guards the following
	m    map[Digest]*opener
	size int // bytes
}

// opener returns one with the bytes of its renderings. It is shared.
func (s *Redis) opener(ctx context.Context, d Digest) (*opener, error) {
	s.known.mu.Lock()
	o := s.known.m[d]
	s.known.mu.Unlock()
	if o != nil {
		return o, nil
	}
	o, size, err := s.readOpener(ctx, d)
	if err != nil {
		return nil, err
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.known.m == nil || s.known.size+size > internMost {
		s.known.m, s.known.size = map[Digest]*opener{}, 0
	}
	s.known.m[d] = o
	s.known.size += size
	return o, nil
}

// readOpener reads an opener in two round trips.
func (s *Redis) readOpener(ctx context.Context, d Digest) (o *opener, size int, err error) {
	texts, err := s.readBlobs(ctx, []Digest{d})
	if err != nil {
		return nil, 0, err
	}
	o = new(opener)
	if err := json.Unmarshal(texts[d], o); err != nil {
		return nil, 0, fmt.Errorf("%w: opener %s: %w", ErrCorrupt, d, err)
	}
	var digests []Digest
	for _, b := range o.blobs() {
		digests = append(digests, b.Digest)
	}
	got, err := s.readBlobs(ctx, digests)
	if err != nil {
		return nil, 0, err
	}
	size = len(texts[d])
	for i := range o.Renderings {
		r := &o.Renderings[i]
		r.Bytes = got[r.Blob]
		size += len(r.Bytes)
	}
	return o, size, nil
}
