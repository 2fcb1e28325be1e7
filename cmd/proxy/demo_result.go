package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A demoResult is what the demo prints.
type demoResult struct {
	Events   []demoEvent     `json:"events"`
	Sessions []demoSession   `json:"sessions"`
	Total    demoCost        `json:"total"`
	Bursts   []demoBurst     `json:"bursts"`
	Replicas *demoReplicas   `json:"replicas,omitempty"` // with -replicas
	Promises []*demoPromise  `json:"promises"`
	Verify   logsink.Summary `json:"verify"`
	Account  demoAccount     `json:"account"`
	Held     bool            `json:"held"`
	Folder   string          `json:"folder,omitempty"` // with -keep
	Took     float64         `json:"took_seconds"`
}

// A demoEvent is what happened to the sessions, and before which turn.
type demoEvent struct {
	Turn int    `json:"turn"`
	What string `json:"what"`
}

// A demoSession is one session and what it was given.
type demoSession struct {
	Name    string      `json:"name"`
	Dialect string      `json:"dialect"`
	Model   string      `json:"model"`
	Session string      `json:"session"`
	Tenant  string      `json:"tenant"`
	Epochs  []demoEpoch `json:"epochs"`
	demoCost
	// Rewritten is what the requests cost that brought another opener to a
	// history: the provider reads all of it anew.
	Rewritten float64 `json:"rewritten_usd,omitempty"`
}

// A demoEpoch is one epoch, and how many of its requests carried its prefix.
type demoEpoch struct {
	Epoch    int    `json:"epoch"`
	Reason   string `json:"reason"`
	Decision string `json:"decision"`
	Why      string `json:"why,omitempty"`
	Prefix   string `json:"prefix,omitempty"`
	Bytes    int    `json:"bytes"` // of the prefix as it was inserted
	Requests int    `json:"requests"`
	Carried  int    `json:"carried"`
}

// A demoCost is what the same script cost in three ways.
type demoCost struct {
	Direct   bill `json:"direct"`   // without an opener
	Preface  bill `json:"preface"`  // with one, frozen
	Volatile bill `json:"volatile"` // with one that the agent makes anew for each request
	// Preface and volatile in direct; the latter is 0 if it was refused.
	Ratio         float64 `json:"ratio"`
	VolatileRatio float64 `json:"volatile_ratio,omitempty"`
}

func newDemoCost(direct, preface, volatile bill) demoCost {
	c := demoCost{Direct: direct, Preface: preface, Volatile: volatile, Ratio: ratio(preface, direct)}
	if volatile.Refused == nil {
		c.VolatileRatio = ratio(volatile, direct)
	}
	return c
}

func ratio(a, b bill) float64 { return math.Round(1000*a.USD/b.USD) / 1000 }

func newDemoResult(e *evidence, direct, volatile *performance) (*demoResult, error) {
	r := &demoResult{Events: demoEvents(e.replicas), Replicas: e.seenReplicas(), Promises: demoPromises(len(e.replicas)), Verify: e.verified, Account: e.account, Held: true}
	for _, p := range r.Promises {
		p.judge(e, p)
		r.Held = r.Held && len(p.Broken) == 0
	}
	var bills [3]map[string]bill
	for i, perf := range []*performance{direct, e.performance, volatile} {
		var err error
		if bills[i], err = perf.bills(); err != nil {
			return nil, err
		}
	}
	for i, p := range e.players {
		if direct.players[i].failed != nil {
			return nil, fmt.Errorf("without the proxy %s does not come to its end: %w", p.name, direct.players[i].failed)
		}
		s, err := e.session(p)
		if err != nil {
			return nil, err
		}
		s.demoCost = newDemoCost(bills[0][p.name], bills[1][p.name], bills[2][p.name])
		r.Sessions = append(r.Sessions, s)
		r.Total = newDemoCost(r.Total.Direct.plus(s.Direct), r.Total.Preface.plus(s.Preface), r.Total.Volatile.plus(s.Volatile))
	}
	return r, nil
}

// session tells what a player's session was given.
func (e *evidence) session(p *player) (s demoSession, err error) {
	k := e.keyOf(p)
	s = demoSession{Name: p.name, Session: k.Session, Tenant: k.Tenant}
	for _, a := range e.anchorsOf(p) {
		s.Epochs = append(s.Epochs, demoEpoch{Epoch: a.Epoch, Reason: a.Reason, Decision: a.Decision, Why: a.Why, Prefix: a.Prefix})
	}
	for _, c := range e.calls {
		if c.player != p || c.request == nil || c.request.Epoch > len(s.Epochs) {
			continue
		}
		if c.Class == "turn" {
			s.Dialect, s.Model = c.request.Dialect, c.request.Model
		}
		at := &s.Epochs[c.request.Epoch-1]
		if at.Requests++; at.Requests == 1 && at.changes(s.Epochs[:c.request.Epoch-1]) {
			cost, err := costOf(c.wire().Model, c.wire().FirstByteAt, c.wire().Tokens)
			if err != nil {
				return s, err
			}
			s.Rewritten += cost
		}
		if c.carries() {
			at.Carried++
			at.Bytes = len(c.inserted.bytes())
		}
	}
	return s, nil
}

// changes reports whether the epoch has another prefix than the one before.
func (e *demoEpoch) changes(before []demoEpoch) bool {
	return len(before) > 0 && before[len(before)-1].Prefix != e.Prefix
}

// demoEvents tell what play, beforeTurn and duringTurn do.
func demoEvents(replicas []*replica) []demoEvent {
	all := []demoEvent{
		{raceTurn, "the first requests of claude-1, claude-2 and chat raced: each had a second one beside it"},
		{editTurn, "AGENTS.md, which is in every opener, was edited"},
		{reloadTurn, "the configuration was reloaded under running requests, with another policy and another order"},
		{forkTurn, "codex forked: a second thread with the same history"},
		{resumeTurn, "claude-1 and codex were resumed"},
		{countTurn, "claude-2 had its context counted, 22 pieces and the whole"},
	}
	if len(replicas) == 1 {
		all = append(all, demoEvent{restartTurn, "the proxy was stopped, and started again on the same log"})
	} else {
		all = append(all, rollEvents(replicas)...)
	}
	slices.SortStableFunc(all, func(a, b demoEvent) int { return a.Turn - b.Turn })
	return all
}
