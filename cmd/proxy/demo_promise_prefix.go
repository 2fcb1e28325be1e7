package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// judgeLogged: at the arrival of each request that carried a prefix, the anchor
// with its bytes was in the log for another process to read.
func judgeLogged(e *evidence, p *demoPromise) {
	for id, why := range e.unlogged {
		p.breaks("%s: %s", id, why)
	}
	slices.Sort(p.Broken)
	if e.logged == 0 {
		p.breaks("no request arrived with a prefix")
	}
	p.Looked = fmt.Sprintf("%s arrived with a prefix whose anchor was in the log by then", legible.Plural(e.logged, "request"))
}

// judgeFrozen: epochs began where they had to and nowhere else; in each, what is
// inserted and where is the same for all requests that carry it, and whether
// anything is, for all of a thread.
func judgeFrozen(e *evidence, p *demoPromise) {
	for _, pl := range e.players {
		judgeEpochs(pl, e.anchorsOf(pl), p)
	}
	type epoch struct {
		logsink.Key
		number int
	}
	first := map[epoch]*sighting{}
	carried := 0
	for _, c := range e.calls {
		if want := !c.player.bare() && mustCarry(c.Class); c.badly == nil && c.carries() != want {
			p.breaks("%s carries a prefix: %v, want %v", c.ID, c.carries(), want)
		}
		if !c.carries() || c.request == nil {
			continue
		}
		carried++
		at := epoch{c.request.Key, c.request.Epoch}
		if first[at] == nil {
			first[at] = c
		}
		judgeSame(e, c, first[at], p)
	}
	p.Looked = fmt.Sprintf("%s in %s of %s carry the same bytes in the same place", legible.Plural(carried, "request"), legible.Plural(len(first), "epoch"), legible.Plural(len(e.sessions), "session"))
}

// mustCarry reports whether a class of request has the prefix where the session
// has one: titles and counts of fragments do not.
func mustCarry(class string) bool { return class == "turn" || class == "count" }

// judgeEpochs compares a session's epochs with those that it should have: neither
// a reload nor a restart begins one.
func judgeEpochs(pl *player, got []*logsink.Anchor, p *demoPromise) {
	if len(got) != len(pl.epochs) {
		p.breaks("%s has %s, want %d", pl.name, legible.Plural(len(got), "epoch"), len(pl.epochs))
		return
	}
	for i, want := range pl.epochs {
		a := got[i]
		if a.Injects() != (want.bare == "") || a.Why != want.bare+want.why {
			p.breaks("%s, epoch %d is %s", pl.name, i+1, decision(a.Decision, a.Why, a.Prefix))
		}
		if i > 0 && (a.Prefix == got[i-1].Prefix) != want.same {
			p.breaks("%s, epoch %d has prefix %s, the epoch before %s: the same must be %v", pl.name, i+1, legible.Short(a.Prefix), legible.Short(got[i-1].Prefix), want.same)
		}
	}
}

// judgeSame compares a request with the first of its epoch and with the anchor.
func judgeSame(e *evidence, c, first *sighting, p *demoPromise) {
	switch a := e.anchorOf(c.request); {
	case !bytes.Equal(c.inserted.bytes(), first.inserted.bytes()):
		p.breaks("%s has other bytes inserted than %s", c.ID, first.ID)
	case c.inserted.at != first.inserted.at:
		p.breaks("%s has the prefix before message %d, %s before %d", c.ID, c.inserted.at, first.ID, first.inserted.at)
	case a == nil || c.inserted.renderingOf(a) == nil:
		p.breaks("%s has bytes inserted that are not those of its anchor", c.ID)
	case c.Header.Get("X-Preface-Prefix") != a.Prefix:
		p.breaks("%s was told prefix %q, its anchor has %q", c.ID, c.Header.Get("X-Preface-Prefix"), a.Prefix)
	}
}

// judgeInsertOnly: without the ranges that the log says were inserted, what
// arrived is what the agent sent.
func judgeInsertOnly(e *evidence, p *demoPromise) {
	size := 0
	for _, c := range e.calls {
		if c.badly != nil {
			p.breaks("%s: %v", c.ID, c.badly)
		}
		if c.request == nil {
			continue // told by I4
		}
		size += len(c.Body)
		if got, err := without(c.wire().Body, c.request.Splices); err != nil {
			p.breaks("%s: %v", c.ID, err)
		} else if !bytes.Equal(got, c.Body) {
			p.breaks("%s: %d bytes are left without what was inserted, other than the %d that the agent sent", c.ID, len(got), len(c.Body))
		}
	}
	p.Looked = fmt.Sprintf("%s bytes of agents arrived bit for bit, with nothing but insertions", legible.Grouped(int64(size)))
}

// without takes the inserted ranges out of a body.
func without(body []byte, splices []logsink.Splice) ([]byte, error) {
	var out []byte
	at := 0
	for _, s := range splices {
		if s.Offset < at || s.Length < 0 || s.Offset+s.Length > len(body) {
			return nil, fmt.Errorf("the log has %d bytes inserted at %d of %d", s.Length, s.Offset, len(body))
		}
		out = append(out, body[at:s.Offset]...)
		at = s.Offset + s.Length
	}
	return append(out, body[at:]...), nil
}

// judgeReconstructable: the log has every request that arrived, with the digest
// of its very bytes, and the prefix in it is the anchor's; and the checker that
// works on the log alone finds nothing wrong.
func judgeReconstructable(e *evidence, p *demoPromise) {
	for _, f := range e.findings {
		p.breaks("log verify: session %s, epoch %d, %s: %s", f.Session, f.Epoch, f.Record, f.What)
	}
	rebuilt := 0
	for _, c := range e.calls {
		if len(c.arrived) == 0 {
			continue
		}
		if c.request == nil || c.response == nil {
			p.breaks("%s is not in the log, or its answer is not", c.ID)
			continue
		}
		body := c.wire().Body
		if logsink.Sum(body) != c.request.Body || len(body) != c.request.Size {
			p.breaks("%s: the log has the digest of another body than arrived", c.ID)
		}
		if rebuild(c.request, e.anchorOf(c.request), c.Body, body) {
			rebuilt++
		} else {
			p.breaks("%s cannot be made from what the agent sent and the anchor", c.ID)
		}
	}
	p.Looked = fmt.Sprintf("%s made again from the agents' bytes and the log, digests equal", legible.Plural(rebuilt, "request"))
}

// rebuild reports whether the agent's body with the anchor's bytes at the
// recorded places is what arrived. Of what stands around a prefix (a comma,
// brackets) the log has the length alone.
func rebuild(q *logsink.Request, a *logsink.Anchor, client, wire []byte) bool {
	var out []byte
	for _, s := range q.Splices {
		take := s.Offset - len(out)
		if take < 0 || take > len(client) || s.Offset+s.Length > len(wire) {
			return false
		}
		out, client = append(out, client[:take]...), client[take:]
		piece := bytes.Clone(wire[s.Offset : s.Offset+s.Length])
		if s.Kind == "prefix" && (a == nil || s.From+copy(piece[min(s.From, len(piece)):], a.Rendering(s.Rendering)) > s.Length) {
			return false
		}
		out = append(out, piece...)
	}
	return bytes.Equal(append(out, client...), wire)
}

// judgeOneWinner: each epoch has one anchor, and first requests that raced were
// given the same.
func judgeOneWinner(e *evidence, p *demoPromise) {
	anchors, raced := 0, 0
	for _, s := range e.sessions {
		for i, a := range s.anchors {
			if anchors++; a.Epoch != i+1 {
				p.breaks("session %s has epoch %d where %d should be", s.Session, a.Epoch, i+1)
			}
		}
	}
	for _, pl := range e.players {
		if pl.beside[raceTurn] == nil {
			continue
		}
		raced++
		for _, c := range e.calls {
			if c.player == pl && c.first() && (c.request == nil || c.request.Key != e.keyOf(pl) || c.request.Epoch != 1) {
				p.breaks("%s raced its way out of epoch 1 of %s", c.ID, pl.name)
			}
		}
	}
	if raced == 0 {
		p.breaks("no first requests raced")
	}
	p.Looked = fmt.Sprintf("%s froze %s, though in %d the first requests raced", legible.Plural(len(e.sessions), "session"), legible.Plural(anchors, "epoch"), raced)
}

// first reports whether the request is the first turn or title of its agent.
func (c *sighting) first() bool {
	return strings.HasSuffix(c.ID, "/turn-1") || strings.HasSuffix(c.ID, "/title-1")
}
