package account

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A document is a report in words, before any format. Its texts are plain.
type document struct {
	Title    string
	Facts    []fact
	Answers  []answer
	Sections []section
}

// A fact is a line at the top.
type fact struct{ Name, Value string }

// An answer answers one of the questions that the report is for.
type answer struct {
	Question, Short string
	Bad             bool
	Lines           []string
}

// A section is a table with what there is to say about it.
type section struct {
	Title   string
	Notes   []string
	Columns []column
	Rows    []row
}

type column struct {
	Name   string
	Number bool
}

// A row is a line of a table. Bar is how long a bar beside it is, in thousandths
// of the longest; 0 for none.
type row struct {
	Cells []cell
	Bar   int64
}

type cell struct {
	Text    string
	Command bool // to be typed into a shell
	Number  bool
	Bad     bool
}

func (r *Report) document() *document {
	d := &document{Title: "Preface: what the prompt cache did", Facts: r.facts(), Answers: []answer{r.openerAnswer(), r.savedAnswer(), r.lostAnswer()}}
	d.Sections = []section{
		r.tokens(),
		r.days(),
		groups("By model", "Model", &r.Models, "not named", plain),
		groups("By route", "Route", &r.Routes, notRecorded, plain),
		r.prefixes(), r.contributors(), r.causes(), r.sessions(), r.misses(), r.unpriced(),
	}
	for i := range d.Sections {
		d.Sections[i].align()
	}
	return d
}

const notRecorded = "request not recorded"

// align makes the cells under a column of numbers numbers.
func (s *section) align() {
	for i := range s.Rows {
		for j := range s.Rows[i].Cells {
			s.Rows[i].Cells[j].Number = s.Columns[j].Number
		}
	}
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func (r *Report) facts() []fact {
	t := &r.Total
	list := []fact{
		{"Span", moment(r.Since) + " to " + moment(r.Until)},
		{"Log", or(r.Log, none)},
		{"Tenant", or(r.Tenant, "all")},
		{"Counted", fmt.Sprintf("%s in %s: %s failed, %s without a recorded answer; %s", legible.Plural(t.Requests, "request"), legible.Plural(r.Sessions, "session"),
			legible.Grouped(t.Failed), legible.Grouped(t.Unanswered), legible.Plural(t.Counts, "token count")+" beside them")},
		{"Priced", r.priced()},
	}
	if r.Full {
		list = append(list, fact{"Beware", "a sum of money is beyond what can be counted; it is shown as the most that can"})
	}
	return list
}

// priced says what the sums of money cover.
func (r *Report) priced() string {
	t := &r.Total
	text := fmt.Sprintf("%s of %s that are charged", legible.Grouped(t.Priced), legible.Plural(t.Priced+t.Unpriced, "answer"))
	if t.PricedNow > 0 {
		text += fmt.Sprintf(", %s of them for this report, by the table that it was given", legible.Grouped(t.PricedNow))
	}
	if t.Unpriced > 0 {
		text += fmt.Sprintf("; %s without a price in no sum of money", legible.Plural(t.Unpriced, "answer"))
	}
	return text + ". Money is USD at list prices, from $10 on to the cent"
}

func (r *Report) openerAnswer() answer {
	t := &r.Total
	a := answer{Question: "What did the opener cost?", Short: dollars(t.Prefix)}
	if t.Estimated > 0 {
		a.Short += " (estimated)"
	}
	if t.PrefixTold == 0 {
		a.Short = none
	}
	if t.PrefixTold > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("%s of %s paid, in %s that carried it", percent(t.Rates.PrefixOfCost), dollars(t.Paid), legible.Plural(t.Prefixed, "request")))
	}
	if t.Prefixed == 0 {
		a.Lines = append(a.Lines, "no request carried one")
	}
	if n := t.Prefixed - t.PrefixTold; n > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("its part is not known of %s: without success, an answer, or a price of their own", legible.Plural(n, "request")))
	}
	return a
}

func (r *Report) savedAnswer() answer {
	t := &r.Total
	a := answer{Question: "What did caching save?", Short: dollars(t.Saved), Bad: t.Saved < 0}
	if t.Priced == 0 {
		a.Short = none
	}
	if t.Saved < 0 {
		a.Lines = append(a.Lines, "it cost more than it saved: writes were paid for and not read")
	}
	priced := "no answer has a price"
	if t.Priced > 0 {
		priced = fmt.Sprintf("%s of cost, which had been %s with nothing cached", percent(t.Rates.OfCost), dollars(t.Uncached))
	}
	a.Lines = append(a.Lines, priced,
		fmt.Sprintf("hit rates: %s of input tokens, %s of requests", percent(t.Rates.OfInputTokens), percent(t.Rates.OfRequests)))
	if n := t.Answers - t.Told; n > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("%s did not report what was read, and are in no hit rate", legible.Plural(n, "answer")))
	}
	return a
}

func (r *Report) lostAnswer() answer {
	t := &r.Total
	a := answer{Question: "What did misses lose, and why?", Short: dollars(t.Lost)}
	if t.Shortfalls == 0 {
		a.Lines = []string{"no read is recorded as one that fell short"}
		return a
	}
	fell := fmt.Sprintf("%s fell short by %s", legible.Plural(t.Shortfalls, "read"), legible.Plural(t.Missed, "token"))
	if t.LostUntold == t.Shortfalls {
		a.Short, a.Lines = none, []string{fell + "; none of them has a price"}
		return a
	}
	a.Lines = append(a.Lines, fell+"; "+dollars(t.Avoidable)+" was avoidable")
	for _, c := range r.Causes {
		if c.Avoidable && c.Lost > 0 {
			a.Lines = append(a.Lines, fmt.Sprintf("above all: %s, by the %s, %s", causeName(c.Name), plain(c.Owner), dollars(c.Lost)))
			break
		}
	}
	if t.LostUntold > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("%s of these have no price and are not in it", legible.Grouped(t.LostUntold)))
	}
	return a
}

// causeName is the name of a cause as everything else prints it.
func causeName(name string) string { return or(name, "all others") }

// Long reports whether a text needs room.
func (c cell) Long() bool { return !c.Number && !c.Command && len(c.Text) > 40 }

func text(s string) cell { return cell{Text: s} }

func command(s string) cell { return cell{Text: legible.OneLine(s), Command: true} }

func number(n int64) cell { return cell{Text: legible.Grouped(n)} }

func money(m usage.Money) cell { return cell{Text: dollars(m), Bad: m < 0} }

// paid is an amount of n answers, nothing to tell if there are none.
func paid(m usage.Money, n int64) cell {
	if n == 0 {
		return text(none)
	}
	return money(m)
}

// columns names those of a table; those that begin with # are of numbers.
func columns(names ...string) []column {
	list := make([]column, len(names))
	for i, n := range names {
		name, isNumber := strings.CutPrefix(n, "#")
		list[i] = column{name, isNumber}
	}
	return list
}

// bars gives each row a bar as long as its amount.
func bars(rows []row, amount func(i int) usage.Money) {
	var longest usage.Money
	for i := range rows {
		longest = max(longest, amount(i))
	}
	for i := range rows {
		if m := amount(i); m > 0 {
			rows[i].Bar = max(1, int64(portion(1000, int64(m), int64(longest))))
		}
	}
}
