package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// A shortfall is a request of the log whose read fell short.
type shortfall struct {
	Time    time.Time      `json:"time"`
	ID      string         `json:"id"`
	Epoch   int            `json:"epoch"`
	Thread  string         `json:"thread"`
	Number  int64          `json:"number"`
	Model   string         `json:"model"`
	Read    *int64         `json:"read,omitempty"`
	Against string         `json:"against,omitempty"`
	Cause   *logsink.Cause `json:"cause"`
}

// session lists the requests of a session whose reads fell short.
func (f *explainFlags) session(ctx context.Context, id string, stdout io.Writer) error {
	r, s, err := openSession(ctx, f.options, id, f.tenant)
	if err != nil {
		return err
	}
	defer r.Close()
	c := causes{out: stdout, asked: map[string]*logsink.Request{}}
	c.show = c.row
	if f.json {
		c.show = func(x shortfall) error { return printJSON(stdout, x) }
	}
	c.table = tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	err = r.Records(ctx, s.Key, 0, func(_ int64, rec logsink.Record) bool { return c.take(rec) == nil })
	if err == nil {
		err = c.err
	}
	if err != nil || f.json {
		return err
	}
	return c.end(s)
}

// causes goes through the records of a session.
type causes struct {
	out   io.Writer
	table *tabwriter.Writer
	show  func(shortfall) error
	err   error
	asked map[string]*logsink.Request // requests without an answer so far

	answered, explained          int
	missed, lost, wasted, unread int64
}

func (c *causes) take(rec logsink.Record) error {
	switch {
	case rec.Request != nil:
		c.asked[rec.Request.ID] = rec.Request
	case rec.Response != nil:
		c.err = c.answer(rec.Response)
	}
	return c.err
}

func (c *causes) answer(p *logsink.Response) error {
	q := c.asked[p.ID]
	delete(c.asked, p.ID)
	c.answered++
	if p.Usage == nil || p.Usage.CacheRead == nil {
		c.unread++
	}
	if p.Cause == nil {
		return nil
	}
	c.explained++
	c.missed += p.Cause.Missed
	c.lost += p.Cause.Lost
	if p.Cause.Waste {
		c.wasted += p.Cause.Lost
	}
	x := shortfall{Time: p.Time, ID: p.ID, Epoch: p.Epoch, Thread: p.Thread, Model: p.Model, Against: p.Cause.Against, Cause: p.Cause}
	if q != nil {
		x.Time, x.Number = q.Time, q.Number
		if x.Model == "" {
			x.Model = q.Model
		}
	}
	if p.Usage != nil {
		x.Read = p.Usage.CacheRead
	}
	return c.show(x)
}

// row adds a line to the table.
func (c *causes) row(x shortfall) error {
	if c.explained == 1 {
		fmt.Fprintln(c.table, "TIME\tEPOCH\tTHREAD\tREQUEST\tCAUSE\tOWNER\tREAD\tMISSED\tLOST\tDETAIL")
	}
	read := "?"
	if x.Read != nil {
		read = fmt.Sprint(*x.Read)
	}
	lost := topMoney(x.Cause.Lost)
	if x.Cause.Waste {
		lost += " avoidable"
	}
	_, err := fmt.Fprintf(c.table, "%s\t%d\t%s\t#%d %s\t%s\t%s\t%s\t%d\t%s\t%s\n", stamp(x.Time), x.Epoch, shown(x.Thread), x.Number, oneLine(x.ID),
		oneLine(x.Cause.Name), oneLine(x.Cause.Owner), read, x.Cause.Missed, lost, oneLine(causeDetail(x.Cause)))
	return err
}

// causeDetail is what a cause says, with the place and the provider's own word.
func causeDetail(c *logsink.Cause) string {
	detail := c.Detail
	if c.Offset != nil {
		detail += fmt.Sprintf(" (byte %d)", *c.Offset)
	}
	if c.Provider != "" {
		detail += "; the provider says " + c.Provider
	}
	return detail
}

// end prints the sums.
func (c *causes) end(s logsink.SessionInfo) error {
	if err := c.table.Flush(); err != nil {
		return err
	}
	line := fmt.Sprintf("session %s: %s answered, %d with a cause, %s missed, %s lost, %s of it avoidable", shown(s.Session),
		legible.Plural(c.answered, "request"), c.explained, legible.Plural(int(c.missed), "token"), topMoney(c.lost), topMoney(c.wasted))
	if c.unread > 0 {
		line += fmt.Sprintf("; %d did not report what was read", c.unread)
	}
	_, err := fmt.Fprintln(c.out, line)
	return err
}
