package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// A recordPrinter writes records, one on a line.
type recordPrinter struct {
	w        io.Writer
	json     bool
	sessions bool // say which session a record is of
	err      error
	buf      []byte
}

// print reports whether it could.
func (p *recordPrinter) print(r logsink.Record) bool {
	p.buf = p.buf[:0]
	if p.json {
		p.buf = r.AppendJSON(p.buf)
	} else {
		p.buf = append(p.buf, p.line(r)...)
	}
	_, p.err = p.w.Write(append(p.buf, '\n'))
	return p.err == nil
}

func (p *recordPrinter) line(r logsink.Record) string {
	words := []string{r.Time().UTC().Format("2006-01-02 15:04:05.000Z"), fmt.Sprintf("%-8s", r.Kind())}
	if p.sessions {
		words = append(words, shown(r.Of().Session))
	}
	words = append(words, fmt.Sprintf("epoch %d", r.Of().Epoch))
	switch {
	case r.Anchor != nil:
		words = append(words, anchorWords(r.Anchor)...)
	case r.Header != nil:
		words = append(words, headerWords(r.Header)...)
	case r.Request != nil:
		words = append(words, requestWords(r.Request)...)
	case r.Response != nil:
		words = append(words, responseWords(r.Response)...)
	}
	return strings.Join(words, "  ")
}

func anchorWords(a *logsink.Anchor) []string {
	words := []string{a.Reason, decision(a.Decision, a.Why, a.Prefix)}
	if a.Injects() {
		words = append(words, legible.Plural(len(a.Messages), "message"))
	}
	return append(words, "route "+shown(a.Route))
}

func headerWords(h *logsink.Header) []string {
	words := []string{"thread " + shown(h.Thread), h.Reason}
	if len(h.Changed) > 0 {
		words[1] += " of " + strings.Join(h.Changed, ", ")
	}
	for _, part := range h.Parts {
		words = append(words, fmt.Sprintf("%s %d bytes", part.Name, part.Size))
	}
	return append(words, "model "+shown(h.Model))
}

func requestWords(q *logsink.Request) []string {
	words := []string{
		q.ID, fmt.Sprintf("thread %s #%d", shown(q.Thread), q.Number), shown(q.Path), q.Class,
		fmt.Sprintf("%d bytes", q.Size), legible.Plural(q.Messages, "message"), "model " + shown(q.Model), q.Decision,
	}
	if q.Why != "" {
		words[len(words)-1] += "; " + q.Why
	}
	for _, s := range q.Splices {
		words = append(words, fmt.Sprintf("%s %d bytes at %d", s.Kind, s.Length, s.Offset))
	}
	return words
}

func responseWords(p *logsink.Response) []string {
	words := []string{p.ID, "status " + strconv.Itoa(p.Status), p.End}
	if p.Detail != "" {
		words[len(words)-1] += ": " + shown(p.Detail)
	}
	words = append(words, p.Total.Round(time.Millisecond).String(), fmt.Sprintf("%d bytes", p.Bytes))
	words = append(words, usageWords(p.Usage)...)
	for _, it := range p.Iterations {
		if it.Model != "" {
			words = append(words, fmt.Sprintf("of it %s: %s", shown(it.Model), strings.Join(usageWords(it.Usage), ", ")))
		}
	}
	return words
}

// usageWords tell the classes that were reported; what was not is not shown as 0.
func usageWords(u *logsink.Usage) []string {
	if u == nil {
		return []string{"usage not reported"}
	}
	var words []string
	for _, c := range []struct {
		name string
		n    *int64
	}{
		{"fresh", u.Fresh}, {"read", u.CacheRead}, {"written 5m", u.Write5m}, {"written 1h", u.Write1h},
		{"written 30m", u.Write30m}, {"written", u.WriteOther}, {"output", u.Output},
	} {
		if c.n != nil {
			words = append(words, fmt.Sprintf("%s %d", c.name, *c.n))
		}
	}
	return words
}
