package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// ids gives spans the ids that were chosen for them, or random ones.
type ids struct{}

var _ sdktrace.IDGenerator = ids{}

type presetKey struct{}

type presetIDs struct {
	trace trace.TraceID
	span  trace.SpanID
}

// preset has the next span that is begun in the context have these ids.
func preset(ctx context.Context, t trace.TraceID, s trace.SpanID) context.Context {
	return context.WithValue(ctx, presetKey{}, presetIDs{t, s})
}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if p, ok := ctx.Value(presetKey{}).(presetIDs); ok {
		return p.trace, p.span
	}
	return newTraceID(), newSpanID()
}

func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if p, ok := ctx.Value(presetKey{}).(presetIDs); ok {
		return p.span
	}
	return newSpanID()
}

func newTraceID() (id trace.TraceID) {
	binary.LittleEndian.PutUint64(id[:8], 1|rand.Uint64()) // no id is all zeros
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())   // what samplers go by
	return id
}

func newSpanID() (id trace.SpanID) {
	binary.LittleEndian.PutUint64(id[:], 1|rand.Uint64())
	return id
}
