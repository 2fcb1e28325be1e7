package account

import (
	"cmp"
	"fmt"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// tokens is the table of token classes.
func (r *Report) tokens() section {
	t := &r.Total
	s := section{
		Title: "Tokens", Columns: columns("Class", "#Tokens", "#Reported by", "#Not reported by"),
		Notes: []string{"Classes are disjoint and make up the input, which is inclusive. What was not reported is not 0: it is in no sum."},
	}
	if t.Impossible > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s reported what cannot be true and are in no sum.", legible.Plural(t.Impossible, "answer")))
	}
	for _, c := range []struct {
		name string
		of   Class
	}{
		{"input, inclusive", t.Tokens.Input}, {"fresh", t.Tokens.Fresh}, {"cache read", t.Tokens.Read},
		{"cache write, 5 minutes", t.Tokens.Write5m}, {"cache write, 1 hour", t.Tokens.Write1h}, {"cache write, 30 minutes", t.Tokens.Write30m},
		{"cache write, lifetime not told", t.Tokens.WriteOther}, {"input not told apart into fresh and read", t.Tokens.Unsplit},
		{"output", t.Tokens.Output}, {"reasoning, part of output", t.Tokens.Reasoning},
	} {
		s.Rows = append(s.Rows, row{Cells: []cell{text(c.name), text(c.of.String()), number(c.of.Answers), number(t.Answers - t.Impossible - c.of.Answers)}})
	}
	return s
}

// groups is a table of sums by name.
func groups(title, name string, t *Table, unnamed string, show func(string) string) section {
	s := section{Title: title, Columns: columns(name, "#Paid", "#Saved", "#Saved of cost", "#Without a cache", "#Opener, estimated", "#Opener of paid", "#Lost to misses",
		"#Hit rate of input tokens", "#Hit rate of requests", "#Input", "#Read", "#Written", "#Output", "#Requests", "#Failed", "#Unpriced")}
	for i := range t.Rows {
		g := &t.Rows[i]
		s.Rows = append(s.Rows, groupRow(cmp.Or(show(g.Name), unnamed), g))
	}
	bars(s.Rows, func(i int) usage.Money { return t.Rows[i].Paid })
	if t.Rest == nil {
		return s
	}
	others := "all others"
	if t.Others > 0 {
		others = fmt.Sprintf("%d others", t.Others)
	}
	s.Rows = append(s.Rows, groupRow(others, t.Rest))
	return s
}

func groupRow(name string, g *Group) row {
	return row{Cells: []cell{
		text(name), paid(g.Paid, g.Priced), paid(g.Saved, g.Priced), text(percent(g.Rates.OfCost)), paid(g.Uncached, g.Priced),
		paid(g.Prefix, g.PrefixTold), text(percent(g.Rates.PrefixOfCost)), paid(g.Lost, g.Shortfalls-g.LostUntold),
		text(percent(g.Rates.OfInputTokens)), text(percent(g.Rates.OfRequests)),
		text(g.Tokens.Input.String()), text(g.Tokens.Read.String()), text(g.Tokens.Written().String()), text(g.Tokens.Output.String()),
		number(g.Requests), number(g.Failed), number(g.Unpriced),
	}}
}

// days ends with the sum, which is that of each of the tables.
func (r *Report) days() section {
	s := groups("By day", "Day, UTC", &r.Days, "", plain)
	if len(s.Rows) > 0 {
		s.Rows = append(s.Rows, groupRow("all", &r.Total))
	}
	return s
}

func (r *Report) prefixes() section {
	return groups("By version of the prefix", "Prefix", &r.Prefixes, "none", func(hash string) string { return legible.Short(plain(hash)) })
}

func (r *Report) contributors() section {
	s := section{
		Title: "By contributor", Columns: columns("Contributor", "Kind", "#Versions", "#Requests", "#Bytes", "#Cost, estimated"),
		Notes: []string{"What a prefix cost is divided by the bytes of those who wrote it. Bytes are of the largest version."},
	}
	if r.Undivided != 0 {
		s.Notes = append(s.Notes, dollars(r.Undivided)+" could not be divided: who wrote these prefixes is not known.")
	}
	for i := range r.Contributors {
		c := &r.Contributors[i]
		s.Rows = append(s.Rows, row{Cells: []cell{text(plain(c.Name)), text(plain(c.Kind)), number(int64(c.Versions)), number(c.Requests), number(int64(c.Bytes)), money(c.Cost)}})
	}
	bars(s.Rows, func(i int) usage.Money { return r.Contributors[i].Cost })
	return s
}

func (r *Report) causes() section {
	s := section{
		Title: "Why reads fell short", Columns: columns("Cause", "#Lost", "#Missed", "#Could have been read", "#Requests", "Owner", "Avoidable"),
		Notes: []string{"Lost is what it cost more that the missed tokens were written again or billed as plain input."},
	}
	for i := range r.Causes {
		c := &r.Causes[i]
		avoidable := "to be expected"
		if c.Avoidable {
			avoidable = "avoidable"
		}
		s.Rows = append(s.Rows, row{Cells: []cell{
			text(causeName(c.Name)), paid(c.Lost, c.Requests-c.LostUntold), number(c.Missed), number(c.Expected), number(c.Requests), text(or(c.Owner, none)), text(avoidable),
		}})
	}
	bars(s.Rows, func(i int) usage.Money { return r.Causes[i].Lost })
	return s
}

func (r *Report) sessions() section {
	s := section{Title: "The dearest sessions", Columns: columns("Session", "#Paid", "#Saved", "#Lost to misses", "#Avoidable", "Mostly", "#Hit rate of input tokens", "#Input", "#Requests", "#Epochs", "Tenant", "More")}
	for i := range r.DearestSessions {
		d := &r.DearestSessions[i]
		mostly := none
		if d.Cause != "" {
			mostly = causeName(d.Cause) + ", by the " + plain(d.Owner)
		}
		s.Rows = append(s.Rows, row{Cells: []cell{
			text(plain(d.Session)), paid(d.Paid, d.Priced), paid(d.Group.Saved, d.Priced), paid(d.Lost, d.Shortfalls-d.LostUntold), paid(d.Avoidable, d.Shortfalls-d.LostUntold), text(mostly),
			text(percent(d.Rates.OfInputTokens)), text(d.Tokens.Input.String()), number(d.Requests), number(int64(d.Epochs)), text(legible.Short(plain(d.Tenant))), command(d.Command),
		}})
	}
	bars(s.Rows, func(i int) usage.Money { return r.DearestSessions[i].Paid })
	return s
}

func (r *Report) misses() section {
	s := section{
		Title: "The dearest misses", Columns: columns("Cause", "#Lost", "#Missed", "#Could have been read", "Owner", "Where", "Detail", "Session", "Request", "Time, UTC", "Model", "More"),
		Notes: []string{"Bytes are of the client's body, where what differs begins."},
	}
	for i := range r.DearestMisses {
		m := &r.DearestMisses[i]
		c := m.Cause
		lost := text(none)
		if m.LostTold {
			lost = money(usage.Money(c.Lost))
		}
		s.Rows = append(s.Rows, row{Cells: []cell{
			text(causeName(c.Name)), lost, number(c.Missed), number(c.Expected), text(or(c.Owner, none)), text(where(c)), text(detail(c)),
			text(plain(m.Session)), text(plain(m.Request)), text(m.Time.UTC().Format("2006-01-02 15:04:05")), text(or(m.Model, none)), command(m.Command),
		}})
	}
	return s
}

// where says in which part of the request the difference begins.
func where(c *logsink.Cause) string {
	s := or(c.Section, none)
	if c.Index != nil {
		s += fmt.Sprintf(" %d", *c.Index)
	}
	if c.Offset != nil {
		s += fmt.Sprintf(", byte %d", *c.Offset)
	}
	return s
}

func detail(c *logsink.Cause) string {
	s := or(c.Detail, none)
	if c.Provider != "" {
		s += "; the provider says " + plain(c.Provider)
	}
	return s
}

// reasons say in words why an answer has no price.
var reasons = map[string]string{
	BeforePrices:        "not priced (recorded before prices, or with usage.account: off)",
	usage.NoPrice:       "the price table has none for the model at that time",
	usage.NotReported:   "the provider did not report what was used",
	usage.NotSplit:      "the provider did not tell what came from the cache",
	usage.Impossible:    "the counts contradict each other",
	usage.UnknownTier:   "the price table has no factor for the tier or region",
	usage.UnknownWrites: "written for a lifetime that has no price",
}

func (r *Report) unpriced() section {
	s := section{Title: "Without a price", Columns: columns("Why", "Model", "#Requests"), Notes: []string{"These are in no sum of money."}}
	for i := range r.Unpriced {
		u := &r.Unpriced[i]
		s.Rows = append(s.Rows, row{Cells: []cell{text(cmp.Or(reasons[u.Reason], plain(u.Reason))), text(or(u.Model, "not named, or one of too many")), number(u.Requests)}})
	}
	return s
}
