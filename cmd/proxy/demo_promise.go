package main

import (
	"fmt"

	"github.com/seed-9236c7ca/preface/internal/legible"
)

// A demoPromise is one promise and what the demo found of it.
type demoPromise struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Looked string   `json:"looked"` // what it was judged by
	Broken []string `json:"broken,omitempty"`

	judge func(e *evidence, p *demoPromise) // sets Looked and Broken
}

func (p *demoPromise) breaks(format string, args ...any) {
	p.Broken = append(p.Broken, fmt.Sprintf(format, args...))
}

// demoPromises are the promises that the demo can judge. I7 (cancel) and I10
// (bounds) take faults that it does not make.
func demoPromises(replicas int) []*demoPromise {
	all := []*demoPromise{
		{ID: "run", Name: "agents unharmed", judge: judgeAgents},
		{ID: "I1", Name: "logged before wire", judge: judgeLogged},
		{ID: "I2", Name: "frozen", judge: judgeFrozen},
		{ID: "I3", Name: "insert only", judge: judgeInsertOnly},
		{ID: "I4", Name: "reconstructable", judge: judgeReconstructable},
		{ID: "I5", Name: "one winner", judge: judgeOneWinner},
		{ID: "I6", Name: "no leak", judge: judgeNoLeak},
		{ID: "I8", Name: "no false success", judge: judgeAnswers},
		{ID: "I9", Name: "at most one send", judge: judgeOneSend},
		{ID: "I11", Name: "honest numbers", judge: judgeNumbers},
		{ID: "I12", Name: "no secret", judge: judgeNoSecret},
		{ID: "I13", Name: "absence is canonical", judge: judgeAbsence},
	}
	if replicas > 1 {
		all = append(all, replicaPromises()...)
	}
	return all
}

// judgeAgents: every agent came to the end of its script. A prefix that changed
// under a signed history shows here first: the provider refuses it.
func judgeAgents(e *evidence, p *demoPromise) {
	for _, pl := range e.players {
		if pl.failed != nil {
			p.breaks("%s stopped in turn %d: %v", pl.name, pl.turns, pl.failed)
		}
	}
	p.Looked = fmt.Sprintf("%s had %d turns each and %s answered", legible.Plural(len(e.players), "agent"), demoTurns, legible.Plural(len(e.calls), "request"))
}
