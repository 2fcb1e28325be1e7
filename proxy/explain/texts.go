package explain

import (
	"container/list"
	"hash/maphash"
)

// texts keeps the bytes of sections by digest, each once, up to a limit: ten
// thousand threads of one agent have one system prompt. What was used least
// recently goes first; after that the digest is all that is known.
type texts struct {
	limit int // bytes; no text larger than a quarter of it is kept
	used  int
	by    map[partKey]*list.Element // of *text
	order *list.List                // latest use first
}

// A partKey tells sections apart: what matters in a text is another thing in
// each part, and in each family of rules.
type partKey struct {
	digest Digest
	part   partName
	rules  ruleKind
}

type text struct {
	key    partKey
	bytes  []byte
	effect uint64
}

// textCost is what an entry takes beside its bytes, roughly.
const textCost = 200

func newTexts(limit int) *texts {
	return &texts{limit: limit, by: map[partKey]*list.Element{}, order: list.New()}
}

// A part is what a thread keeps of a section.
type part struct {
	key    partKey // its digest is zero if the request has no such part
	effect uint64  // of what the provider's cache sees of it
	unread bool    // its text was not at hand: the effect is one of all of it
}

func (p part) same(q part) bool { return p.key.digest == q.key.digest || p.effect == q.effect }

// take keeps a section's bytes if it has any.
func (t *texts) take(s *Section, name partName, kind ruleKind) part {
	if s.Digest == (Digest{}) && len(s.Bytes) == 0 {
		return part{}
	}
	key := partKey{s.Digest, name, kind}
	if e, ok := t.by[key]; ok {
		t.order.MoveToFront(e)
		return part{key: key, effect: e.Value.(*text).effect}
	}
	if s.Bytes == nil {
		return part{key: key, effect: maphash.Bytes(seed, s.Digest[:]), unread: true}
	}
	kept := &text{key, s.Bytes, effectOf(s.Bytes, name, kind)}
	t.put(kept)
	return part{key: key, effect: kept.effect}
}

func (t *texts) put(x *text) {
	if len(x.bytes) > t.limit/4 {
		return
	}
	t.by[x.key] = t.order.PushFront(x)
	t.used += len(x.bytes) + textCost
	for t.used > t.limit {
		last := t.order.Back()
		old := t.order.Remove(last).(*text)
		delete(t.by, old.key)
		t.used -= len(old.bytes) + textCost
	}
}

// of returns the bytes of a part, nil if they are not kept.
func (t *texts) of(p part) []byte {
	if e, ok := t.by[p.key]; ok {
		return e.Value.(*text).bytes
	}
	return nil
}

// seed is that of every hash here. They find differences within one process.
var seed = maphash.MakeSeed()

// effectOf hashes what of a section reaches the provider's cache.
func effectOf(b []byte, name partName, kind ruleKind) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	if name == inParameters {
		for _, s := range settingsOf(b, kind) {
			if s.weight == matters {
				h.WriteString(s.name)
				h.WriteByte(0)
				h.WriteString(s.value)
				h.WriteByte(0)
			}
		}
		return h.Sum64()
	}
	for i, e := range elementsOf(b) {
		if name == inSystem && strippedByProvider(e.of(b), i, kind) {
			continue
		}
		h.Write(plain(e.of(b), kind))
		h.WriteByte(0)
	}
	return h.Sum64()
}

// plain is an element as the model reads it: without marks, and where the
// provider says so, a block of nothing but text as its text.
func plain(e []byte, kind ruleKind) []byte {
	if len(e) == 0 || e[0] != '{' {
		return e
	}
	bare := withoutMarks(e).text
	if kind != byMarks {
		return bare
	}
	members := membersOf(bare, piece{0, len(bare)})
	if t, ok := find(members, "text"); ok && len(members) == 2 {
		return t.of(bare)
	}
	return bare
}
