package telemetry

import (
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

func newTraceID() (id trace.TraceID) {
	binary.LittleEndian.PutUint64(id[:8], 1|rand.Uint64()) // no id is all zeros
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())   // what samplers go by
	return id
}

func newSpanID() (id trace.SpanID) {
	binary.LittleEndian.PutUint64(id[:], 1|rand.Uint64())
	return id
}
