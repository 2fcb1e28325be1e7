package redistest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// migrateBatch is how many keys move at once. It is small, so that clients meet a
// slot of which a part has moved.
const migrateBatch = 10

// MoveSlot moves a slot with its keys to the next master while clients use it, as
// an operator's tool does: they are told ASK for keys that have gone, TRYAGAIN for
// several of which some have, and MOVED in the end. A move that a fault cut off
// leaves the slot open; the next call ends that one first. Calls wait for each
// other.
func (c *Nodes) MoveSlot(slot int) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	from, p, err := c.owner(slot)
	if err != nil {
		return err
	}
	to, id, err := c.target(slot, from, p)
	if err != nil {
		return err
	}
	if err := openSlot(slot, from, p.id, to, id); err != nil {
		return err
	}
	if err := migrateKeys(slot, from, to); err != nil {
		return err
	}
	return c.assign(slot, to, from, id)
}

// target is the master to which the slot is on its way, or the one after its
// owner.
func (c *Nodes) target(slot int, from *Server, p peer) (*Server, string, error) {
	open := p.leavingFor(slot)
	var next *Server
	var nextID string
	start := slices.Index(c.servers, from)
	for i := range c.servers[1:] {
		s := c.servers[(start+1+i)%len(c.servers)]
		if !s.Running() {
			continue
		}
		q, err := s.myself()
		if err != nil || !q.is("master") {
			continue
		}
		if q.id == open {
			return s, q.id, nil
		}
		if next == nil {
			next, nextID = s, q.id
		}
	}
	if next == nil {
		return nil, "", errors.New("cannot move a slot: no other master runs")
	}
	return next, nextID, nil
}

// openSlot tells the target first, so that a client sent there is not sent back.
func openSlot(slot int, from *Server, fromID string, to *Server, toID string) error {
	n := strconv.Itoa(slot)
	if _, err := to.Do("CLUSTER", "SETSLOT", n, "IMPORTING", fromID); err != nil {
		return err
	}
	_, err := from.Do("CLUSTER", "SETSLOT", n, "MIGRATING", toID)
	return err
}

// migrateKeys moves keys until none is left. No new ones appear: the owner of an
// open slot sends clients on with those.
func migrateKeys(slot int, from, to *Server) error {
	for {
		v, err := from.Do("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), strconv.Itoa(migrateBatch))
		if err != nil {
			return err
		}
		keys, ok := v.([]any)
		if !ok {
			return fmt.Errorf("CLUSTER GETKEYSINSLOT at %s answered %v, not a list", from.Addr, v)
		}
		if len(keys) == 0 {
			return nil
		}
		// REPLACE, since a move that was cut off may have left a copy behind; the
		// owner's is the truth.
		cmd := []string{"MIGRATE", "127.0.0.1", strconv.Itoa(to.Port), "", "0", "5000", "REPLACE", "KEYS"}
		for _, k := range keys {
			cmd = append(cmd, k.(string))
		}
		if _, err := from.Do(cmd...); err != nil {
			return err
		}
	}
}

// assign makes the target the owner in its own eyes, then in the old owner's, then
// in those of the other masters, which need not wait for the news.
func (c *Nodes) assign(slot int, to, from *Server, id string) error {
	cmd := []string{"CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", id}
	for _, s := range []*Server{to, from} {
		if _, err := s.Do(cmd...); err != nil {
			return err
		}
	}
	for _, s := range c.running() {
		if s != to && s != from {
			_, _ = s.Do(cmd...) // a replica refuses; a master hears of it anyway
		}
	}
	return nil
}
