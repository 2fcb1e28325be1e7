package proxy

import (
	"bytes"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// An observed is what spans and GenAI metrics of an exchange are made of once it
// is over, by the accountant. An exchange has one only if there are to be any, so
// that all of this costs one comparison where there are not.
type observed struct {
	telemetry.Exchange
	req    *logsink.Request
	resp   *logsink.Response // the accountant has filled it in by then
	prices *usage.Prices
	model  string
	stream bool
	asked  []byte // the request's parameters as members of an object; of bounded size
	report dialect.Report
}

// maxAsked bounds the parameters that are kept: a schema among them may be large.
const maxAsked = 4 << 10

// observe begins to gather.
func (x *exchange) observe() {
	if !x.s.pipeline.On() {
		return
	}
	h := &x.ctx.Request.Header
	path, _, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	x.seen = &observed{prices: x.gen.prices, Exchange: telemetry.Exchange{
		Trace: x.trace, Start: x.start, ID: x.id, Method: string(h.Method()), Path: string(path), Host: string(h.Host()),
	}}
}

// join takes part in the client's trace, or begins one, and observes what the
// sampler does not leave out.
func (x *exchange) join() {
	p := x.s.pipeline
	if p.Tracing() {
		x.trace = x.clientTrace()
	}
	if p.Tracing() && x.trace == nil {
		x.trace = p.Begin()
	}
	if p.Wants(x.trace) {
		x.observe()
	}
}

// clientTrace is what the client says of its trace, nil if that is nothing.
func (x *exchange) clientTrace() *telemetry.Trace {
	parent := x.head.get("traceparent")
	if parent == nil || x.head.repeats("traceparent") {
		return nil
	}
	return x.s.pipeline.Join(parent, x.head.joined("tracestate"), x.gen.cfg.Telemetry.Restart)
}

// propagate has the headers say to the provider whose trace the request is part
// of, just before it leaves: nothing, if the client said nothing. Where no spans
// are made, what the client said goes on untouched.
func (x *exchange) propagate() {
	x.noteSent()
	x.untold = x.gen.cfg.Telemetry.Propagate == telemetry.None || x.trace != nil && !x.trace.Joined()
	if x.untold || x.trace == nil {
		return
	}
	for i := range x.head.fields {
		if f := &x.head.fields[i]; is(f.name, "traceparent") {
			f.value = x.trace.Append(nil)
		}
	}
}

// tells reports whether a header is of a trace and is not for the provider.
func (x *exchange) tells(name []byte) bool {
	if !x.untold && x.trace == nil {
		return false
	}
	if is(name, "tracestate") {
		return x.untold || x.trace.Restarted()
	}
	return x.untold && is(name, "traceparent")
}

// repeats reports whether a header is there more than once.
func (h *head) repeats(name string) bool {
	n := 0
	for _, f := range h.fields {
		if is(f.name, name) {
			n++
		}
	}
	return n > 1
}

// joined is the value of a header that may have several lines. It is new if it has.
func (h *head) joined(name string) (value []byte) {
	lines := 0
	for _, f := range h.fields {
		if !is(f.name, name) {
			continue
		}
		switch lines++; lines {
		case 1:
			value = f.value
		default:
			value = append(append(value[:len(value):len(value)], ','), f.value...)
		}
	}
	return value
}

// noteSent keeps of the request what is gone once it has been sent, which it is about
// to be.
func (x *exchange) noteSent() {
	if x.seen == nil {
		return
	}
	x.seen.Sent = time.Now()
	if x.dialect == nil {
		return
	}
	x.seen.model, x.seen.stream = string(x.facts.Model), x.facts.Stream
	size := 0
	for _, s := range x.facts.ParameterSpans {
		size += s.Len() + 1
	}
	if size <= maxAsked {
		x.seen.asked = joined(x.body, x.facts.ParameterSpans)
	}
}

// noteRetry notes that a try to send came to nothing.
func (x *exchange) noteRetry() {
	if o := x.seen; o != nil {
		o.Retries = append(o.Retries, time.Now())
	}
}

// noteChunk notes that bytes of the answer's body have been passed on.
func (o *observed) noteChunk() {
	now := time.Now()
	if o.FirstChunk.IsZero() {
		o.FirstChunk = now
	} else {
		o.Chunks.Add(now.Sub(o.LastChunk))
	}
	o.LastChunk = now
}

// noteRefused notes an answer of ours.
func (x *exchange) noteRefused(r *refusal) {
	if o := x.seen; o != nil {
		if o.Status = dialect.Status(r.kind); r.status != 0 {
			o.Status = r.status
		}
		if r != left {
			o.Refused = r.reason
			return
		}
		o.Ended, o.Failed, o.Left = logsink.EndClientGone, true, true
	}
}

// noteEnd notes how the answer ended.
func (x *exchange) noteEnd(end string, rep *dialect.Report) {
	if o := x.seen; o != nil {
		o.Ended, o.Failed, o.Left = end, end != logsink.EndComplete, end == logsink.EndClientGone
		o.report, o.Terminal = *rep, rep.Terminal && x.relay.stream
		o.Answered = x.relay.status
	}
}

// observeDone hands over what was gathered: the last that is done for an exchange.
func (x *exchange) observeDone() {
	o := x.seen
	if o == nil || !x.s.pipeline.Wants(o.Trace) {
		return
	}
	r := &x.relay
	o.End, o.FirstByte, o.req = time.Now(), r.first, x.sent.request
	if o.Status == 0 {
		o.Status = r.status
	}
	if x.route != nil {
		o.Route, o.Upstream, o.Secure = x.route.Name, x.route.upstream.base.Host, x.route.upstream.tls != nil
	}
	if x.dialect != nil {
		o.Template = x.path
		o.Call = x.called(!o.Sent.IsZero())
	}
	if !x.s.accountant.take(answer{seen: o}) {
		x.s.pipeline.Lose()
	}
}

// called is what only the exchange knows of its model call, which may have been
// sent or not.
func (x *exchange) called(sent bool) *telemetry.Call {
	c := &telemetry.Call{
		Provider: dialect.Family(x.dialect.Name()), Class: x.class(),
		Session: x.ident.Session, Named: x.ident.Session != "" && !x.ident.Derived, Source: x.ident.Source, Thread: x.ident.Thread,
	}
	if x.epoch != nil {
		c.Epoch = x.epoch.Number
	}
	switch {
	case x.plan.inject:
		c.Decision, c.Prefix = logsink.Inject, x.epoch.Prefix
	case sent:
		c.Decision, c.Why = logsink.Bare, x.plan.why
	}
	return c
}
