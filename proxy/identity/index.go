package identity

import (
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// maxAlike is how many heads at one and the same history are remembered: runs
// of one opening that nobody continues must not cost a search among thousands.
const maxAlike = 256

// index finds derived heads by history and derived sessions by how they began.
// memory's lock guards it.
type index struct {
	heads map[pointKey][]*head
	seeds map[seedKey]alike
}

type pointKey struct {
	tenant tenantID
	point  lineage.Point
}

type seedKey struct {
	tenant tenantID
	seed   uint64
}

// alike counts sessions that began alike. only is the session as long as there
// is but one; it is nil ever after, until all are forgotten.
type alike struct {
	count int
	only  *session
}

func newIndex() index {
	return index{heads: map[pointKey][]*head{}, seeds: map[seedKey]alike{}}
}

// at returns the heads at a point, the one that came last at the end.
func (x *index) at(tenant tenantID, p lineage.Point) []*head {
	return x.heads[pointKey{tenant, p}]
}

// add adds a head where it is now. If there are too many it returns the one that
// must go.
func (x *index) add(h *head) (old *head) {
	k := pointKey{h.session.key.tenant, h.last}
	heads := append(x.heads[k], h)
	x.heads[k], h.derived = heads, true
	if len(heads) > maxAlike {
		return heads[0]
	}
	return nil
}

func (x *index) remove(h *head) {
	if !h.derived {
		return
	}
	h.derived = false
	k := pointKey{h.session.key.tenant, h.last}
	left := slices.DeleteFunc(x.heads[k], func(o *head) bool { return o == h })
	if len(left) == 0 {
		delete(x.heads, k)
		return
	}
	x.heads[k] = left
}

// only returns the session that alone began like the turn, nil if there are more
// or none.
func (x *index) only(t *turn) *session { return x.seeds[seedKey{t.tenant, t.seed}].only }

func (x *index) addSession(s *session, seed uint64) {
	if s.derived {
		return
	}
	s.derived, s.seed = true, seed
	k := seedKey{s.key.tenant, seed}
	a := alike{count: x.seeds[k].count + 1}
	if a.count == 1 {
		a.only = s
	}
	x.seeds[k] = a
}

func (x *index) removeSession(s *session) {
	if !s.derived {
		return
	}
	s.derived = false
	k := seedKey{s.key.tenant, s.seed}
	a := alike{count: x.seeds[k].count - 1}
	if a.count == 0 {
		delete(x.seeds, k)
		return
	}
	x.seeds[k] = a
}
