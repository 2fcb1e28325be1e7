package wire

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A Result is what was measured, and what the model says.
type Result struct {
	Trace        string `json:"trace"`
	Dialect      string `json:"dialect"`
	Model        string `json:"model"`
	Lifetime     string `json:"lifetime"`
	Sessions     int    `json:"sessions"`
	Requests     int    `json:"requests"` // in each way
	Shrink       int64  `json:"shrink"`
	OpenerTokens int64  `json:"opener_tokens"` // as they went over the wire
	Openers      int64  `json:"openers_composed"`

	Frozen   Way `json:"frozen"`
	Volatile Way `json:"volatile"`
	// Factor is what input cost with an opener for each request, over what it cost
	// with a frozen one.
	Factor float64 `json:"factor"`

	// Simulated is what the simulator of economics says of the same requests. It
	// counts in whole blocks, so it is near, not the same.
	Simulated []Simulated `json:"simulated"`

	LogDiffers  int          `json:"log_differs"` // requests whose usage in Preface's log is another, or missing
	Differs     int          `json:"differs"`     // requests that the model says otherwise
	Differences []Difference `json:"differences,omitempty"`
}

// A Way is all requests, made in one way.
type Way struct {
	Input         int64   `json:"input_tokens"`
	Read          int64   `json:"read"`
	ReadByModel   int64   `json:"read_by_model"`
	Written       int64   `json:"written"`
	WrittenModel  int64   `json:"written_by_model"`
	Difference    int64   `json:"read_difference"`
	HitRateTokens float64 `json:"hit_rate_tokens"`
	CostVsNone    float64 `json:"cost_vs_none"`

	paid, plain usage.Money
}

// A Difference is a request of which the model says something else.
type Difference struct {
	Way      string       `json:"way"`
	Session  string       `json:"session"`
	Request  int          `json:"request"` // from 1
	Measured cache.Tokens `json:"measured"`
	Model    cache.Tokens `json:"model"`

	session int
}

// mostDifferences is how many are told.
const mostDifferences = 10

// OK reports whether all was as the model says, and in the log as it was charged.
func (r *Result) OK() bool { return r.Differs == 0 && r.LogDiffers == 0 }

var wayNames = [ways]string{"frozen", "volatile"}

// add counts a request.
func (r *Result) add(m measured, name string, price pricer) {
	w := &r.Frozen
	if m.way == volatile {
		w = &r.Volatile
	} else {
		r.Requests++
	}
	w.Input += m.got.Input()
	w.Read += m.got.Read
	w.ReadByModel += m.want.Read
	w.Written += m.got.Written()
	w.WrittenModel += m.want.Written()
	paid, plain := price(m.got)
	w.paid, w.plain = w.paid+paid, w.plain+plain
	if m.got == m.want {
		return
	}
	r.Differs++
	r.differ(Difference{wayNames[m.way], name, m.request + 1, m.got, m.want, m.session})
}

// differ keeps the first of them, in whatever order they come.
func (r *Result) differ(d Difference) {
	at, _ := slices.BinarySearchFunc(r.Differences, d, func(a, b Difference) int {
		return cmp.Or(a.session-b.session, a.Request-b.Request, strings.Compare(a.Way, b.Way))
	})
	r.Differences = slices.Insert(r.Differences, at, d)
	r.Differences = r.Differences[:min(len(r.Differences), mostDifferences)]
}

// finish makes ratios of sums.
func (r *Result) finish() {
	for _, w := range []*Way{&r.Frozen, &r.Volatile} {
		w.Difference = w.Read - w.ReadByModel
		w.HitRateTokens = ratio(w.Read, w.Input)
		w.CostVsNone = ratio(int64(w.paid), int64(w.plain))
	}
	r.Factor = ratio(int64(r.Volatile.paid), int64(r.Frozen.paid))
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "trace %s: %s sessions, %s requests, each made twice through the proxy\n", r.Trace, grouped(r.Sessions), grouped(r.Requests))
	fmt.Fprintf(w, "%s, model %s, entries live %s, an opener of %s tokens", r.Dialect, r.Model, r.Lifetime, legible.Grouped(r.OpenerTokens))
	if r.Shrink > 1 {
		fmt.Fprintf(w, "; all tokens are the trace's divided by %d", r.Shrink)
	}
	fmt.Fprintf(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "opener\tsessions\trequests\tinput\tread, measured\tread, model\tdifference\thits\tcost of none\t")
	for i, way := range []Way{r.Frozen, r.Volatile} {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f %%\t%.3f\t\n", []string{"frozen", "per request"}[i], r.Sessions, r.Requests,
			way.Input, way.Read, way.ReadByModel, way.Difference, 100*way.HitRateTokens, way.CostVsNone)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nan opener made for each request costs %.2f times a frozen one\n", r.Factor)
	for _, s := range r.Simulated {
		fmt.Fprintf(w, "  bench economics -marks %s: %.2f times; hits %.2f %% and %.2f %%, cost of none %.3f and %.3f\n", s.Marks, s.Factor,
			100*s.Frozen.HitRateTokens, 100*s.Volatile.HitRateTokens, s.Frozen.CostVsNone, s.Volatile.CostVsNone)
	}
	r.writeDifferences(w)
	_, err := fmt.Fprintln(w, r.verdict())
	return err
}

func grouped(n int) string { return legible.Grouped(int64(n)) }

func (r *Result) writeDifferences(w io.Writer) {
	for _, d := range r.Differences {
		fmt.Fprintf(w, "differs: %s, session %q, request %d: measured %+v, model %+v\n", d.Way, d.Session, d.Request, d.Measured, d.Model)
	}
}

func (r *Result) verdict() string {
	if r.OK() {
		return fmt.Sprintf("measured and model agree to the token on all %s requests, and so does Preface's log", grouped(2*r.Requests))
	}
	return fmt.Sprintf("of %s requests the model says %s otherwise, and Preface's log %s", grouped(2*r.Requests), grouped(r.Differs), grouped(r.LogDiffers))
}
