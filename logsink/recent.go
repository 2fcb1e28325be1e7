package logsink

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
)

// A recordID stands for (session, kind, id, attempt) of a record.
type recordID [16]byte

func idOf(k sessionKey, h *head) recordID {
	var buf [128]byte
	b := append(buf[:0], k[:]...)
	b = append(b, h.kind...)
	b = binary.AppendVarint(append(b, 0), int64(h.attempt))
	b = append(b, h.id...)
	sum := xxh3.Hash128(b)
	return sum.Bytes()
}

// recent knows the ids of the records that were stored last, so that a record
// that is offered again is not stored again. An index of all ids would make
// every record pay for a write at a random place; what is offered again was
// offered a moment before, so the last recentMost records are enough. They are
// read back from the newest pages when the log was opened or a transaction
// failed, since such a transaction may be on disk all the same.
//
// When newer has recentMost ids it becomes older, and what was older is
// forgotten at once: to forget ids one by one took most of the time.
type recent struct {
	loaded       bool
	newer, older map[recordID]struct{}
}

const recentMost = 1 << 15

func (r *recent) forget() { *r = recent{} }

// add reports whether id was not known.
func (r *recent) add(id recordID) bool {
	if _, ok := r.older[id]; ok {
		return false
	}
	before := len(r.newer)
	r.newer[id] = struct{}{}
	if len(r.newer) == before {
		return false
	}
	if len(r.newer) == recentMost {
		r.newer, r.older = r.older, r.newer
		clear(r.newer)
	}
	return true
}

// remove takes out ids whose job was undone.
func (r *recent) remove(ids []recordID) {
	for _, id := range ids {
		delete(r.newer, id)
		delete(r.older, id)
	}
}

// load reads the ids of the newest pages.
func (r *recent) load(t *tx) error {
	r.forget()
	st, err := t.prepared(`SELECT ids FROM page ORDER BY id DESC`)
	if err != nil {
		return err
	}
	rows, err := st.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	var newest []recordID
	for len(newest) < recentMost && rows.Next() {
		var ids []byte
		if err := rows.Scan(&ids); err != nil {
			return err
		}
		for ; len(ids) >= 16; ids = ids[:len(ids)-16] {
			newest = append(newest, recordID(ids[len(ids)-16:]))
		}
	}
	r.newer, r.older = map[recordID]struct{}{}, map[recordID]struct{}{}
	for _, id := range slices.Backward(newest) { // the oldest is the first to go
		r.add(id)
	}
	r.loaded = rows.Err() == nil
	return rows.Err()
}

// lineageID stands for (tenant, lineage).
func lineageID(tenant, lineage string) [16]byte {
	return shortHash(tenant, lineage)
}

// sessionKey stands for (tenant, session).
type sessionKey [16]byte

func keyOf(k Key) sessionKey { return shortHash(k.Tenant, k.Session) }

func (k sessionKey) bytes() []byte { return k[:] }

// shortHash is 128 bits of a cryptographic hash: session ids are the client's
// choice, and no choice may make two sessions one (I6).
func shortHash(a, b string) (short [16]byte) {
	buf := make([]byte, 0, 256)
	buf = binary.AppendUvarint(buf, uint64(len(a)))
	buf = append(append(buf, a...), b...)
	sum := Sum(buf)
	copy(short[:], sum[:])
	return short
}
