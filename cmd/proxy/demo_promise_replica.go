package main

import (
	"bytes"
	"fmt"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// replicaPromises are what is promised of many replicas, beside all the rest.
func replicaPromises() []*demoPromise {
	return []*demoPromise{
		{ID: "I2", Name: "the same at all replicas", judge: judgeReplicas},
		{ID: "I5", Name: "composed by few", judge: judgeCompositions},
		{ID: "run", Name: "rolling restart", judge: judgeRolling},
	}
}

// judgeReplicas: in an epoch the same bytes are inserted by every replica, before
// its restart and after; and every session with an opener was at all replicas.
func judgeReplicas(e *evidence, p *demoPromise) {
	first := map[logsink.EpochRef]*sighting{}
	at := map[*player]map[visitor]bool{}
	carried := 0
	for _, c := range e.calls {
		if c.request == nil || !c.carries() {
			continue
		}
		carried++
		if at[c.player] == nil {
			at[c.player] = map[visitor]bool{}
		}
		at[c.player][c.visitor()] = true
		epoch := logsink.EpochRef{Key: c.request.Key, Epoch: c.request.Epoch}
		if first[epoch] == nil {
			first[epoch] = c
		}
		if one := first[epoch]; !bytes.Equal(c.inserted.bytes(), one.inserted.bytes()) || c.inserted.at != one.inserted.at {
			p.breaks("%s has other bytes inserted at %s than %s at %s", c.ID, c.visitor(), one.ID, one.visitor())
		}
	}
	for _, pl := range e.players {
		if !pl.bare() {
			judgeVisits(e, pl, at[pl], p)
		}
	}
	p.Looked = fmt.Sprintf("%s in %s carry the same bytes, whichever of %d replicas answered, before its restart and after", legible.Plural(carried, "request"), legible.Plural(len(first), "epoch"), len(e.replicas))
}

// judgeVisits: a session whose requests are not at all replicas, or at none that
// was restarted, shows nothing.
func judgeVisits(e *evidence, pl *player, at map[visitor]bool, p *demoPromise) {
	restarted := false
	for _, r := range e.replicas {
		before, after := at[visitor{r.number, 1}], at[visitor{r.number, 2}]
		if !before && !after {
			p.breaks("%s had no request with a prefix at replica %d", pl.name, r.number)
		}
		restarted = restarted || after
	}
	if !restarted {
		p.breaks("%s had no request with a prefix at a replica after its restart", pl.name)
	}
}

// A visitor is what a request was at: a replica, and how often that was started.
type visitor struct{ replica, life int }

func (c *sighting) visitor() visitor {
	if c.visit == nil {
		return visitor{}
	}
	return visitor{c.visit.replica.number, c.visit.life}
}

func (v visitor) String() string {
	when := "before its restart"
	if v.life > 1 {
		when = "after its restart"
	}
	return fmt.Sprintf("replica %d %s", v.replica, when)
}

// judgeCompositions: each epoch was composed by each replica once at most, and
// what was composed is one anchor of the log.
func judgeCompositions(e *evidence, p *demoPromise) {
	most := 0
	for epoch, n := range e.composed {
		if most = max(most, n); n > len(e.replicas) {
			p.breaks("epoch %d of session %s was composed %d times by %d replicas", epoch.Epoch, epoch.Session, n, len(e.replicas))
		}
		anchors := 0
		if s := e.sessions[epoch.Key]; s != nil {
			for _, a := range s.anchors {
				if a.Epoch == epoch.Epoch {
					anchors++
				}
			}
		}
		if anchors != 1 {
			p.breaks("epoch %d of session %s was composed, and has %s", epoch.Epoch, epoch.Session, legible.Plural(anchors, "anchor"))
		}
	}
	if len(e.composed) == 0 {
		p.breaks("nothing was composed")
	}
	p.Looked = fmt.Sprintf("%s composed, each %s at most, and each has one anchor", legible.Plural(len(e.composed), "epoch"), legible.Plural(most, "time"))
}

// judgeRolling: no request failed while replicas were restarted one after the
// other, though each had answers under way and others went on.
func judgeRolling(e *evidence, p *demoPromise) {
	drained, meanwhile, failed := 0, 0, 0
	for _, r := range e.replicas {
		drained += r.drained
		meanwhile += r.elsewhere + e.sentWithout(r)
		if after := e.answeredBy(visitor{r.number, 2}); after == 0 {
			p.breaks("replica %d answered nothing after its restart", r.number)
		}
	}
	for _, c := range e.calls {
		if c.Status != 200 || c.Err != nil {
			failed++
			p.breaks("%s at %s: status %d, %v", c.ID, c.visitor(), c.Status, c.Err)
		}
	}
	if drained == 0 || meanwhile == 0 {
		p.breaks("%s under way at replicas that were drained, %d went on elsewhere: there must be some of both", legible.Plural(drained, "request"), meanwhile)
	}
	p.Looked = fmt.Sprintf("%d replicas restarted, %s ended in their drains and %d elsewhere meanwhile, %d failed", len(e.replicas), legible.Plural(drained, "answer"), meanwhile, failed)
}
