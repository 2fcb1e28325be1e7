package telemetry

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields that are written, by opentelemetry-proto's
// trace/v1/trace.proto and common/v1/common.proto.
const (
	scopeSpans = 2 // of ScopeSpans

	spanTrace     = 1 // of Span
	spanID        = 2
	spanState     = 3
	spanParent    = 4
	spanName      = 5
	spanKind      = 6
	spanStart     = 7
	spanEnd       = 8
	spanAttribute = 9
	spanEvent     = 11
	spanLink      = 13
	spanStatus    = 15
	spanFlags     = 16

	kindServer  = 2 // values of Span.kind
	kindClient  = 3
	statusCode  = 3 // of Status
	statusError = 2

	eventTime = 1 // of Event
	eventName = 2
	linkTrace = 1 // of Link
	linkSpan  = 2
	linkFlags = 6

	pairKey   = 1 // of KeyValue
	pairValue = 2

	valueText   = 1 // of AnyValue
	valueBool   = 2
	valueInt    = 3
	valueDouble = 4
	valueList   = 5
	listValues  = 1 // of ArrayValue
)

// Flags of a span beyond W3C's eight.
const (
	flagKnowsRemote = 1 << 8
	flagRemote      = 1 << 9 // the parent is another program's
)

// An encoding is a protobuf message that fields are appended to. Spans are written
// as they go out, since the library's way from attributes over messages to bytes
// takes five times as long and 160 allocations for an exchange (BenchmarkObserve).
type encoding []byte

func (m *encoding) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

func (m *encoding) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *encoding) number(field protowire.Number, n uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), n)
}

func (m *encoding) fixed(field protowire.Number, n uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), n)
}

func (m *encoding) flags(field protowire.Number, n uint32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), n)
}

// within begins a message in a field, whose fields take size bytes.
func (m *encoding) within(field protowire.Number, size int) { *m = within(*m, field, size) }

func within(b []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(size))
}

func (m *encoding) time(field protowire.Number, t time.Time) {
	m.fixed(field, uint64(max(0, t.UnixNano())))
}

const (
	sizeOfFixed64 = 1 + 8 // with the tag
	sizeOfBool    = 1 + 1
)

// sizeOf is what n bytes take in a field with a number below 16.
func sizeOf(n int) int { return 1 + protowire.SizeBytes(n) }

// attribute begins an attribute whose value takes size bytes.
func (m *encoding) attribute(name string, size int) {
	b := within(*m, spanAttribute, sizeOf(len(name))+sizeOf(size))
	b = protowire.AppendString(protowire.AppendTag(b, pairKey, protowire.BytesType), name)
	*m = within(b, pairValue, size)
}

// event adds a point in time.
func (m *encoding) event(name string, at time.Time) {
	m.within(spanEvent, sizeOfFixed64+sizeOf(len(name)))
	m.time(eventTime, at)
	m.text(eventName, name)
}

// link adds a span of another trace.
func (m *encoding) link(to trace.SpanContext) {
	id, span := to.TraceID(), to.SpanID()
	m.within(spanLink, sizeOf(len(id))+sizeOf(len(span))+1+4)
	m.bytes(linkTrace, id[:])
	m.bytes(linkSpan, span[:])
	m.flags(linkFlags, uint32(to.TraceFlags())|flagKnowsRemote|flagRemote)
}

// fail gives a span the status of an error.
func (m *encoding) fail() {
	m.within(spanStatus, 2)
	m.number(statusCode, statusError)
}

// Attributes are written into the span that they are of.
type attributes struct{ encoding }

// text adds a string unless it is empty. Strings of clients may be anything, and
// a collector refuses a whole batch for a broken character in one.
func (a *attributes) text(name, s string) {
	if s = clean(s); s != "" {
		a.attribute(name, sizeOf(len(s)))
		a.encoding.text(valueText, s)
	}
}

// list adds a list of one string.
func (a *attributes) list(name, s string) {
	s = clean(s)
	value := sizeOf(len(s))
	a.attribute(name, sizeOf(sizeOf(value)))
	a.within(valueList, sizeOf(value))
	a.within(listValues, value)
	a.encoding.text(valueText, s)
}

func (a *attributes) number(name string, n int64) {
	a.attribute(name, 1+protowire.SizeVarint(uint64(n)))
	a.encoding.number(valueInt, uint64(n))
}

func (a *attributes) float(name string, f float64) {
	a.attribute(name, sizeOfFixed64)
	a.fixed(valueDouble, math.Float64bits(f))
}

func (a *attributes) yes(name string) {
	a.attribute(name, sizeOfBool)
	a.encoding.number(valueBool, 1)
}

// integer adds a number if there is one.
func (a *attributes) integer(name string, n *int64) {
	if n != nil {
		a.number(name, *n)
	}
}

// real adds a number if there is one.
func (a *attributes) real(name string, f *float64) {
	if f != nil {
		a.float(name, *f)
	}
}
