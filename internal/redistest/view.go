package redistest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A peer is one line of CLUSTER NODES: what one node believes of another, or of
// itself.
type peer struct {
	id, addr string
	flags    []string // myself, master, slave, fail?, fail, handshake, …
	master   string   // id of a replica's master
	epoch    int64
	slots    []string // "0-5460", "7", and of itself "[7->-id]" while 7 is leaving for id
}

// view asks a node for its peers.
func (s *Server) view() ([]peer, error) {
	text, err := s.text("CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	return parseView(text)
}

func parseView(text string) ([]peer, error) {
	var peers []peer
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			return nil, fmt.Errorf("cannot read line %q of CLUSTER NODES: it has %d fields, not 8", line, len(f))
		}
		epoch, err := strconv.ParseInt(f[6], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("cannot read the epoch of line %q of CLUSTER NODES: %w", line, err)
		}
		addr, _, _ := strings.Cut(f[1], "@")
		peers = append(peers, peer{id: f[0], addr: addr, flags: strings.Split(f[2], ","), master: f[3], epoch: epoch, slots: f[8:]})
	}
	return peers, nil
}

func (p peer) is(flag string) bool { return slices.Contains(p.flags, flag) }

func (p peer) owns(slot int) bool {
	return slices.ContainsFunc(p.slots, func(r string) bool {
		first, last, ok := strings.Cut(r, "-")
		if !ok {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		return errA == nil && errB == nil && a <= slot && slot <= b
	})
}

// leavingFor returns the id of the node that the slot is on its way to, "" if it
// stays.
func (p peer) leavingFor(slot int) string {
	for _, r := range p.slots {
		if id, ok := strings.CutPrefix(r, fmt.Sprintf("[%d->-", slot)); ok {
			return strings.TrimSuffix(id, "]")
		}
	}
	return ""
}

// myself is what a node believes of itself.
func (s *Server) myself() (peer, error) {
	peers, err := s.view()
	if err != nil {
		return peer{}, err
	}
	if i := slices.IndexFunc(peers, func(p peer) bool { return p.is("myself") }); i >= 0 {
		return peers[i], nil
	}
	return peer{}, fmt.Errorf("%s does not know itself", s.Addr)
}

// owner finds the running master of a slot by what nodes say of themselves, since
// others learn late of a failover.
func (c *Nodes) owner(slot int) (*Server, peer, error) {
	var owner *Server
	var newest peer
	for _, s := range c.running() {
		p, err := s.myself()
		if err == nil && p.is("master") && p.owns(slot) && (owner == nil || p.epoch > newest.epoch) {
			owner, newest = s, p
		}
	}
	if owner == nil {
		return nil, peer{}, fmt.Errorf("no running node claims slot %d", slot)
	}
	return owner, newest, nil
}

// agrees has no objection when every running node serves and all of them tell
// the same of the nodes that run: role, master and slots.
func (c *Nodes) agrees() error {
	var first string
	for i, s := range c.running() {
		state, err := s.field("cluster_state", "CLUSTER", "INFO")
		if err != nil {
			return err
		}
		if state != "ok" {
			return fmt.Errorf("%s says cluster_state:%s", s.Addr, state)
		}
		roles, err := c.roles(s)
		if err != nil {
			return err
		}
		if i == 0 {
			first = roles
		} else if roles != first {
			return fmt.Errorf("nodes differ:\n%s\nand %s:\n%s", first, s.Addr, roles)
		}
	}
	return nil
}

// roles is what s believes of all nodes that run, in a form to be compared.
func (c *Nodes) roles(s *Server) (string, error) {
	peers, err := s.view()
	if err != nil {
		return "", err
	}
	var lines []string
	for _, other := range c.running() {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.addr == other.Addr })
		if i < 0 || peers[i].is("fail") || peers[i].is("fail?") || peers[i].is("handshake") {
			return "", fmt.Errorf("%s does not know %s, or not that it runs", s.Addr, other.Addr)
		}
		p := peers[i]
		owned := slices.DeleteFunc(p.slots, func(r string) bool { return r[0] == '[' })
		lines = append(lines, fmt.Sprint(p.addr, p.is("master"), p.master, owned))
	}
	return strings.Join(lines, "\n"), nil
}
