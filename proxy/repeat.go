package proxy

import (
	"bytes"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// A repeat is what is kept of a request because its thread's next one repeats
// it: agents send their whole history with every turn. What both bodies have
// need not be scanned and hashed again. That they have it is found by comparing
// bytes, so nothing is taken on trust.
//
// A repeat never changes. Its body is the buffer of the request that it is of,
// which goes back to the others when the repeat is forgotten and no request
// looks at it any more.
type repeat struct {
	gen     *generation // whose depths the index was made with
	body    []byte
	index   jsonspan.Index
	splices []dialect.Splice // what was inserted
	digest  logsink.Digest   // of what was sent
	mark    *mark            // nil for a small body

	// These are guarded by repeats.mu.
	used      time.Time
	users     int // requests that look at it
	forgotten bool
}

// free gives a repeat's memory back: nobody looks at it.
func (r *repeat) free() {
	releaseBody(r.body)
	r.mark.free()
}

// bytes is the memory that a repeat takes, with what it keeps of its prefix.
func (r *repeat) bytes() int64 {
	n := cap(r.body) + r.index.Bytes() + 512
	for _, s := range r.splices {
		n += len(s.Bytes)
	}
	if r.mark != nil {
		n += hasherBytes
	}
	return int64(n)
}

// repeats are those that a server keeps, by a hint at the thread. Their room is
// what limits.kept_bodies gives, less what open requests take: a server that
// needs its memory for answers has none to spare for this.
type repeats struct {
	open *atomic.Int64 // requests under way
	seed maphash.Seed

	mu   sync.Mutex // guards the following
	lru  *simplelru.LRU[uint64, *repeat]
	size int64
}

const (
	openBytes  = 160 << 10 // what a request under way is taken to need
	keptAwhile = time.Minute
	maxRepeats = 1 << 16
)

func newRepeats(open *atomic.Int64) *repeats {
	rs := &repeats{open: open, seed: maphash.MakeSeed()}
	lru, err := simplelru.NewLRU(maxRepeats, func(_ uint64, r *repeat) { rs.forget(r) })
	if err != nil {
		panic("BUG: " + err.Error()) // only for a size below 1
	}
	rs.lru = lru
	return rs
}

// forget is called for what is no longer kept. rs.mu must be held.
func (rs *repeats) forget(r *repeat) {
	rs.size -= r.bytes()
	if r.forgotten = true; r.users == 0 {
		r.free()
	}
}

// purge forgets all.
func (rs *repeats) purge() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.lru.Purge()
}

// done says that a request no longer looks at a repeat.
func (rs *repeats) done(r *repeat) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r.users--; r.users == 0 && r.forgotten {
		r.free()
	}
}

// get returns what is kept under a hint, nil if nothing is, and whether another
// of about need bytes would be kept in its place. It forgets the oldest, whatever
// their use, for which there is no room any more. The caller looks at it until
// done.
func (rs *repeats) get(hint uint64, need int64, limit int, now time.Time) (r *repeat, admit bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	room := rs.room(limit)
	for rs.size > max(room, 0) {
		rs.lru.RemoveOldest()
	}
	r, ok := rs.lru.Get(hint)
	if ok {
		r.used = now
		r.users++
		need -= r.bytes()
	}
	return r, rs.admits(need, room, now)
}

// bytes is the memory that all of them take.
func (rs *repeats) bytes() int64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.size
}

func (rs *repeats) room(limit int) int64 { return int64(limit) - rs.open.Load()*openBytes }

// admits reports whether there is room for need bytes more, or could be made. It
// is made by forgetting what has not been of use for a while: with more threads
// than room, some are always served and the others never, where forgetting the
// oldest would serve none. rs.mu must be held.
func (rs *repeats) admits(need, room int64, now time.Time) bool {
	if rs.size+need <= room {
		return true
	}
	_, oldest, ok := rs.lru.GetOldest()
	return ok && need < room && now.Sub(oldest.used) >= keptAwhile
}

// put keeps a repeat in place of the one before, if there is room, and reports
// whether it did. The caller then looks at it until done.
func (rs *repeats) put(hint uint64, r *repeat, limit int, now time.Time) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.lru.Remove(hint)
	need, room := r.bytes(), rs.room(limit)
	for rs.size+need > room && rs.admits(need, room, now) {
		rs.lru.RemoveOldest()
	}
	if rs.size+need > room {
		return false
	}
	r.used = now
	r.users++
	rs.size += need
	rs.lru.Add(hint, r)
	return true
}

// recall looks up what the body may repeat. A wrong guess costs a comparison.
func (x *exchange) recall() {
	limit := x.gen.cfg.Limits.KeptBodies
	if x.coded || limit < 0 {
		return
	}
	x.hint = x.hintThread()
	r, admit := x.s.repeats.get(x.hint, int64(cap(x.buf)), limit, x.start)
	x.keeps = admit && cap(x.buf) <= limit/4
	switch {
	case r == nil:
	case r.gen != x.gen:
		x.s.repeats.done(r)
	default:
		x.last, x.same = r, common(r.body, x.body)
	}
}

// hintThread hashes what can be known of the thread before the body is read.
// The caller's credential is in it: no tenant is to notice another (I6).
func (x *exchange) hintThread() uint64 {
	var h maphash.Hash
	h.SetSeed(x.s.repeats.seed)
	_, _ = h.WriteString(x.dialect.Name())
	_ = h.WriteByte(byte(x.endpoint))
	_, _ = h.Write(x.credential())
	_ = h.WriteByte(0)
	_, _ = h.WriteString(x.session)
	x.gen.resolver.Hint(&h, x.get)
	_, _ = h.Write(x.body[:min(len(x.body), hintBytes)])
	return h.Sum64()
}

// hintBytes is how much of a body tells threads apart that no header does.
const hintBytes = 512

// remember keeps this request for the thread's next one, which may get all of
// its bytes at once, and ends the comparison with the last one. The body's buffer
// is then no longer the request's.
func (x *exchange) remember(d logsink.Digest, m *mark) {
	defer x.forgoLast()
	if !x.keeps || x.repeatsAll() {
		return
	}
	limit := x.gen.cfg.Limits.KeptBodies
	if len(x.buf)+x.doc.IndexBytes() > limit/4 {
		m.free()
		return
	}
	r := &repeat{gen: x.gen, body: x.body, index: x.doc.Index(), splices: x.plan.splices, digest: d, mark: m}
	x.forgoLast() // before put, so that it counts no more
	if !x.s.repeats.put(x.hint, r, limit, x.start) {
		m.free()
		return
	}
	x.buf, x.kept = nil, r
}

// forgoLast ends the request's looking at the thread's last one.
func (x *exchange) forgoLast() {
	if x.last != nil {
		x.s.repeats.done(x.last)
		x.last = nil
	}
}

// forgo ends the request's looking at anything that is kept.
func (x *exchange) forgo(w *work) {
	for _, r := range [...]*repeat{w.last, w.kept} {
		if r != nil {
			x.s.repeats.done(r)
		}
	}
	w.hint, w.last, w.kept, w.same, w.keeps = 0, nil, nil, 0, false
}

// repeatsAll reports whether what is sent is what was sent last.
func (x *exchange) repeatsAll() bool {
	return x.last != nil && x.same == len(x.body) && x.same == len(x.last.body) &&
		sameSplices(x.last.splices, x.plan.splices)
}

// common is how many bytes a and b begin with alike.
func common(a, b []byte) int {
	n, most := 0, min(len(a), len(b))
	for n < most {
		to := min(n+commonBlock, most)
		if !bytes.Equal(a[n:to], b[n:to]) {
			break
		}
		n = to
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

const commonBlock = 1 << 10
