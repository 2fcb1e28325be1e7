package telemetry

import (
	"context"
	"encoding/hex"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A Trace is the trace that a client says its request is part of, with the ids
// of our spans in it: chosen before there are spans, since the provider is told.
type Trace struct {
	parent trace.SpanContext // the client's
	state  string            // tracestate as it came
	linked bool              // the trace is ours, and the client's only linked to

	id             trace.TraceID // of our spans
	server, client trace.SpanID
	flags          trace.TraceFlags // as sent on
}

const traceparentSize = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

// parseTraceparent reads a traceparent by W3C Trace Context. Of versions to come
// it reads what version 00 has.
func parseTraceparent(b []byte) (trace.SpanContext, bool) {
	var version, flags [1]byte
	var cfg trace.SpanContextConfig
	switch {
	case len(b) < traceparentSize || b[2] != '-' || b[35] != '-' || b[52] != '-',
		!unhex(version[:], b[:2]) || !unhex(cfg.TraceID[:], b[3:35]) || !unhex(cfg.SpanID[:], b[36:52]) || !unhex(flags[:], b[53:55]),
		version[0] == 0xff,
		version[0] == 0 && len(b) != traceparentSize,
		len(b) > traceparentSize && b[traceparentSize] != '-':
		return trace.SpanContext{}, false
	}
	// Flags that level 2 does not know say nothing to those after us.
	cfg.TraceFlags, cfg.Remote = trace.TraceFlags(flags[0])&(trace.FlagsSampled|trace.FlagsRandom), true
	sc := trace.NewSpanContext(cfg)
	return sc, sc.IsValid()
}

// unhex reads lower-case hex; the standard library takes upper-case too.
func unhex(dst, src []byte) bool {
	for _, c := range src {
		if 'A' <= c && c <= 'F' {
			return false
		}
	}
	_, err := hex.Decode(dst, src)
	return err == nil
}

// Join takes part in the trace of a traceparent and tracestate; it returns nil if
// the former says nothing: see Begin. With restart the client's trace is only linked to. Several lines of
// tracestate are joined by commas. Nothing of the arguments is kept.
func (p *Pipeline) Join(traceparent, tracestate []byte, restart bool) *Trace {
	parent, ok := parseTraceparent(traceparent)
	if !ok {
		return nil
	}
	t := &Trace{parent: parent, linked: restart, id: parent.TraceID(), server: newSpanID(), client: newSpanID(), flags: parent.TraceFlags()}
	if restart {
		t.id, t.flags = newTraceID(), trace.FlagsRandom
	} else {
		t.state = string(tracestate)
	}
	t.flags = t.flags.WithSampled(p.samples(t))
	return t
}

// Begin makes a trace of our own, which nobody is told of.
func (p *Pipeline) Begin() *Trace {
	t := &Trace{id: newTraceID(), server: newSpanID(), client: newSpanID(), flags: trace.FlagsRandom}
	t.flags = t.flags.WithSampled(p.samples(t))
	return t
}

// samples asks the sampler about our span: it goes by the trace's id and the
// parent's flag.
func (p *Pipeline) samples(t *Trace) bool {
	ctx := context.Background()
	if t.continues() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, t.parent)
	}
	s := p.sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: ctx, TraceID: t.id, Kind: trace.SpanKindServer})
	return s.Decision == sdktrace.RecordAndSample
}

// continues reports whether the trace is the client's.
func (t *Trace) continues() bool { return t.parent.IsValid() && !t.linked }

// Joined reports whether a client said something of its trace, so that the provider is
// told of one too.
func (t *Trace) Joined() bool { return t.parent.IsValid() }

// Restarted reports whether the trace is not the client's, whose tracestate then
// has no place in it.
func (t *Trace) Restarted() bool { return t.linked }

// Append appends the traceparent for the provider: our span is the parent.
func (t *Trace) Append(dst []byte) []byte {
	dst = append(dst, "00-"...)
	dst = hex.AppendEncode(dst, t.id[:])
	dst = append(dst, '-')
	dst = hex.AppendEncode(dst, t.client[:])
	dst = append(dst, '-')
	return hex.AppendEncode(dst, []byte{byte(t.flags)})
}

// above is the span of the client's that ours is below, a zero one if there is none.
func (t *Trace) above() trace.SpanID {
	if t.linked {
		return trace.SpanID{}
	}
	return t.parent.SpanID()
}

// told is the tracestate that our spans have: one that is malformed is none.
func (t *Trace) told() string {
	if t.state == "" {
		return ""
	}
	s, _ := trace.ParseTraceState(t.state)
	return s.String()
}
