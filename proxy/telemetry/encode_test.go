package telemetry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"
)

// TestEncoding: what is written is what the library reads, for all values and
// with nothing that it does not know.
func TestEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := draw(t)
		var list tracepb.ScopeSpans
		var batch encoding
		for _, s := range []trial{drawn, drawn} {
			batch.bytes(scopeSpans, s.write())
		}
		if err := proto.Unmarshal(batch, &list); err != nil {
			t.Fatal(err)
		}
		want := &tracepb.ScopeSpans{Spans: []*tracepb.Span{drawn.want(), drawn.want()}}
		if diff := cmp.Diff(want, &list, protocmp.Transform()); diff != "" {
			t.Fatalf("the library reads (-want +got):\n%s", diff)
		}
	})
}

// A trial is a span with one attribute of each kind.
type trial struct {
	trace      Trace
	parent     trace.SpanID
	name, text string
	number     int64
	float      float64
	at         time.Time
	failed     bool
}

func draw(t *rapid.T) trial {
	s := trial{
		name: rapid.StringN(1, 300, maxText).Draw(t, "name"), text: rapid.StringN(1, 300, maxText).Draw(t, "text"),
		number: rapid.Int64().Draw(t, "number"), float: rapid.Float64().Draw(t, "float"),
		at:     time.Unix(0, rapid.Int64Min(0).Draw(t, "time")),
		failed: rapid.Bool().Draw(t, "failed"),
	}
	s.trace = Trace{id: newTraceID(), server: newSpanID(), client: newSpanID(), flags: trace.FlagsSampled}
	s.trace.parent = trace.NewSpanContext(trace.SpanContextConfig{TraceID: newTraceID(), SpanID: newSpanID(), TraceFlags: trace.FlagsSampled, Remote: true})
	if rapid.Bool().Draw(t, "has a parent") {
		s.parent = newSpanID()
	}
	return s
}

func (s *trial) write() []byte {
	var a attributes
	a.text(s.name, s.text)
	a.text("empty", "")
	a.list(s.name, s.text)
	a.number(s.name, s.number)
	a.integer(s.name, &s.number)
	a.integer("none", nil)
	a.float(s.name, s.float)
	a.real(s.name, &s.float)
	a.real("none", nil)
	a.yes(s.name)
	a.place(&s.trace, s.trace.server, s.parent, true)
	a.about(kindClient, s.name, s.at, s.at)
	a.event(s.name, s.at)
	a.link(s.trace.parent)
	if s.failed {
		a.fail()
	}
	return a.encoding
}

func (s *trial) want() *tracepb.Span {
	text := &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s.text}}
	number := &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: s.number}}
	float := &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: s.float}}
	list := &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: []*common.AnyValue{text}}}}
	yes := &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: true}}
	out := &tracepb.Span{
		TraceId: s.trace.id[:], SpanId: s.trace.server[:], Name: s.name, Kind: tracepb.Span_SPAN_KIND_CLIENT,
		StartTimeUnixNano: uint64(s.at.UnixNano()), EndTimeUnixNano: uint64(s.at.UnixNano()), Flags: 0x301,
		Events: []*tracepb.Span_Event{{Name: s.name, TimeUnixNano: uint64(s.at.UnixNano())}},
	}
	for _, v := range []*common.AnyValue{text, list, number, number, float, float, yes} {
		out.Attributes = append(out.Attributes, &common.KeyValue{Key: s.name, Value: v})
	}
	id, span := s.trace.parent.TraceID(), s.trace.parent.SpanID()
	out.Links = []*tracepb.Span_Link{{TraceId: id[:], SpanId: span[:], Flags: 0x301}}
	if s.parent.IsValid() {
		out.ParentSpanId = s.parent[:]
	}
	if s.failed {
		out.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	}
	return out
}

// TestBrokenStateIsNone: of a client's tracestate only one that is well formed is
// in spans; the others could hold bytes that a collector refuses the batch for.
func TestBrokenStateIsNone(t *testing.T) {
	for state, want := range map[string]string{"": "", "a=1,b=2": "a=1,b=2", "a=\xff": "", "=": ""} {
		if got := (&Trace{state: state}).told(); got != want {
			t.Errorf("of tracestate %q spans have %q, want %q", state, got, want)
		}
	}
}
