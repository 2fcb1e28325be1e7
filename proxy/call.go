package proxy

import (
	"fmt"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/explain"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// ReadBody reads a saved request body as explain compares it, and returns its
// messages as written beside it. Both refer to body. What only a request on its
// way has (times, host, account, usage) is not set.
func ReadBody(name string, body []byte) (*explain.Request, explain.Bodies, error) {
	d, err := dialect.Get(name)
	if err != nil {
		return nil, nil, err
	}
	var doc jsonspan.Doc
	facts := dialect.Request{Outlined: true}
	if err := doc.Scan(body, d.Depth); err != nil {
		return nil, nil, fmt.Errorf("cannot read the body as %s: %w", name, err)
	}
	if err := d.Read(&doc, dialect.Turn, &facts); err != nil {
		return nil, nil, fmt.Errorf("cannot read the body as %s: %w", name, err)
	}
	var points [3]lineage.Point
	var texts [3][]byte
	for i, spans := range partsOf(&facts) {
		points[i], texts[i] = pointOf(body, spans), joined(body, spans)
	}
	r := callOf(&facts, points, texts)
	r.Dialect = name
	bodies := make(explain.Bodies, len(r.Messages))
	for i, m := range r.Messages {
		bodies[i] = body[m.At : m.At+m.Size]
	}
	return r, bodies, nil
}

// callOf makes of what a dialect read what explain compares. texts are the
// header's parts as written, in the order of partNames, nil where they are those
// of the request before.
func callOf(f *dialect.Request, points [3]lineage.Point, texts [3][]byte) *explain.Request {
	r := &explain.Request{
		Model: string(f.Model), Key: string(f.Outline.CacheKey), WantsUsage: f.WantsUsage,
		Messages: make([]explain.Message, len(f.Outline.Messages)),
	}
	for i, m := range f.Outline.Messages {
		r.Messages[i] = explain.Message{
			Content: explain.Digest(m.Content), Raw: uint64(m.Size), At: m.At, Size: m.Size,
			Blocks: m.Blocks, Role: explain.Role(m.Role), Holds: explain.Holds(m.Holds),
		}
	}
	for _, m := range f.Outline.Marks {
		r.Marks = append(r.Marks, explain.Mark{Section: explain.Place(m.Part), Index: m.Index, Block: m.Block, TTL: m.TTL})
	}
	spans := partsOf(f)
	for i, s := range [...]*explain.Section{&r.System, &r.Tools, &r.Parameters} {
		s.Digest, s.Bytes = explain.Digest(points[i]), texts[i]
		if texts[i] != nil {
			s.Spans = placesOf(spans[i])
		}
	}
	return r
}

func placesOf(spans []jsonspan.Span) []explain.Span {
	out := make([]explain.Span, len(spans))
	for i, s := range spans {
		out[i] = explain.Span(s)
	}
	return out
}

// partsOf are the spans of the header's parts, in the order of partNames.
func partsOf(f *dialect.Request) [3][]jsonspan.Span {
	return [3][]jsonspan.Span{f.SystemSpans, f.ToolSpans, f.ParameterSpans}
}

// pointOf hashes spans without copying them.
func pointOf(body []byte, spans []jsonspan.Span) lineage.Point {
	var p lineage.Point
	for _, s := range spans {
		p = p.Next(lineage.Of(body[s.From:s.To]))
	}
	return p
}

// joined copies spans, joined by commas; it is nil if there are none.
func joined(body []byte, spans []jsonspan.Span) []byte {
	var b []byte
	for i, s := range spans {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, body[s.From:s.To]...)
	}
	return b
}
