package main

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
)

// demoReplicas tell how the work was shared.
type demoReplicas struct {
	Replicas  []demoReplica `json:"replicas"`
	Log       string        `json:"log"`       // its URL, while the demo ran
	Guarantee string        `json:"guarantee"` // what a replica said of it

	server string // the program's path
}

// A demoReplica is what one replica did.
type demoReplica struct {
	Replica  int `json:"replica"`
	Turn     int `json:"restarted_in_turn"`
	Requests int `json:"requests"`
	Before   int `json:"before_restart"`
	After    int `json:"after_restart"`
	// Drained answers were under way when it was drained; others went on at the
	// other replicas until it was back.
	Drained   int `json:"drained"`
	Elsewhere int `json:"elsewhere"`
}

// seenReplicas is nil for one.
func (e *evidence) seenReplicas() *demoReplicas {
	if e.redis == nil {
		return nil
	}
	d := &demoReplicas{Log: e.redis.url(), server: e.redis.program}
	for _, r := range e.replicas {
		before, after := e.answeredBy(visitor{r.number, 1}), e.answeredBy(visitor{r.number, 2})
		d.Replicas = append(d.Replicas, demoReplica{
			Replica: r.number, Turn: r.rolled, Requests: before + after, Before: before, After: after,
			Drained: r.drained, Elsewhere: r.elsewhere + e.sentWithout(r),
		})
		d.Guarantee = r.guarantee
	}
	return d
}

// answeredBy is how many requests a replica answered in one of its lives.
func (e *evidence) answeredBy(v visitor) (n int) {
	for _, c := range e.calls {
		if c.visitor() == v && c.Status != 0 {
			n++
		}
	}
	return n
}

// sentWithout is how many requests were sent to others while a replica was out of
// service.
func (e *evidence) sentWithout(r *replica) (n int) {
	for _, c := range e.calls {
		if c.visit != nil && c.visit.without == r {
			n++
		}
	}
	return n
}

func rollEvents(replicas []*replica) (all []demoEvent) {
	for _, r := range replicas {
		all = append(all, demoEvent{r.rolled, fmt.Sprintf("replica %d of %d was drained, ended and started again, while requests went on", r.number, len(replicas))})
	}
	return all
}

func (d *demoReplicas) count() int {
	if d == nil {
		return 1
	}
	return len(d.Replicas)
}

// try is a command that looks into the log that was kept in a folder.
func (d *demoReplicas) try(folder string) string {
	if d == nil {
		return asCalled("proxy sessions -log ") + filepath.Join(folder, "preface.db")
	}
	return fmt.Sprintf("%s %s, and %s%s", filepath.Base(d.server), filepath.Join(folder, "redis", "redis.conf"), asCalled("proxy sessions -log "), d.Log)
}

func (d *demoReplicas) print(w io.Writer) {
	if d == nil {
		return
	}
	t := section(w, "Which replica answered (each request of a session goes to the next one)", tabwriter.AlignRight)
	fmt.Fprintln(t, "  REPLICA\tREQUESTS\tBEFORE\tAFTER\tRESTARTED\tIN ITS DRAIN\tELSEWHERE\t")
	for _, r := range d.Replicas {
		fmt.Fprintf(t, "  %d\t%d\t%d\t%d\tturn %d\t%d\t%d\t\n", r.Replica, r.Requests, r.Before, r.After, r.Turn, r.Drained, r.Elsewhere)
	}
	_ = t.Flush()
	fmt.Fprintln(w, "\n  BEFORE and AFTER its restart. IN ITS DRAIN are answers that were under way when it was told to end, and\n  came to their own; ELSEWHERE what the others answered until it was back.")
	fmt.Fprintf(w, "\n  They share one Redis. %s\n", d.Guarantee)
}
