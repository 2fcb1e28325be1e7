package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// otlpSpans sends spans over OTLP/HTTP by the library's client, which reads its
// variables, compresses and tries again.
type otlpSpans struct {
	client   otlptrace.Client
	resource *resourcepb.Resource
	scope    *common.InstrumentationScope
	schema   string // of the attributes
	about    string // schema of the resource
}

func newOTLPSpans(client otlptrace.Client, r *resource.Resource, schema string) *otlpSpans {
	out := &resourcepb.Resource{}
	for _, kv := range r.Attributes() {
		text := &common.AnyValue_StringValue{StringValue: clean(kv.Value.Emit())}
		out.Attributes = append(out.Attributes, &common.KeyValue{Key: clean(string(kv.Key)), Value: &common.AnyValue{Value: text}})
	}
	scope := &common.InstrumentationScope{Name: instrumentationScope}
	return &otlpSpans{client: client, resource: out, scope: scope, schema: schema, about: r.SchemaURL()}
}

// export sends spans. They are fields that the message does not know yet, and a
// message's unknown fields go out as they are.
func (o *otlpSpans) export(ctx context.Context, spans []byte) error {
	list := &tracepb.ScopeSpans{Scope: o.scope, SchemaUrl: o.schema}
	list.ProtoReflect().SetUnknown(spans)
	return o.client.UploadTraces(ctx, []*tracepb.ResourceSpans{{Resource: o.resource, ScopeSpans: []*tracepb.ScopeSpans{list}, SchemaUrl: o.about}})
}

func (o *otlpSpans) close(ctx context.Context) error { return o.client.Stop(ctx) }
