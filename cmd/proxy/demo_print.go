package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-9236c7ca/preface/internal/legible"
)

// print writes the result for people. The last line is the verdict.
func (r *demoResult) print(w io.Writer) error {
	fmt.Fprintf(w, "Preface demo: %d scripted agents, %d turns each, through %s to a simulated provider (%.1fs)\n", len(r.Sessions), demoTurns, theProxy(r.Replicas.count()), r.Took)
	r.printEvents(w)
	r.Replicas.print(w)
	r.printSessions(w)
	r.printCosts(w)
	r.Account.print(w)
	r.printBursts(w)
	r.printPromises(w)
	if r.Folder != "" {
		fmt.Fprintf(w, "kept: %s (try: %s)\n", r.Folder, r.Replicas.try(r.Folder))
	}
	_, err := fmt.Fprintln(w, r.verdict())
	return err
}

func (r *demoResult) printEvents(w io.Writer) {
	t := section(w, "What happened to them", 0)
	for _, e := range r.Events {
		fmt.Fprintf(t, "  turn %d\t%s\n", e.Turn, e.What)
	}
	_ = t.Flush()
}

// section writes a heading and returns what aligns the table under it.
func section(w io.Writer, heading string, flags uint) *tabwriter.Writer {
	fmt.Fprintf(w, "\n%s\n\n", heading)
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
}

func (r *demoResult) printSessions(w io.Writer) {
	t := section(w, "What each session was given, right after its system prompt", 0)
	fmt.Fprintln(t, "  SESSION\tDIALECT\tEPOCH\tPREFIX\tSIZE\tREQUESTS\tHOW IT CAME")
	for _, s := range r.Sessions {
		name, dialect := s.Name, s.Dialect
		for i, e := range s.Epochs {
			fmt.Fprintf(t, "  %s\t%s\t%d %s\t%s\t%s\t%d of %d\t%s\n", name, dialect, e.Epoch, e.Reason, e.given(), e.size(), e.Carried, e.Requests, e.origin(s.Epochs[:i]))
			name, dialect = "", ""
		}
	}
	_ = t.Flush()
	fmt.Fprintln(w, "\n  REQUESTS are those that carried the prefix, of all. Titles and counts of fragments carry none:\n  it would cost and help nobody.")
}

func (e *demoEpoch) given() string {
	if e.Prefix == "" {
		return "none"
	}
	return legible.Short(e.Prefix)
}

func (e *demoEpoch) size() string {
	if e.Prefix == "" {
		return "-"
	}
	return legible.Grouped(int64(e.Bytes)) + " B"
}

// origin says in words where an epoch's prefix comes from.
func (e *demoEpoch) origin(before []demoEpoch) string {
	switch {
	case e.Why == "signed_history":
		return "kept: the history is signed with it"
	case e.Prefix == "":
		return "bare: the route composes nothing"
	case len(before) == 0:
		return "composed at the first request"
	case e.changes(before):
		return "composed anew from what had changed"
	}
	return "composed anew, to the same"
}

func (r *demoResult) printCosts(w io.Writer) {
	t := section(w, "What it cost (tokens, and USD at list prices)", tabwriter.AlignRight)
	fmt.Fprintln(t, "  SESSION\tREQUESTS\tINPUT\tREAD FROM CACHE\tWRITTEN\tDIRECT\tPREFACE\tRATIO\tVOLATILE\tRATIO\t")
	for i := range r.Sessions {
		costLine(t, r.Sessions[i].Name, &r.Sessions[i].demoCost)
	}
	costLine(t, "all", &r.Total)
	_ = t.Flush()
	fmt.Fprintln(w, "\n  DIRECT    the same script without an opener and without a proxy")
	fmt.Fprintln(w, "  PREFACE   with the opener, frozen by the proxy; REQUESTS to WRITTEN are of this run")
	fmt.Fprintln(w, "  VOLATILE  with the opener made anew by the agent for each request: one line of it differs")
	r.printRefusals(w)
	for _, s := range r.Sessions {
		if s.Rewritten > 0 {
			fmt.Fprintf(w, "\n  Of what %s cost, $%.4f is the first request with its second opener: the provider had to read the\n  whole history anew. An opener changes with an epoch only, so that this is paid once.\n", s.Name, s.Rewritten)
		}
	}
}

func costLine(w io.Writer, name string, c *demoCost) {
	t := c.Preface.Tokens
	share := "-"
	if n := t.Input(); n > 0 {
		share = fmt.Sprintf("%.1f%%", 100*float64(t.CacheRead)/float64(n))
	}
	volatile, times := fmt.Sprintf("%.4f", c.Volatile.USD), fmt.Sprintf("%.3f", c.VolatileRatio)
	if c.Volatile.Refused != nil {
		volatile, times = "refused", "-"
	}
	fmt.Fprintf(w, "  %s\t%d\t%s\t%s %s\t%s\t%.4f\t%.4f\t%.3f\t%s\t%s\t\n", name, c.Preface.Requests, legible.Grouped(t.Input()), legible.Grouped(t.CacheRead), share,
		legible.Grouped(t.Written()), c.Direct.USD, c.Preface.USD, c.Ratio, volatile, times)
}

// printRefusals tells why sessions with a volatile opener came to nothing.
func (r *demoResult) printRefusals(w io.Writer) {
	var names []string
	var no *refused
	for _, s := range r.Sessions {
		if s.Volatile.Refused != nil {
			names, no = append(names, s.Name), s.Volatile.Refused
		}
	}
	if no == nil {
		return
	}
	why, _, _ := strings.Cut(no.Message, " Remove ")
	fmt.Fprintf(w, "  refused   %s came no further than turn %d: status %d,\n            %s\n", strings.Join(names, " and "), no.Turn, no.Status, legible.Visible(why))
}

func (r *demoResult) printBursts(w io.Writer) {
	title := fmt.Sprintf("What burst.hold saves when %d subagents of one session begin at once", burstThreads)
	if r.Replicas != nil {
		title += fmt.Sprintf(", spread over %d replicas", len(r.Replicas.Replicas))
	}
	t := section(w, title, tabwriter.AlignRight)
	fmt.Fprintln(t, "  AGENT\tPROMPTS\tHOLD\tREQUESTS\tINPUT\tREAD FROM CACHE\tWRITTEN\tUSD\tRATIO\t")
	for _, b := range r.Bursts {
		burstLine(t, b.Name+"\t"+b.Prompts+"\toff", b.Free, 1)
		burstLine(t, "\t\ton", b.Held, b.Ratio)
	}
	_ = t.Flush()
	fmt.Fprintln(w, "\n  OFF  all begin before the first is answered, so each writes to the cache what they have in common\n  ON   the first one writes it; the others wait until its answer begins, and read it")
}

func burstLine(w io.Writer, what string, b bill, ratio float64) {
	t := b.Tokens
	fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%s\t%.4f\t%.3f\t\n", what, b.Requests, legible.Grouped(t.Input()), legible.Grouped(t.CacheRead), legible.Grouped(t.Written()), b.USD, ratio)
}

func (r *demoResult) printPromises(w io.Writer) {
	t := section(w, "What was promised (judged by the agents, the provider's ledger and the log)", 0)
	for _, p := range r.Promises {
		state := "held"
		if len(p.Broken) > 0 {
			state = "BROKEN"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", p.ID, p.Name, state, p.Looked)
	}
	_ = t.Flush()
	fmt.Fprint(w, "\n  I7 (cancel) and I10 (bounds) take faults that a demo does not make: go test ./proxy does.\n\n")
	for _, p := range r.Promises {
		for i, b := range p.Broken {
			if i == maxBroken {
				fmt.Fprintf(w, "broken %s: and %d more\n", p.ID, len(p.Broken)-i)
				break
			}
			fmt.Fprintf(w, "broken %s: %s\n", p.ID, legible.Visible(b))
		}
	}
	fmt.Fprintln(w, verdict(r.Verify))
}

// maxBroken is how many findings are told of one promise.
const maxBroken = 5

// verdict is the last line.
func (r *demoResult) verdict() string {
	if r.Held {
		return "all promises held"
	}
	var broken []string
	for _, p := range r.Promises {
		if len(p.Broken) > 0 {
			broken = append(broken, p.ID+" "+p.Name)
		}
	}
	return "broken: " + strings.Join(broken, ", ")
}
