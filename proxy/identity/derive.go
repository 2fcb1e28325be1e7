package identity

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// ErrIndex is wrapped by the errors of Resolve that mean that the log's index of
// derived sessions could not be asked.
var ErrIndex = errors.New("index of derived sessions unavailable")

// maxAsked is how many points of a history the log is asked about. One request
// does not add more messages than that to a conversation.
const maxAsked = 256

// A Finder is the log's index of derived sessions: it returns the session and
// thread of the tenant's newest derived request whose lineage is the first of
// the given ones that is known. Lineages are those of lineage.Point.String,
// longest history first. ok is false if none is known.
//
// Resolve calls it from any number of goroutines and does not retry; it may
// block until ctx ends and must not keep the slice.
type Finder func(ctx context.Context, tenant string, lineages []string) (session, thread string, ok bool, err error)

// derive finds or opens the session of a request that names none.
func (r *Resolver) derive(ctx context.Context, t *turn, id *Identity) error {
	id.Derived = true
	p, err := r.known(ctx, t, id.Tenant)
	if err != nil {
		return err
	}
	id.Source = "lineage"
	if p.session == "" {
		id.Source = "opening"
		p = r.memory.begun(t)
	}
	id.Session, id.Known, id.head = p.session, p.known, p.head
	if id.Thread == "" {
		id.Thread, id.ThreadSource = p.thread, threadSource(p.known)
	}
	if id.Thread == "main" {
		id.ThreadSource = "none"
	}
	return nil
}

// known asks memory and then the log. The place has no session if neither knows
// the turn.
func (r *Resolver) known(ctx context.Context, t *turn, tenant string) (place, error) {
	for {
		p, ask, found := r.memory.follow(t)
		if len(ask) == 0 {
			return p, nil
		}
		name, thread, ok, err := r.lookUp(ctx, tenant, ask)
		switch {
		case ok:
			return r.memory.adopt(t, name, thread), nil
		case !found && t.answered:
			return place{}, err
		case !found:
			return place{}, nil // an opening needs no log
		}
		// The log knows nothing better, or is down: what memory has will do. If
		// another turn was faster and took it, the log is asked once more.
		t.sure = true
	}
}

// lookUp asks the log for the newest of the points that it knows.
func (r *Resolver) lookUp(ctx context.Context, tenant string, points []lineage.Point) (session, thread string, ok bool, err error) {
	if r.find == nil {
		return "", "", false, nil
	}
	points = points[max(0, len(points)-maxAsked):]
	session, thread, ok, err = r.find(ctx, tenant, lineages(points))
	if err != nil {
		return "", "", false, fmt.Errorf("cannot look up %d points of a history: %w: %w", len(points), ErrIndex, err)
	}
	return session, thread, ok && session != "", nil
}

// lineages writes points in hex, the last one first.
func lineages(points []lineage.Point) []string {
	const size = 2 * len(lineage.Point{})
	b := make([]byte, 0, size*len(points))
	for i := len(points) - 1; i >= 0; i-- {
		b = hex.AppendEncode(b, points[i][:])
	}
	all, out := string(b), make([]string, len(points))
	for i := range out {
		out[i] = all[i*size : (i+1)*size]
	}
	return out
}

// seedOf hashes what a derived session's name is made of.
func seedOf(tenant tenantID, family string, prompt lineage.Point) uint64 {
	b := append(make([]byte, 0, 64), tenant[:]...)
	b = append(b, prompt[:]...)
	p := lineage.Of(append(b, family...))
	return binary.BigEndian.Uint64(p[:])
}

// saysRetry reports whether the client counts this try as a later one.
func saysRetry(in *Input) bool {
	if in.Header == nil {
		return false
	}
	n, err := strconv.Atoi(string(in.Header("x-stainless-retry-count")))
	return err == nil && n > 0
}
