package proxy

import (
	"cmp"
	"fmt"

	"github.com/seed-9236c7ca/preface/logsink"
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
	parts := partsOf(&facts)
	var points [3]lineage.Point
	for i := range parts {
		points[i] = pointOf(body, parts[i])
	}
	r := callOf(&facts, points)
	r.Dialect = name
	for i := range parts {
		quote(r, i, joined(body, parts[i]), parts[i])
	}
	bodies := make(explain.Bodies, len(r.Messages))
	for i, m := range r.Messages {
		bodies[i] = body[m.At : m.At+m.Size]
	}
	return r, bodies, nil
}

// callOf makes of what a dialect read what explain compares. points are the
// digests of the header's parts, in the order of partNames.
func callOf(f *dialect.Request, points [3]lineage.Point) *explain.Request {
	r := &explain.Request{
		System:     explain.Section{Digest: explain.Digest(points[0])},
		Tools:      explain.Section{Digest: explain.Digest(points[1])},
		Parameters: explain.Section{Digest: explain.Digest(points[2])},
		Model:      string(f.Model), Key: string(f.Outline.CacheKey), WantsUsage: f.WantsUsage,
		Continues: f.Never == dialect.NeverContinuation || f.Never == dialect.NeverConversation,
		Messages:  make([]explain.Message, len(f.Outline.Messages)),
	}
	for i, m := range f.Outline.Messages {
		r.Messages[i] = explain.Message{
			Content: explain.Digest(m.Content), Raw: uint64(m.Size), At: m.At, Size: m.Size,
			Blocks: m.Blocks, Role: explain.Role(m.Role), Holds: explain.Holds(m.Holds), Images: m.Images,
		}
	}
	for _, m := range f.Outline.Marks {
		r.Marks = append(r.Marks, explain.Mark{Section: explain.Place(m.Part), Index: m.Index, Block: m.Block, TTL: m.TTL})
	}
	return r
}

// quote gives r the text of one of the header's parts, which is r's from then on.
func quote(r *explain.Request, part int, text []byte, spans []jsonspan.Span) {
	s := [...]*explain.Section{&r.System, &r.Tools, &r.Parameters}[part]
	s.Bytes, s.Spans = text, make([]explain.Span, len(spans))
	for i, span := range spans {
		s.Spans[i] = explain.Span(span)
	}
}

// quote keeps the text of a part that the log has, for the detail of a cause.
func (s *sent) quote(part int, text []byte, spans []jsonspan.Span) {
	if s.call != nil {
		quote(s.call, part, text, spans)
	}
}

// outlined completes what is compared with what only the exchange knows.
func (x *exchange) outlined(r *logsink.Request) {
	call := x.sent.call
	for _, spans := range [...][]jsonspan.Span{x.facts.SystemSpans, x.facts.ToolSpans} {
		for _, s := range spans {
			x.sent.before += s.Len()
		}
	}
	if call == nil {
		return
	}
	x.sent.lifetime = string(x.facts.Outline.Lifetime)
	for _, m := range call.Marks {
		x.sent.lifetime = cmp.Or(m.TTL, x.sent.lifetime)
	}
	x.locate(call, r)
	if call.System.Bytes != nil || call.Tools.Bytes != nil || call.Parameters.Bytes != nil {
		x.s.accountant.quote(call)
	}
}

// locate says of a call which request it is of, where it goes, and what prefix it
// carries.
func (x *exchange) locate(call *explain.Request, r *logsink.Request) {
	call.Epoch, call.Dialect = r.Epoch, r.Dialect
	call.ID, call.Host, call.Account = r.ID, x.route.upstream.base.Host, x.account()
	call.Betas = string(x.head.get("anthropic-beta"))
	if call.Betas == "" {
		call.Betas = string(x.head.get("openai-beta"))
	}
	if !x.plan.inject {
		return
	}
	call.Prefix = x.epoch.Prefix
	for _, s := range r.Splices {
		if s.Kind == kindPrefix {
			call.PrefixBytes = s.Length
		}
	}
}

// account is whose cache the provider looks into, as far as the request tells:
// the caller's, in the organization and project that it names.
func (x *exchange) account() string {
	org, project := x.head.get("openai-organization"), x.head.get("openai-project")
	if org == nil && project == nil {
		return x.ident.Tenant
	}
	return x.ident.Tenant + " " + string(org) + " " + string(project)
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
