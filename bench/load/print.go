package load

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// WriteText writes the result for people.
func (r *Result) WriteText(out io.Writer) error {
	fmt.Fprintf(out, "upstream  %s\nproxy     %s\n\n", r.Upstream, r.Proxy)
	fmt.Fprintf(out, "%s of %gs each, in turns; %d connections, bodies of %d bytes; times in µs.\n", r.rounds(), r.Seconds, r.Connections, r.BodyBytes)
	fmt.Fprintf(out, "closed: each connection as fast as it goes. open: %g requests/s, latency from when each\nwas due. stream: closed, answers are event streams. In brackets: the least and most of a round.\n\n", r.Rate)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "load\ttarget\trequests\tfailed\tper second\tp50\tp90\tp99\tfirst byte\t")
	for _, s := range r.Scenarios {
		s.Direct.write(w, s.Name, "upstream")
		s.Proxy.write(w, "", "proxy")
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return err
	}
	w = tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, s := range r.Scenarios {
		s.writeAdded(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.writeRest(out)
}

func (r *Result) rounds() string {
	if r.Rounds == 1 {
		return "One round"
	}
	return fmt.Sprintf("Medians of %d rounds", r.Rounds)
}

func (s Side) write(w io.Writer, load, target string) {
	fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t\n", load, target, s.Requests, s.Failed, s.PerSecond, s.P50, s.P90, s.P99, s.First)
}

func (s Scenario) writeAdded(w io.Writer) {
	fmt.Fprintf(w, "%s\tadded:\tp50 %s\tp99 %s\tfirst byte %s\tthroughput x%.2f [%.2f..%.2f]\t", s.Name, s.AddedP50, s.AddedP99, s.AddedFirst, s.Throughput.Median, s.Throughput.Min, s.Throughput.Max)
	if s.CPU != nil {
		fmt.Fprintf(w, "CPU %.0f µs a request\t", s.CPU.Median)
	}
	fmt.Fprintln(w)
}

// String writes a difference.
func (s Spread) String() string {
	whole := func(v float64) int64 { return int64(math.Round(v)) } // which is never -0
	return fmt.Sprintf("%+d [%+d..%+d]", whole(s.Median), whole(s.Min), whole(s.Max))
}

func (r *Result) writeRest(out io.Writer) error {
	if r.Memory != nil {
		fmt.Fprintf(out, "\nprocess %d holds %.1f MiB; at most it held %.1f MiB\n", r.PID, mebibytes(r.Memory.Resident), mebibytes(r.Memory.Peak))
	}
	for _, s := range r.Scenarios {
		for _, side := range []Side{s.Direct, s.Proxy} {
			if side.Failed > 0 {
				fmt.Fprintf(out, "\nload %s: %d of %d requests failed, the first with: %s\n", s.Name, side.Failed, side.Failed+side.Requests, side.Error)
			}
		}
	}
	return nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
