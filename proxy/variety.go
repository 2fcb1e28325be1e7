package proxy

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// variety notices contributors that give each session another text, so that no
// session reads from the provider's cache what another wrote. It compares the
// sessions of one tenant alone: a text of the tenant's own is meant to be so.
type variety struct {
	seed maphash.Seed

	mu sync.Mutex // guards the following

	lines *simplelru.LRU[varietyKey, *varietyLine]
	told  map[string]bool // contributors that an alarm was raised for, until they give a text again
}

type varietyKey struct{ contributor, tenant string }

// A varietyLine is what is known of the texts that one contributor gave the
// sessions of one tenant.
type varietyLine struct {
	session uint64    // the latest
	texts   [8]uint64 // the latest that were new, the newest first
	run     int       // new texts running, each for another session
}

const (
	// variesFrom is how many sessions running must be given a text that none
	// before them had.
	variesFrom = 3
	// maxVariety bounds the lines, to about a megabyte.
	maxVariety = 4096
)

func newVariety() *variety {
	lines, err := simplelru.NewLRU[varietyKey, *varietyLine](maxVariety, nil)
	if err != nil {
		panic("BUG: " + err.Error()) // only for a size below 1
	}
	return &variety{seed: maphash.MakeSeed(), lines: lines, told: map[string]bool{}}
}

// varies takes note of the text that a contributor gave a session, by its hash,
// and reports whether that makes an alarm: once for a contributor, until a session is
// given a text that another of its tenant had.
func (v *variety) varies(contributor, tenant, session, sha256 string) bool {
	text := maphash.String(v.seed, sha256)
	v.mu.Lock()
	defer v.mu.Unlock()
	l, ok := v.lines.Get(varietyKey{contributor, tenant})
	if !ok {
		l = new(varietyLine)
		v.lines.Add(varietyKey{contributor, tenant}, l)
	}
	switch again := slices.Contains(l.texts[:], text); {
	case l.isOf(maphash.String(v.seed, session)):
		return false // a resume's text may be another
	case again:
		l.run = 0
		delete(v.told, contributor)
		return false
	}
	copy(l.texts[1:], l.texts[:])
	l.texts[0] = text
	if l.run++; l.run != variesFrom || v.told[contributor] {
		return false
	}
	v.told[contributor] = true
	return true
}

// isOf reports whether the line's latest session is this one, and makes it so.
func (l *varietyLine) isOf(session uint64) bool {
	same := l.session == session
	l.session = session
	return same
}

// watched composes like compose, and raises an alarm if a contributor gives each
// session another text, unless its configuration says that this is meant.
func (s *Server) watched(compose composeFunc, cfgs []contrib.Config) composeFunc {
	return func(ctx context.Context, about contrib.Session) (contrib.Result, error) {
		r, err := compose(ctx, about)
		for i, c := range r.Contributions {
			if c.SHA256 == "" || cfgs[i].AllowVolatile || !s.variety.varies(c.Name, about.Tenant, about.Session, c.SHA256) {
				continue
			}
			s.alarm(alarmTextVaries, fmt.Sprintf("contributor %s gave %d sessions running texts that none before them had, "+
				"so none reads what another wrote to the cache (allow_volatile: true if it is meant to)", c.Name, variesFrom),
				logsink.Key{Tenant: about.Tenant, Session: about.Session}, "")
		}
		return r, err
	}
}

type composeFunc = func(context.Context, contrib.Session) (contrib.Result, error)
